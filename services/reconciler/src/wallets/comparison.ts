import { displayAmount } from '@pesewa/kernel';
import { idOf, type Messaging, type Transaction } from '@pesewa/messaging';
import { applyReports, type BreakReport } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import type { FoundBreak } from '../domain/break.ts';
import { candidatesOf, type StandingBreak } from '../domain/candidates.ts';
import { whyBackInRange } from '../domain/drift.ts';
import { toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import { driftMeasured } from '../events.ts';
import { oneAtATime } from '../replica-jobs.ts';
import { type LookDeps, lookAtWallets, type RailWallets } from './looks.ts';
import { type RunDocument, type WalletDocument, type WalletStore, walletId } from './store.ts';
import type { PaymentsAtRail } from './suspects.ts';

/** The comparison of rails' wallets with our float (ADR 28). */
export interface Comparison {
  /** Compares every wallet that a rail or our books name now; gives the results. */
  readonly run: () => Promise<readonly RunDocument[]>;
}

const DRIFT = 'wallet.drift';
/** How many open breaks are searched for explanations of a drift. */
const BREAKS_MAX = 200;
/** The search for explanations begins a little before the wallet was last in range. */
const SUSPECTED = { beforeMs: 900_000, usualMs: 86_400_000, longestMs: 7 * 86_400_000 } as const;

/** The dependencies of a comparison. */
export interface ComparisonDeps extends LookDeps {
  readonly wallets: WalletStore;
  readonly payments: PaymentsAtRail;
  readonly breaks: Pick<BreakStore, 'findAll' | 'save' | 'list'>;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'caughtUp'>;
  readonly rails: readonly RailWallets[];
}

/** Builds the {@link Comparison}. */
export function createComparison(deps: ComparisonDeps): Comparison {
  const recording = deps.messaging.groupCommit<readonly RunDocument[], void>(
    'reconciler.comparison',
    async (groups, transaction) => {
      for (const runs of groups) await record(deps, runs, transaction);
      return groups.map(() => undefined);
    },
  );

  return {
    run: oneAtATime(async () => {
      const found: RunDocument[] = [];
      for (const rail of deps.rails) {
        const { runs, suspected } = await lookAtWallets(deps, rail);
        const explained = await explain(deps, runs);
        if (explained.length > 0) await recording.submit(explained);
        if (suspected.length > 0) await deps.wallets.suspect(suspected);
        found.push(...explained);
      }
      return found;
    }),
  };
}

/** Names the payments that could explain wallets out of range. */
async function explain(deps: ComparisonDeps, runs: readonly RunDocument[]): Promise<readonly RunDocument[]> {
  const [first] = runs;
  if (!first || runs.every(({ withinRange }) => withinRange)) return runs;
  const known = new Map((await deps.wallets.wallets(first.rail)).map((wallet) => [wallet._id, wallet]));
  return Promise.all(
    runs.map(async (run) => {
      if (run.withinRange) return run;
      const { rail, currency, unexplained } = run;
      const size = unexplained < 0n ? -unexplained : unexplained;
      const endedSince = suspectedSince(run, known.get(walletId(run)));
      const suspects = await deps.payments.suspects({ rail, currency, size, endedSince });
      return { ...run, candidates: candidatesOf(unexplained, suspects, await brokenIn(deps, currency)) };
    }),
  );
}

/** The newest open breaks in a currency, except those of wallets. */
async function brokenIn({ breaks }: ComparisonDeps, currency: string): Promise<readonly StandingBreak[]> {
  const { items } = await breaks.list({ status: 'unresolved', currency, limit: BREAKS_MAX });
  return items.filter(({ kind }) => kind !== DRIFT);
}

function suspectedSince({ at }: RunDocument, wallet: WalletDocument | undefined): Date {
  const sinceMs = (wallet?.inRangeAt?.getTime() ?? at.getTime() - SUSPECTED.usualMs) - SUSPECTED.beforeMs;
  return new Date(Math.max(sinceMs, at.getTime() - SUSPECTED.longestMs));
}

/** Stores runs; a wallet out of range has one open break, which closes by itself once the wallet is back in range. */
async function record(
  deps: ComparisonDeps,
  runs: readonly RunDocument[],
  transaction: Transaction,
): Promise<void> {
  const { session } = transaction;
  const known = new Map((await deps.wallets.wallets(undefined, { session })).map((one) => [one._id, one]));
  // Replicas may compare at once: of two looks only the one that began last decides. Both write the wallet, so the
  // second transaction sees what the first one found.
  const newest = runs.filter((run) => !isOvertaken(run, known.get(walletId(run))));
  const measured = new Map<RunDocument, string>();
  for (const run of runs) {
    const event = driftMeasured(run);
    measured.set(run, idOf(event));
    transaction.emit(event);
  }
  const reports = newest.flatMap((run): readonly BreakReport[] => {
    const eventId = measured.get(run);
    const cause = eventId === undefined ? {} : { eventId };
    if (!run.withinRange) return [{ ...driftBreak(run), cause }];
    const out = known.get(walletId(run))?.lastOut;
    if (!out) return [];
    const resolution = whyBackInRange(out, run, (minor) => displayAmount(minor, run.currency));
    return [toWithdrawal(walletId(run), { kind: DRIFT, resolution }, new Date(deps.clock.nowMs()), cause)];
  });
  await deps.wallets.recordRuns(runs, session);
  await deps.wallets.saveWallets(
    newest.map((run) => afterRun(run, known.get(walletId(run)))),
    session,
  );
  await applyReports(deps.breaks, reports, new Map(), transaction);
}

function isOvertaken({ at }: RunDocument, wallet: WalletDocument | undefined): boolean {
  return wallet !== undefined && wallet.latest.at > at;
}

function afterRun(run: RunDocument, before: WalletDocument | undefined): WalletDocument {
  const { rail, currency, withinRange, at } = run;
  const lastOut = withinRange ? before?.lastOut : run;
  const inRangeAt = withinRange ? at : before?.inRangeAt;
  return {
    _id: walletId(run),
    rail,
    currency,
    latest: run,
    ...(lastOut && { lastOut }),
    ...(inRangeAt && { inRangeAt }),
  };
}

function driftBreak(run: RunDocument): FoundBreak {
  const { unexplained, at } = run;
  const side = unexplained > 0n ? 'more than' : 'less than';
  const detail = `the rail has ${side} our books and the payments in flight explain`;
  return toFoundBreak(walletId(run), { kind: DRIFT, amount: unexplained, detail }, run, at);
}
