import { type Clock, formatAmount, type Ids } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { RailConnector } from '@pesewa/rails';
import type { Logger } from '@pesewa/runtime';
import { type BreakStore, breakId, type Resolution } from '../breaks/store.ts';
import type { FoundBreak } from '../domain/break.ts';
import { candidatesOf, type StandingBreak } from '../domain/candidates.ts';
import { causeOf, measureDrift } from '../domain/drift.ts';
import type { ReconcilerEvents } from '../events.ts';
import { type RunDocument, type WalletDocument, type WalletStore, walletId } from './store.ts';
import type { PaymentsAtRail } from './suspects.ts';

/** The comparison of rails' wallets with our float (design 7). */
export interface Comparison {
  /** Compares every wallet that a rail or our books name now, and gives what it found. */
  readonly run: () => Promise<readonly RunDocument[]>;
}

const DRIFT = 'wallet.drift';
/** Looks in all before a drift out of range counts: what a gateway has committed may reach us a moment later. */
const LOOKS_MAX = 3;
/** How long our projections may trail what was published when the rail answered. */
const CAUGHT_UP_TIMEOUT_MS = 10_000;

/** How many standing breaks are looked through for what explains a drift. */
const BREAKS_MAX = 200;
/** Who looks for what explains a drift begins where the wallet was last in range, and a little before. */
const SUSPECTED = { beforeMs: 900_000, usualMs: 86_400_000, longestMs: 7 * 86_400_000 } as const;

/** What a comparison needs. */
export interface ComparisonDeps {
  readonly wallets: WalletStore;
  readonly payments: PaymentsAtRail;
  readonly breaks: Pick<BreakStore, 'open' | 'resolve' | 'list'>;
  readonly events: ReconcilerEvents;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'caughtUp'>;
  readonly rails: readonly Pick<RailConnector, 'name' | 'balances'>[];
  readonly settleMs: number;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly logger: Logger;
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

  async function compare(): Promise<readonly RunDocument[]> {
    const found: RunDocument[] = [];
    for (const rail of deps.rails) {
      let runs = await look(deps, rail);
      for (let looks = 1; looks < LOOKS_MAX && runs.some((run) => !run.withinRange); looks += 1) {
        await deps.clock.sleep(deps.settleMs);
        runs = await look(deps, rail);
      }
      const explained = await explain(deps, runs);
      if (explained.length > 0) await recording.submit(explained);
      found.push(...explained);
    }
    return found;
  }

  let latest: Promise<unknown> = Promise.resolve();
  return {
    run: () => {
      const run = latest.then(compare);
      latest = run.catch(() => undefined);
      return run;
    },
  };
}

/** Looks once at a rail's wallets; nothing where the rail, or our own topics, don't tell. */
async function look(
  deps: ComparisonDeps,
  rail: Pick<RailConnector, 'name' | 'balances'>,
): Promise<readonly RunDocument[]> {
  const at = new Date(deps.clock.nowMs());
  const before = await deps.wallets.floats(rail.name);
  const balances = await rail.balances();
  if (balances.kind === 'unknown') {
    deps.logger.warn(
      { rail: rail.name, why: balances.why },
      'the rail did not tell its balances; nothing is compared',
    );
    return [];
  }
  if (!(await deps.messaging.caughtUp(['payouts', 'collections', 'ledger'], CAUGHT_UP_TIMEOUT_MS))) {
    deps.logger.warn({ rail: rail.name }, 'our projections trail the topics; nothing is compared');
    return [];
  }
  // In flight before floats: what is posted in between is counted twice, which only widens the range.
  const inFlight = await deps.payments.inFlight(rail.name);
  const after = await deps.wallets.floats(rail.name);
  const known = await deps.wallets.wallets(rail.name);
  const told = new Map<string, bigint>();
  for (const { currency, minor } of balances.wallets) told.set(currency, (told.get(currency) ?? 0n) + minor);
  const currencies = new Set([...told.keys(), ...after.keys(), ...known.map(({ currency }) => currency)]);
  return [...currencies].toSorted().map((currency) => {
    const now = after.get(currency) ?? NO_FLOAT;
    const railBalance = told.get(currency) ?? 0n;
    const drift = measureDrift({
      railBalance,
      before: before.get(currency) ?? NO_FLOAT,
      after: now,
      inFlight: inFlight.get(currency) ?? { mayDebit: 0n, mayCredit: 0n },
    });
    return {
      _id: deps.ids.next('rn'),
      at,
      rail: rail.name,
      currency,
      railBalance,
      ordered: now.ordered,
      ...drift,
      candidates: [],
    };
  });
}

const NO_FLOAT = { credits: 0n, debits: 0n, ordered: 0n };

/** Names the payments that could explain what is out of range. */
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

/** The newest breaks that stand in a currency, but those of wallets. */
async function brokenIn({ breaks }: ComparisonDeps, currency: string): Promise<readonly StandingBreak[]> {
  const { items } = await breaks.list({ status: 'unresolved', currency, limit: BREAKS_MAX });
  return items.filter(({ kind }) => kind !== DRIFT);
}

function suspectedSince({ at }: RunDocument, wallet: WalletDocument | undefined): Date {
  const sinceMs = (wallet?.inRangeAt?.getTime() ?? at.getTime() - SUSPECTED.usualMs) - SUSPECTED.beforeMs;
  return new Date(Math.max(sinceMs, at.getTime() - SUSPECTED.longestMs));
}

/** Stores runs; a wallet out of range has one open break, which closes by itself once it is back in range. */
async function record(
  deps: ComparisonDeps,
  runs: readonly RunDocument[],
  transaction: Transaction,
): Promise<void> {
  const { session } = transaction;
  const known = new Map((await deps.wallets.wallets(undefined, { session })).map((one) => [one._id, one]));
  // Replicas compare at once: of two looks only the one that began last says where the wallet stands. Both write the
  // wallet, so the second transaction sees what the first one found.
  const newest = runs.filter((run) => !isOvertaken(run, known.get(walletId(run))));
  const closing = newest.flatMap((run): readonly Resolution[] => {
    const out = known.get(walletId(run))?.lastOut;
    if (!run.withinRange || !out) return [];
    const resolution = causeOf(out, run, textIn(run.currency));
    return [{ id: breakId(walletId(run), DRIFT), resolution }];
  });
  for (const run of runs) transaction.emit(deps.events.driftMeasured(run));
  await deps.wallets.recordRuns(runs, session);
  await deps.wallets.saveWallets(
    newest.map((run) => afterRun(run, known.get(walletId(run)))),
    session,
  );
  const out = newest.filter(({ withinRange }) => !withinRange);
  const opened = await deps.breaks.open(out.map(driftBreak), session);
  for (const document of opened) transaction.emit(deps.events.breakOpened(document));
  const closed = await deps.breaks.resolve(closing, new Date(deps.clock.nowMs()), session);
  for (const document of closed) transaction.emit(deps.events.breakResolved(document));
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

function textIn(currency: string): (minor: bigint) => string {
  return (minor) => `${formatAmount(minor, currency)} ${currency}`;
}

function driftBreak(run: RunDocument): FoundBreak {
  const { rail, currency, unexplained, at } = run;
  const side = unexplained > 0n ? 'more than' : 'less than';
  return {
    _id: breakId(walletId(run), DRIFT),
    kind: DRIFT,
    reference: walletId(run),
    rail,
    currency,
    amount: unexplained,
    detail: `the rail has ${side} our books and the payments in flight explain`,
    openedAt: at,
  };
}
