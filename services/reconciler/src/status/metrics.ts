import { paymentKinds } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import type { Registry } from 'prom-client';
import { openStates } from '../domain/tracked.ts';
import { ageSeconds, gauge, type Values } from '../gauges.ts';
import type { Standing } from './standing.ts';

/**
 * Registers the gauges of the {@link Standing}; one has no value while its part was not read in time.
 *
 * @param rails the configured ones: wallets of others are no longer compared, and not exported
 */
export function gaugeStanding(
  registry: Registry,
  standing: () => Promise<Standing>,
  rails: readonly string[],
  clock: Pick<Clock, 'nowMs'>,
): void {
  const at = { rails, startedAt: new Date(clock.nowMs()), age: (since: Date) => ageSeconds(since, clock) };
  for (const { values, ...about } of gauges)
    gauge({ registry, ...about, read: async () => values(await standing(), at) });
}

interface StandingGauge {
  readonly name: string;
  readonly labelNames?: string[];
  readonly help: string;
  readonly values: (
    found: Standing,
    at: {
      readonly rails: readonly string[];
      readonly startedAt: Date;
      /** How long ago that was, in seconds. */
      readonly age: (since: Date) => number;
    },
  ) => Values<string> | number | null | undefined;
}

const breaksByKind = ({ breaks }: Standing) => [...Map.groupBy(breaks ?? [], ({ kind }) => kind)];

const walletsOf = ({ comparison }: Standing, rails: readonly string[]) =>
  (comparison ?? [])
    .filter(({ rail }) => rails.includes(rail))
    .map((wallet) => ({ ...wallet, labels: { rail: wallet.rail, currency: wallet.currency } }));

const gauges: readonly StandingGauge[] = [
  {
    name: 'open_payments',
    labelNames: ['kind'],
    help: 'Payments of the working set that have not ended, by kind; no value while the database does not answer.',
    values: ({ open }) => open && paymentKinds.map((kind) => [{ kind }, open[kind]]),
  },
  {
    name: 'oldest_open_payment_seconds',
    labelNames: ['kind', 'state'],
    help: 'Age of the oldest open payment, by kind and the last answer of its rail; 0 if none is open.',
    values: ({ oldestOpen }, { age }) =>
      oldestOpen?.flatMap(({ kind, states }) =>
        openStates.map((state) => {
          const oldest = states.find((one) => one.state === state);
          return [{ kind, state }, oldest ? age(oldest.openedAt) : 0] as const;
        }),
      ),
  },
  {
    name: 'oldest_due_seconds',
    labelNames: ['rail'],
    help: 'How long the payment of a rail that is due longest has waited for its poll; 0 if none waits.',
    values: ({ polls }, { rails, age }) =>
      polls &&
      rails.map((rail) => {
        const waits = polls.find((one) => one.rail === rail);
        return [{ rail }, waits ? age(waits.dueAt) : 0];
      }),
  },
  {
    name: 'oldest_uncompared_payment_seconds',
    labelNames: ['rail'],
    help: "Time since the end of the oldest payment that neither a close nor a statement has compared with its rail's record, by rail; 0 if there is none.",
    values: ({ uncompared }, { rails, age }) => {
      const none = rails.filter((rail) => uncompared?.every((one) => one.rail !== rail));
      return (
        uncompared && [
          ...none.map((rail) => [{ rail }, 0] as const),
          ...uncompared.map(({ rail, endedAt }) => [{ rail }, age(endedAt)] as const),
        ]
      );
    },
  },
  {
    name: 'open_breaks',
    labelNames: ['kind'],
    help: 'Open breaks, by kind.',
    values: (found) =>
      breaksByKind(found).map(([kind, all]) => [{ kind }, all.reduce((sum, { count }) => sum + count, 0)]),
  },
  {
    name: 'oldest_open_break_seconds',
    labelNames: ['kind'],
    help: 'Age of the oldest open break, by kind.',
    values: (found, { age }) =>
      breaksByKind(found).map(([kind, all]) => [{ kind }, Math.max(...all.map(({ since }) => age(since)))]),
  },
  {
    name: 'rail_wallet_drift_minor_units',
    labelNames: ['rail', 'currency'],
    help: "A rail's balance minus our float in the latest comparison, payments in flight included.",
    values: (found, { rails }) =>
      walletsOf(found, rails).map(({ labels, latest }) => [labels, Number(latest.drift)]),
  },
  {
    name: 'rail_wallet_unexplained_minor_units',
    labelNames: ['rail', 'currency'],
    help: 'What of the drift neither our books nor payments in flight explain, once there is a break about it: signed out of their range, and the least of it within; 0 is well.',
    values: (found, { rails }) =>
      walletsOf(found, rails).map(({ labels, latest: { unexplainedSince: since }, lastOut }) => {
        // A comparison that can't tell closes no break, so what was found last still stands.
        const stands = lastOut && since && lastOut.at >= since;
        return [labels, Number(stands ? lastOut.unexplained : 0n)];
      }),
  },
  {
    name: 'rail_wallet_comparison_age_seconds',
    labelNames: ['rail', 'currency'],
    help: "How long ago a rail's wallet was last compared with our float.",
    values: (found, { rails, age }) =>
      walletsOf(found, rails).map(({ labels, latest }) => [labels, age(latest.at)]),
  },
  {
    name: 'payments_awaiting_ledger',
    help: 'Payments that lack a ledger entry after the grace time and are not judged yet; no value while the database does not answer.',
    values: ({ awaitingLedger }) => awaitingLedger,
  },
  {
    name: 'oldest_overdue_step_seconds',
    labelNames: ['step', 'kind'],
    help: 'How long the oldest overdue step of a payment has lasted, by step and kind of payment; no value if none is overdue.',
    values: ({ followed }, { age }) => followed?.map(({ step, kind, since }) => [{ step, kind }, age(since)]),
  },
  {
    name: 'last_audit_age_seconds',
    labelNames: ['kind'],
    help: "Time since all open payments were last compared with their gateway's records, by kind of payment; the time since the start if they never were.",
    values: ({ coverage }, { startedAt, age }) =>
      coverage?.map(({ kind, doneAt }) => [{ kind }, age(doneAt === null ? startedAt : new Date(doneAt))]),
  },
];
