import type { PaymentKind } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import { startLoop } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import type { Registry } from 'prom-client';
import { type ArrivedTime, arrivedAsOf, arrivedBy } from '../domain/arrived.ts';
import { ageSeconds, gauge } from '../gauges.ts';
import { wholeWay } from './hops.ts';
import { createLevel, type LevelDeps } from './level.ts';

const kinds = ['payout', 'collection'] as const;

/**
 * Checks repeatedly whether messages that were on their way have arrived, so that polls can distinguish late from lost
 * (ADR 27).
 *
 * The result is only in memory: a time that was not checked, such as before this process began, counts as messages
 * being on their way.
 */
export function startArrivals(
  deps: LevelDeps & {
    /** How long a message may be on its way; milliseconds. */
    readonly limitMs: number;
    readonly pauseMs: number;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly registry: Registry;
  },
) {
  const { clock, limitMs } = deps;
  const levels = {
    payout: createLevel(deps, wholeWay.payout),
    collection: createLevel(deps, wholeWay.collection),
  };
  const times: Record<PaymentKind, ArrivedTime | null> = { payout: null, collection: null };
  const startedMs = clock.nowMs();
  gauge({
    registry: deps.registry,
    name: 'last_arrival_age_seconds',
    help: 'Age of the newest time up to which all events are known to have arrived, by kind of payment; the time since the start while nothing is known.',
    labelNames: ['kind'],
    read: async () => kinds.map((kind) => [{ kind }, ageSeconds(times[kind]?.untilMs ?? startedMs, clock)]),
  });
  const loop = startLoop({
    ...deps,
    name: 'reconciler arrivals',
    round: async () => {
      for (const kind of kinds) {
        const levelAtMs = await levels[kind]();
        if (levelAtMs !== undefined) times[kind] = arrivedBy(times[kind], levelAtMs, limitMs);
      }
      return false;
    },
  });
  return {
    /** The period throughout which messages arrived, for payments of a kind; null if they do not now, or if that is unknown. */
    arrived: (kind: PaymentKind) => arrivedAsOf(times[kind], clock.nowMs(), limitMs),
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}
