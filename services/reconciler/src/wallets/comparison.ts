import { DAY_MS, displayAmount } from '@pesewa/kernel';
import { idOf, type Messaging, type Transaction } from '@pesewa/messaging';
import { applyReports, type BreakReport } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import type { FoundBreak } from '../domain/break.ts';
import { type Candidate, candidatesOf } from '../domain/candidates.ts';
import { whyExplained } from '../domain/drift.ts';
import { toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import { driftMeasured } from '../events.ts';
import { type LookDeps, lookAtWallets, type RailWallets } from './looks.ts';
import { type RunDocument, type WalletDocument, type WalletStore, walletId } from './store.ts';
import type { PaymentsAtRail } from './suspects.ts';

/** The comparison of rails' wallets with our float (ADR 28). */
export type Comparison = ReturnType<typeof createComparison>;

const DRIFT = 'wallet.drift';
/** How many open breaks are searched for explanations of a drift. */
const BREAKS_MAX = 200;
/** The search for explanations begins so long before the wallet was first found unexplained, and goes back so far at most. */
const SUSPECTED = { beforeMs: DAY_MS, longestMs: 7 * DAY_MS } as const;

/** The dependencies of a comparison. */
export interface ComparisonDeps extends LookDeps {
  readonly wallets: WalletStore;
  readonly payments: PaymentsAtRail;
  readonly breaks: Pick<BreakStore, 'findAll' | 'save' | 'list'>;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'caughtUp'>;
  readonly rails: readonly RailWallets[];
  /** How long a difference within the range may be unexplained before it is a break. */
  readonly unexplainedMaxMs: number;
}

/** Builds the {@link Comparison}. */
export function createComparison(deps: ComparisonDeps) {
  const recording = deps.messaging.groupCommit<readonly RunDocument[], readonly RunDocument[]>(
    'reconciler.comparison',
    async (groups, transaction) => {
      const recorded: (readonly RunDocument[])[] = [];
      for (const runs of groups) recorded.push(await record(deps, runs, transaction));
      return recorded;
    },
  );

  const compareAll = async (): Promise<readonly RunDocument[]> => {
    const found: RunDocument[] = [];
    for (const rail of deps.rails) {
      const runs = await lookAtWallets(deps, rail);
      const explained = await Promise.all(
        runs.map(async (run) => ({ ...run, candidates: await candidates(deps, run) })),
      );
      if (explained.length > 0) found.push(...(await recording.submit(explained)));
    }
    return found;
  };

  let last: Promise<unknown> = Promise.resolve();
  let next: Promise<readonly RunDocument[]> | undefined;
  return {
    /**
     * Compares every wallet that a rail or our books name; gives the results. Who asks while a comparison is running shares
     * the one after it, which alone has seen everything up to then.
     */
    run: (): Promise<readonly RunDocument[]> => {
      next ??= last.then(() => {
        next = undefined;
        return compareAll();
      });
      last = next.catch(() => undefined);
      return next;
    },
  };
}

/** The payments that could explain what a run cannot. */
async function candidates(deps: ComparisonDeps, run: RunDocument): Promise<readonly Candidate[]> {
  const { rail, currency, withinRange, drift, unexplained, at } = run;
  if (unexplained === 0n) return [];
  // The likeliest first: within the range what is left beside payments in flight has no sign.
  const differences = withinRange ? [drift, unexplained, -unexplained] : [unexplained];
  const wallet = (await deps.wallets.wallets(rail)).find(({ _id }) => _id === walletId(run));
  const since = wallet?.latest.unexplainedSince ?? at;
  const fromMs = Math.max(since.getTime() - SUSPECTED.beforeMs, at.getTime() - SUSPECTED.longestMs);
  const ended = await deps.payments.ended(rail, currency, new Date(fromMs));
  const { items } = await deps.breaks.list({ status: 'unresolved', currency, limit: BREAKS_MAX });
  const others = items.filter(({ kind }) => kind !== DRIFT);
  return candidatesOf(differences, ended, others);
}

/**
 * Stores runs. A wallet out of range has one open break, and so has one that was unexplained within it for too long; it
 * closes by itself once the wallet is explained. A run that could not tell says nothing against what was found before:
 * payments that began since may hide it.
 */
async function record(
  deps: ComparisonDeps,
  measuredRuns: readonly RunDocument[],
  transaction: Transaction,
): Promise<readonly RunDocument[]> {
  const { session } = transaction;
  const known = new Map((await deps.wallets.wallets(undefined, { session })).map((one) => [one._id, one]));
  const runs = measuredRuns.map((run) => withAge(run, known.get(walletId(run))));
  const reports: BreakReport[] = [];
  const wallets: WalletDocument[] = [];
  for (const run of runs) {
    const event = driftMeasured(run);
    transaction.emit(event);
    const before = known.get(walletId(run));
    // Replicas may compare at once: of two looks only the one that began last decides. Both write the wallet, so the
    // second transaction sees what the first one found.
    if (before && before.latest.at > run.at) continue;
    const isOut = isReported(run, before, deps);
    const lastOut = isOut ? run : before?.lastOut;
    const { rail, currency } = run;
    wallets.push({ _id: walletId(run), rail, currency, latest: run, ...(lastOut && { lastOut }) });
    const cause = { eventId: idOf(event) };
    if (isOut) reports.push({ ...driftBreak(run), cause });
    else if (before?.lastOut && run.finding === 'explained') {
      const resolution = whyExplained(before.lastOut, run, (minor) => displayAmount(minor, currency));
      const gone = { kind: DRIFT, resolution, cause } as const;
      reports.push(toWithdrawal(walletId(run), gone, new Date(deps.clock.nowMs())));
    }
  }
  await deps.wallets.record(runs, wallets, session);
  await applyReports(deps.breaks, reports, new Map(), transaction);
  return runs;
}

/** The run with the time since when the wallet is unexplained; among too many payments to tell that stays as it was. */
function withAge(run: RunDocument, before: WalletDocument | undefined): RunDocument {
  const { finding } = run;
  const known = before?.latest.unexplainedSince;
  const since = finding === 'too_many_to_tell' ? known : (known ?? run.at);
  return finding === 'explained' || !since ? run : { ...run, unexplainedSince: since };
}

/** Whether a break is about a run: it is out of range, or was so since it was last explained, or unexplained for long. */
function isReported(
  run: RunDocument,
  before: WalletDocument | undefined,
  { unexplainedMaxMs }: Pick<ComparisonDeps, 'unexplainedMaxMs'>,
): boolean {
  const { at, unexplainedSince = at } = run;
  if (!run.withinRange) return true;
  if (run.finding !== 'unexplained_within_range') return false;
  const wasReported = before?.lastOut !== undefined && before.lastOut.at >= unexplainedSince;
  return wasReported || at.getTime() - unexplainedSince.getTime() >= unexplainedMaxMs;
}

/** Within the range a break has no amount: how much is missing, and which way, is known once the payments have ended. */
function driftBreak(run: RunDocument): FoundBreak {
  const { drift, unexplained, at, withinRange } = run;
  const side = (withinRange ? drift : unexplained) > 0n ? 'more than' : 'less than';
  const detail = withinRange
    ? `the rail has ${side} our books: payments in flight could move as much, but no combination of them gives it`
    : `the rail has ${side} our books and the payments in flight explain`;
  const amount = withinRange ? null : unexplained;
  return toFoundBreak(walletId(run), { kind: DRIFT, amount, detail }, run, at);
}
