import { paymentKinds } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import type { Registry } from 'prom-client';
import { openStates } from '../domain/tracked.ts';
import { ageSeconds, gauge } from '../gauges.ts';
import type { WalletDocument } from '../wallets/store.ts';
import type { Standing } from './standing.ts';

/** What the gauges of the {@link Standing} need. */
export interface StandingGauges {
  readonly registry: Registry;
  readonly standing: () => Promise<Standing>;
  /** The configured rails: wallets of others are no longer compared, and not exported. */
  readonly rails: readonly string[];
  readonly clock: Pick<Clock, 'nowMs'>;
}

/** Registers the gauges of what waits for people or rails: payments, breaks, and wallets against floats. */
export function gaugeStanding(deps: StandingGauges): void {
  gaugePayments(deps);
  gaugePolls(deps);
  gaugeUncompared(deps);
  gaugeBreaks(deps);
  gaugeWallets(deps);
}

function gaugePayments({ registry, standing, clock }: StandingGauges): void {
  gauge({
    registry,
    name: 'open_payments',
    help: 'Payments of the working set that have not ended, by kind; no value while the database does not answer.',
    labelNames: ['kind'],
    read: async () => {
      const { open } = await standing();
      return open && paymentKinds.map((kind) => [{ kind }, open[kind]] as const);
    },
  });
  gauge({
    registry,
    name: 'oldest_open_payment_seconds',
    help: 'Age of the oldest open payment, by kind and the last answer of its rail; 0 if none is open.',
    labelNames: ['kind', 'state'],
    read: async () => {
      const { oldestOpen } = await standing();
      return (
        oldestOpen &&
        oldestOpen.flatMap(({ kind, states }) =>
          openStates.map((state) => {
            const oldest = states.find((one) => one.state === state);
            return [{ kind, state }, oldest ? ageSeconds(oldest.openedAt, clock) : 0] as const;
          }),
        )
      );
    },
  });
}

function gaugePolls({ registry, standing, rails, clock }: StandingGauges): void {
  gauge({
    registry,
    name: 'oldest_due_seconds',
    help: 'How long the payment of a rail that is due longest has waited for its poll; 0 if none waits.',
    labelNames: ['rail'],
    read: async () => {
      const { polls } = await standing();
      return (
        polls &&
        rails.map((rail) => {
          const waits = polls.find((one) => one.rail === rail);
          return [{ rail }, waits ? ageSeconds(waits.dueAt, clock) : 0] as const;
        })
      );
    },
  });
}

function gaugeUncompared({ registry, standing, rails, clock }: StandingGauges): void {
  gauge({
    registry,
    name: 'oldest_uncompared_payment_seconds',
    help: "Time since the end of the oldest payment that neither a close nor a statement has compared with its rail's record, by rail; 0 if there is none.",
    labelNames: ['rail'],
    read: async () => {
      const { uncompared } = await standing();
      const none = rails.filter((rail) => uncompared?.every((one) => one.rail !== rail));
      return (
        uncompared && [
          ...none.map((rail) => [{ rail }, 0] as const),
          ...uncompared.map(({ rail, endedAt }) => [{ rail }, ageSeconds(endedAt, clock)] as const),
        ]
      );
    },
  });
}

function gaugeBreaks({ registry, standing, clock }: StandingGauges): void {
  const byKind = async () => [...Map.groupBy((await standing()).breaks ?? [], ({ kind }) => kind)];
  const ofKinds = { registry, labelNames: ['kind' as const] };
  gauge({
    ...ofKinds,
    name: 'open_breaks',
    help: 'Open breaks, by kind.',
    read: async () =>
      (await byKind()).map(([kind, found]) => [{ kind }, found.reduce((sum, { count }) => sum + count, 0)]),
  });
  gauge({
    ...ofKinds,
    name: 'oldest_open_break_seconds',
    help: 'Age of the oldest open break, by kind.',
    read: async () =>
      (await byKind()).map(([kind, found]) => [
        { kind },
        Math.max(...found.map(({ since }) => ageSeconds(since, clock))),
      ]),
  });
}

function gaugeWallets({ registry, standing, rails, clock }: StandingGauges): void {
  const gaugeEach = (name: string, help: string, valueOf: (wallet: WalletDocument) => number) =>
    gauge({
      registry,
      name,
      help,
      labelNames: ['rail', 'currency'],
      read: async () =>
        ((await standing()).comparison ?? [])
          .filter(({ rail }) => rails.includes(rail))
          .map((wallet) => [{ rail: wallet.rail, currency: wallet.currency }, valueOf(wallet)]),
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
