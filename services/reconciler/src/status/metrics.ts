import { type Clock, withDeadline } from '@pesewa/kernel';
import { Gauge, type Registry } from 'prom-client';
import type { BreakStore } from '../breaks/store.ts';
import type { WorkingStore } from '../store.ts';
import type { WalletDocument, WalletStore } from '../wallets/store.ts';

/** The sources of the gauges, read at each scrape. */
export interface StandingDeps {
  readonly registry: Registry;
  readonly store: Pick<WorkingStore, 'oldestOpen'>;
  readonly breaks: Pick<BreakStore, 'countOpen'>;
  readonly wallets: Pick<WalletStore, 'wallets'>;
  /** The configured rails: wallets of others are no longer compared, and not exported. */
  readonly rails: readonly string[];
  readonly clock: Clock;
}

/** How long a read may take; the server gives up at the same time. */
const LOOK_TIMEOUT_MS = 1_000;

/** Registers the gauges of what waits for people or rails: open payments, breaks, and wallets against floats. */
export function gaugeStanding(deps: StandingDeps): void {
  gaugeOldestOpen(deps);
  gaugeBreaks(deps);
  gaugeWallets(deps);
}

/**
 * Reads once for all gauges of a scrape; undefined if the database does not answer in time, while the others are
 * exported.
 */
function sharedLook<Value>(
  look: () => Promise<Value>,
  clock: Pick<Clock, 'sleep'>,
): () => Promise<Value | undefined> {
  let current: Promise<Value | undefined> | undefined;
  return () => {
    current ??= withDeadline(look(), LOOK_TIMEOUT_MS, clock)
      .catch(() => undefined)
      .finally(() => {
        current = undefined;
      });
    return current;
  };
}

function ageSeconds(since: Date, clock: Pick<Clock, 'nowMs'>): number {
  return Math.max(0, clock.nowMs() - since.getTime()) / 1_000;
}

function gaugeOldestOpen({ registry, store, clock }: StandingDeps): void {
  const look = sharedLook(store.oldestOpen, clock);
  const oldest = new Gauge({
    name: 'oldest_open_payment_seconds',
    help: 'Age of the oldest open payment, by kind and the last answer of its rail; 0 if none is open.',
    labelNames: ['kind', 'state'],
    registers: [registry],
    collect: async () => {
      const found = await look();
      oldest.reset();
      for (const { kind, state, openedAt } of found ?? [])
        oldest.set({ kind, state }, openedAt === null ? 0 : ageSeconds(openedAt, clock));
    },
  });
}

function gaugeBreaks({ registry, breaks, clock }: StandingDeps): void {
  const look = sharedLook(breaks.countOpen, clock);
  const open = new Gauge({
    name: 'open_breaks',
    help: 'Open breaks, by kind.',
    labelNames: ['kind'],
    registers: [registry],
    collect: async () => {
      const found = await look();
      open.reset();
      for (const [kind, { count }] of found ?? []) open.set({ kind }, count);
    },
  });
  const oldest = new Gauge({
    name: 'oldest_open_break_seconds',
    help: 'Age of the oldest open break, by kind.',
    labelNames: ['kind'],
    registers: [registry],
    collect: async () => {
      const found = await look();
      oldest.reset();
      for (const [kind, { since }] of found ?? []) oldest.set({ kind }, ageSeconds(since, clock));
    },
  });
}

function gaugeWallets({ registry, wallets, rails, clock }: StandingDeps): void {
  const look = sharedLook(async () => {
    const found = await wallets.wallets(undefined, { timeoutMs: LOOK_TIMEOUT_MS });
    return found.filter(({ rail }) => rails.includes(rail));
  }, clock);
  const gauge = (name: string, help: string, value: (wallet: WalletDocument) => number): void => {
    const walletGauge = new Gauge({
      name,
      help,
      labelNames: ['rail', 'currency'],
      registers: [registry],
      collect: async () => {
        const found = await look();
        walletGauge.reset();
        for (const wallet of found ?? [])
          walletGauge.set({ rail: wallet.rail, currency: wallet.currency }, value(wallet));
      },
    });
  };
  gauge(
    'rail_wallet_drift_minor_units',
    "A rail's balance minus our float in the latest comparison, payments in flight included.",
    ({ latest }) => Number(latest.drift),
  );
  gauge(
    'rail_wallet_unexplained_minor_units',
    'What of the drift neither our books nor payments in flight explain, signed; 0 is well.',
    ({ latest }) => Number(latest.unexplained),
  );
  gauge(
    'rail_wallet_comparison_age_seconds',
    "How long ago a rail's wallet was last compared with our float.",
    ({ latest }) => ageSeconds(latest.at, clock),
  );
}
