import type { Clock } from '@pesewa/kernel';
import { startLoop } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import { Gauge, type Registry } from 'prom-client';
import { type ArrivedTime, arrivedAsOf, arrivedBy } from '../domain/arrived.ts';
import type { PaymentKind } from '../domain/claim.ts';
import { wholeWay } from './hops.ts';
import { createLevel, type LevelDeps } from './level.ts';

/** Whether what our services send to each other arrives; disposing of it ends the looks. */
export interface Arrivals extends AsyncDisposable {
  /** The time throughout which it has, of payments of a kind; null where it does not now, or nobody knows. */
  readonly arrived: (kind: PaymentKind) => ArrivedTime | null;
}

const kinds = ['payout', 'collection'] as const;

/**
 * Looks again and again whether what was on its way has gone its whole way, so that polls can tell late from lost (ADR 42).
 *
 * It is known in memory alone: what nobody has looked at, before this process began too, counts as on its way.
 */
export function startArrivals(
  deps: LevelDeps & {
    /** For so long may what is sent be on its way; milliseconds. */
    readonly limitMs: number;
    readonly pauseMs: number;
    readonly clock: Clock;
    readonly logger: Logger;
    readonly registry: Registry;
  },
): Arrivals {
  const { clock, limitMs } = deps;
  const levels = {
    payout: createLevel(deps, wholeWay.payout),
    collection: createLevel(deps, wholeWay.collection),
  };
  const times: Record<PaymentKind, ArrivedTime | null> = { payout: null, collection: null };
  gaugeAge(deps, (kind) => times[kind]?.untilMs);
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
    arrived: (kind) => arrivedAsOf(times[kind], clock.nowMs(), limitMs),
    [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose](),
  };
}

/** Registers for how long nobody has seen things arrive: meanwhile no poll tells late from lost, whatever the reason. */
function gaugeAge(
  { clock, registry }: { readonly clock: Clock; readonly registry: Registry },
  arrivedMs: (kind: PaymentKind) => number | undefined,
): void {
  const startedMs = clock.nowMs();
  const age = new Gauge({
    name: 'last_arrival_age_seconds',
    help: 'How long ago all was sent that is known to have arrived, by kind of payment; the time since the start while nothing is known.',
    labelNames: ['kind'],
    registers: [registry],
    collect: () => {
      for (const kind of kinds)
        age.set({ kind }, Math.max(0, clock.nowMs() - (arrivedMs(kind) ?? startedMs)) / 1_000);
    },
  });
}
