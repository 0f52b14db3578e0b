import { z } from 'zod';
import type { Ask } from './ask.ts';

const candidate = z.object({ reference: z.string(), why: z.string() });

const run = z.object({
  id: z.string(),
  at: z.string(),
  rail: z.string(),
  /** False if the rail was removed from the configuration and is no longer compared. */
  configured: z.boolean(),
  currency: z.string(),
  railBalance: z.string(),
  float: z.string(),
  drift: z.string(),
  unexplained: z.string().optional(),
  withinRange: z.boolean(),
  candidates: z.array(candidate).default([]),
});

/** One comparison of a rail's wallet with our float; amounts are signed decimal text. */
export type WalletRun = z.output<typeof run>;

const page = z.object({ items: z.array(run), next: z.string().nullable() });
const moment = z.string().nullable();

const oldestPayment = z.object({ state: z.string(), reference: z.string(), openedAt: z.string() });

const status = z.object({
  at: z.string(),
  open: z
    .array(
      z.object({
        kind: z.string(),
        count: z.number(),
        oldest: oldestPayment.nullable(),
        states: z.array(oldestPayment),
      }),
    )
    .nullable(),
  polls: z
    .array(
      z.object({
        rail: z.string(),
        configured: z.boolean(),
        due: z.number(),
        overdue: z.number(),
        oldestDueAt: moment,
      }),
    )
    .nullable(),
  breaks: z.array(z.object({ kind: z.string(), count: z.number(), oldestAt: moment })).nullable(),
  comparison: z
    .object({
      at: moment,
      wallets: z.number(),
      outOfRange: z.array(z.string()),
      /** Wallets out of range in the newest comparison, while some of our services' events were still on their way. */
      suspected: z.array(z.string()),
      /** Wallets of rails that are no longer configured; the other fields leave them out. */
      removed: z.array(z.object({ wallet: z.string(), configured: z.boolean(), withinRange: z.boolean() })),
    })
    .nullable(),
  coverage: z
    .object({ at: moment, status: z.string().nullable(), found: z.number(), repaired: z.number() })
    .nullable(),
  close: z
    .object({
      to: moment,
      finishedAt: moment,
      counts: z.record(z.string(), z.number()).nullable(),
      /** How many of its payments were reported only after the close had been made. */
      late: z.number(),
    })
    .nullable(),
  /** Whether the working set has everything that was published until now. */
  caughtUp: z.boolean().nullable(),
  unreported: z.array(z.string()),
});

/** The state of reconciliation; a part that was not answered in time is null. */
export type ReconciliationStatus = z.output<typeof status>;

/** The result of a requested comparison. */
export interface Compared {
  readonly runs: readonly WalletRun[];
  /**
   * Known wallets that were not compared, with their latest comparison: their rail or our own topics did not answer.
   * Wallets of rails that are no longer configured are left out.
   */
  readonly notCompared: readonly WalletRun[];
}

/** The operators' actions on the reconciler as a whole. */
export interface Reconciling {
  readonly status: () => Promise<ReconciliationStatus>;
  /** The latest comparison of every wallet. */
  readonly drift: () => Promise<readonly WalletRun[]>;
  /** Compares every wallet now. */
  readonly compare: () => Promise<Compared>;
}

/** A comparison makes up to three attempts, and each waits for our own topics. */
const COMPARE_TIMEOUT_MS = 120_000;

/** Builds {@link Reconciling}. */
export function createReconciling(ask: Ask): Reconciling {
  const service = 'reconcilerUrl' as const;
  const drift = async () => (await ask(page, { service, path: '/drift' })).items;
  return {
    status: () => ask(status, { service, path: '/status' }),
    drift,
    compare: async () => {
      const question = { service, path: '/compare', body: {}, timeoutMs: COMPARE_TIMEOUT_MS };
      const { items: runs } = await ask(page, question);
      const compared = new Set(runs.map(({ rail, currency }) => `${rail}:${currency}`));
      const known = await drift();
      return {
        runs,
        notCompared: known.filter(
          ({ rail, configured, currency }) => configured && !compared.has(`${rail}:${currency}`),
        ),
      };
    },
  };
}
