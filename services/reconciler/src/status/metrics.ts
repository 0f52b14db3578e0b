import type { Clock } from '@pesewa/kernel';
import type { Registry } from 'prom-client';
import type { BreakStore } from '../breaks/store.ts';
import { openStates } from '../domain/tracked.ts';
import { ageSeconds, gauge, METRIC_TIMEOUT_MS, readInTime } from '../gauges.ts';
import type { WindowPayments } from '../matching/payments.ts';
import type { WalletDocument, WalletStore } from '../wallets/store.ts';
import type { StatusStore } from './store.ts';

/** The sources of the gauges, read at each scrape. */
export interface StandingDeps {
  readonly registry: Registry;
  readonly statusStore: Pick<StatusStore, 'oldestOpen'>;
  readonly payments: Pick<WindowPayments, 'oldestUncompared'>;
  readonly breaks: Pick<BreakStore, 'countOpen'>;
  readonly wallets: Pick<WalletStore, 'wallets'>;
  /** The configured rails: wallets of others are no longer compared, and not exported. */
  readonly rails: readonly string[];
  readonly clock: Clock;
}

/** Registers the gauges of what waits for people or rails: payments, breaks, and wallets against floats. */
export function gaugeStanding(deps: StandingDeps): void {
  gaugeOldestOpen(deps);
  gaugeOldestUncompared(deps);
  gaugeBreaks(deps);
  gaugeWallets(deps);
}

/** Reads once for all gauges of a scrape. */
function sharedLook<Value>(
  look: () => Promise<Value>,
  clock: Pick<Clock, 'sleep'>,
): () => Promise<Value | undefined> {
  let current: Promise<Value | undefined> | undefined;
  return () => {
    current ??= readInTime(look(), clock).finally(() => {
      current = undefined;
    });
    return current;
  };
}

function gaugeOldestOpen({ registry, statusStore, clock }: StandingDeps): void {
  gauge({
    registry,
    name: 'oldest_open_payment_seconds',
    help: 'Age of the oldest open payment, by kind and the last answer of its rail; 0 if none is open.',
    labelNames: ['kind', 'state'],
    read: async () => {
      const found = await readInTime(statusStore.oldestOpen(), clock);
      if (!found) return undefined;
      return ['payout', 'collection'].flatMap((kind) =>
        openStates.map((state) => {
          const oldest = found.find((one) => one.kind === kind && one.state === state);
          return [{ kind, state }, oldest ? ageSeconds(oldest.openedAt, clock) : 0] as const;
        }),
      );
    },
  });
}

function gaugeOldestUncompared({ registry, payments, rails, clock }: StandingDeps): void {
  gauge({
    registry,
    name: 'oldest_uncompared_payment_seconds',
    help: "Time since the end of the oldest payment that neither a close nor a statement has compared with its rail's record, by rail; 0 if there is none.",
    labelNames: ['rail'],
    read: async () => {
      const found = await readInTime(payments.oldestUncompared(), clock);
      const none = rails.filter((rail) => found?.every((one) => one.rail !== rail));
      return (
        found && [
          ...none.map((rail) => [{ rail }, 0] as const),
          ...found.map(({ rail, endedAt }) => [{ rail }, ageSeconds(endedAt, clock)] as const),
        ]
      );
    },
  });
}

function gaugeBreaks({ registry, breaks, clock }: StandingDeps): void {
  const look = sharedLook(async () => [...(await breaks.countOpen())], clock);
  const ofKinds = { registry, labelNames: ['kind' as const] };
  gauge({
    ...ofKinds,
    name: 'open_breaks',
    help: 'Open breaks, by kind.',
    read: async () => (await look())?.map(([kind, { count }]) => [{ kind }, count]),
  });
  gauge({
    ...ofKinds,
    name: 'oldest_open_break_seconds',
    help: 'Age of the oldest open break, by kind.',
    read: async () => (await look())?.map(([kind, { since }]) => [{ kind }, ageSeconds(since, clock)]),
  });
}

function gaugeWallets({ registry, wallets, rails, clock }: StandingDeps): void {
  const look = sharedLook(async () => {
    const found = await wallets.wallets(undefined, { maxTimeMS: METRIC_TIMEOUT_MS });
    return found.filter(({ rail }) => rails.includes(rail));
  }, clock);
  const gaugeEach = (name: string, help: string, valueOf: (wallet: WalletDocument) => number) =>
    gauge({
      registry,
      name,
      help,
      labelNames: ['rail', 'currency'],
      read: async () =>
        (await look())?.map((wallet) => {
          const { rail, currency } = wallet;
          return [{ rail, currency }, valueOf(wallet)];
        }),
    });
  gaugeEach(
    'rail_wallet_drift_minor_units',
    "A rail's balance minus our float in the latest comparison, payments in flight included.",
    ({ latest }) => Number(latest.drift),
  );
  gaugeEach(
    'rail_wallet_unexplained_minor_units',
    'What of the drift neither our books nor payments in flight explain, once there is a break about it: signed out of their range, and the least of it within; 0 is well.',
    ({ latest, lastOut }) => {
      const since = latest.unexplainedSince;
      // A comparison that can't tell closes no break, so what was found last still stands.
      return Number(lastOut && since && lastOut.at >= since ? lastOut.unexplained : 0n);
    },
  );
  gaugeEach(
    'rail_wallet_comparison_age_seconds',
    "How long ago a rail's wallet was last compared with our float.",
    ({ latest }) => ageSeconds(latest.at, clock),
  );
}
