import type { Clock, Ids } from '@pesewa/kernel';
import type { Messaging, Transaction } from '@pesewa/messaging';
import type { RailConnector } from '@pesewa/rails';
import type { Logger } from '@pesewa/runtime';
import type { BreakDocument, BreakStore } from './breaks.ts';
import { measureDrift } from './domain/drift.ts';
import type { ReconcilerEvents } from './events.ts';
import type { RunDocument, WalletStore } from './wallets.ts';

/** The comparison of rails' wallets with our float (design 7). */
export interface Comparison {
  /** Compares every funded wallet of every rail now, and gives what it found. */
  readonly run: () => Promise<readonly RunDocument[]>;
}

const DRIFT = 'wallet.drift';
/** Looks in all before a drift out of range counts: our projections may trail the rail by a moment. */
const LOOKS_MAX = 3;

/** What a comparison needs. */
export interface ComparisonDeps {
  readonly wallets: WalletStore;
  readonly breaks: BreakStore;
  readonly events: ReconcilerEvents;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
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
      if (runs.length > 0) await recording.submit(runs);
      found.push(...runs);
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

/** Looks once at a rail's wallets; nothing where there is no float, or no answer. */
async function look(
  deps: ComparisonDeps,
  rail: Pick<RailConnector, 'name' | 'balances'>,
): Promise<readonly RunDocument[]> {
  const before = await deps.wallets.floats(rail.name);
  if (before.size === 0) return [];
  const balances = await rail.balances();
  if (balances.kind === 'unknown') {
    deps.logger.warn(
      { rail: rail.name, why: balances.why },
      'the rail did not tell its balances; nothing is compared',
    );
    return [];
  }
  // In flight before floats: what is posted in between is counted twice, which only widens the range.
  const inFlight = await deps.wallets.inFlight(rail.name);
  const after = await deps.wallets.floats(rail.name);
  return [...before].map(([currency, totals]) => {
    const flying = inFlight.get(currency) ?? { mayDebit: 0n, mayCredit: 0n, candidates: [] };
    const railBalance = balances.wallets.find((wallet) => wallet.currency === currency)?.minor ?? 0n;
    const drift = measureDrift({
      railBalance,
      before: totals,
      after: after.get(currency) ?? totals,
      inFlight: flying,
    });
    return {
      _id: deps.ids.next('rn'),
      at: new Date(deps.clock.nowMs()),
      rail: rail.name,
      currency,
      railBalance,
      ...drift,
      candidates: flying.candidates,
    };
  });
}

/** Stores runs; a wallet out of range has one open break, which closes by itself once it is back in range. */
async function record(
  deps: ComparisonDeps,
  runs: readonly RunDocument[],
  transaction: Transaction,
): Promise<void> {
  const { session } = transaction;
  const open = await deps.breaks.findOpen(DRIFT, runs.map(subjectOf), session);
  const bySubject = new Map(open.map((document) => [document.reference, document]));
  const opened: BreakDocument[] = [];
  for (const run of runs) {
    transaction.emit(deps.events.driftMeasured(run));
    const known = bySubject.get(subjectOf(run));
    if (!run.withinRange && !known) opened.push(driftBreak(run));
    if (run.withinRange && known) {
      const resolution = { id: known._id, resolution: 'the wallet is back in range' };
      const closed = await deps.breaks.resolve([resolution], run.at, session);
      for (const document of closed) transaction.emit(deps.events.breakResolved(document));
    }
  }
  await deps.wallets.recordRuns(runs, session);
  await deps.breaks.open(opened, session);
  for (const document of opened) transaction.emit(deps.events.breakOpened(document));
}

function subjectOf({ rail, currency }: RunDocument): string {
  return `${rail}:${currency}`;
}

function driftBreak(run: RunDocument): BreakDocument {
  const subject = subjectOf(run);
  return {
    _id: `${subject}/${DRIFT}/${run._id}`,
    kind: DRIFT,
    reference: subject,
    status: 'open',
    currency: run.currency,
    amount: run.drift,
    detail: `the rail's wallet is out of the range that payments in flight explain`,
    openedAt: run.at,
  };
}
