import type { PaymentKind, TopicName } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import { type Messaging, startLoop } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import type { Registry } from 'prom-client';
import { type ArrivedTime, arrivedBy } from '../domain/arrived.ts';
import { ageSeconds, gauge } from '../gauges.ts';
import type { MarkWaiting, Sender } from '../on-its-way.ts';

/** A part of our messages' way: out of an outbox into a topic, and through the services that apply it. */
export interface Hop {
  readonly from: Sender;
  readonly topic: TopicName;
  readonly by: readonly string[];
}

const payout = [
  { from: 'reconciler', topic: 'payoutFacts', by: ['payout-gateway'] },
  { from: 'payouts', topic: 'payouts', by: ['ledger'] },
  { from: 'ledger', topic: 'ledger', by: ['payout-gateway', 'reconciler'] },
  { from: 'payouts', topic: 'payouts', by: ['reconciler'] },
] as const satisfies readonly Hop[];
const collection = [
  { from: 'reconciler', topic: 'collectionFacts', by: ['collection-gateway'] },
  { from: 'collections', topic: 'collections', by: ['ledger'] },
  { from: 'ledger', topic: 'ledger', by: ['reconciler'] },
  { from: 'collections', topic: 'collections', by: ['reconciler'] },
] as const satisfies readonly Hop[];

/**
 * The whole way of the messages of a payment: from us to its owner, through the ledger and back, and to us. Those of the
 * other kind delay none, and neither do webhooks, to which the messages of both lead further.
 */
export const ways: Readonly<Record<PaymentKind | 'webhook', readonly Hop[]>> = {
  payout,
  collection,
  webhook: [
    ...payout,
    ...collection,
    { from: 'payouts', topic: 'payouts', by: ['webhook-dispatcher'] },
    { from: 'collections', topic: 'collections', by: ['webhook-dispatcher'] },
  ],
};

const kinds = ['payout', 'collection', 'webhook'] as const;
/** The pause between the first questions whether the same has arrived, and how many they are. */
const SOON_MS = 250;
const SOON_MAX = 20;
const KAFKA_TIMEOUT_MS = 5_000;

/** The dependencies of knowing what has arrived. */
export interface ArrivalDeps {
  readonly messaging: Pick<Messaging, 'ends' | 'hasApplied'>;
  readonly markWaiting: MarkWaiting;
  readonly clock: Clock;
  /** The pause between two checks of a whole way, and between questions of what has not arrived soon. */
  readonly pauseMs: number;
}

/** What has arrived (ADR 27). */
export type Arrivals = Omit<ReturnType<typeof startArrivals>, typeof Symbol.asyncDispose>;

/**
 * Checks repeatedly whether messages that were on their way have arrived, so that late ones can be distinguished from
 * lost ones (ADR 27).
 *
 * The result is only in memory: a time that was not checked, such as before this process began, counts as messages
 * being on their way.
 */
export function startArrivals(
  deps: ArrivalDeps & {
    /** How long a message may be on its way; milliseconds. */
    readonly limitMs: number;
    readonly logger: Logger;
    readonly registry: Registry;
  },
) {
  const { clock, limitMs } = deps;
  const times: { -readonly [Kind in keyof typeof ways]?: ArrivedTime } = {};
  const startedMs = clock.nowMs();
  gauge({
    registry: deps.registry,
    name: 'last_arrival_age_seconds',
    help: 'Age of the newest time up to which all events are known to have arrived, by kind of payment, and at webhooks of both kinds; the time since the start while nothing is known.',
    labelNames: ['kind'],
    read: async () => kinds.map((kind) => [{ kind }, ageSeconds(times[kind]?.untilMs ?? startedMs, clock)]),
  });
  const loops = kinds.map((kind) =>
    startLoop({
      ...deps,
      name: `reconciler arrivals: ${kind}`,
      round: async (signal) => {
        const atMs = clock.nowMs();
        if (await haveArrived(deps, ways[kind], signal)) times[kind] = arrivedBy(times[kind], atMs, limitMs);
        return false;
      },
    }),
  );
  return {
    /** The newest period throughout which messages arrived, for payments of a kind; null if none is known. */
    arrived: (kind: PaymentKind) => times[kind] ?? null,
    /** The newest time such that everything that was on its way then has arrived; without a kind, of both at their webhooks. */
    arrivedUntilMs: (kind: keyof typeof ways = 'webhook'): number | undefined => times[kind]?.untilMs,
    [Symbol.asyncDispose]: async () => {
      await Promise.all(loops.map((loop) => loop[Symbol.asyncDispose]()));
    },
  };
}

/**
 * Waits until everything on its way now has arrived, hop by hop; gives whether it did. A stopped service delays the
 * answer, and Kafka or a database that does not answer makes it false.
 */
export async function haveArrived(
  { messaging, markWaiting, clock, pauseMs }: ArrivalDeps,
  hops: readonly Hop[],
  signal: AbortSignal,
): Promise<boolean> {
  const until = async (check: () => Promise<boolean | undefined>): Promise<boolean> => {
    let found = await check();
    for (let asked = 1; found === false && !signal.aborted; asked += 1) {
      await clock.sleep(asked <= SOON_MAX ? Math.min(SOON_MS, pauseMs) : pauseMs, signal);
      found = await check();
    }
    return found === true;
  };
  for (const { from, topic, by } of hops) {
    const hasLeft = await markWaiting(from);
    if (!hasLeft || !(await until(hasLeft))) return false;
    const ends = await messaging.ends([topic], KAFKA_TIMEOUT_MS);
    if (!ends) return false;
    for (const service of by)
      if (!(await until(() => messaging.hasApplied(service, ends, KAFKA_TIMEOUT_MS)))) return false;
  }
  return true;
}
