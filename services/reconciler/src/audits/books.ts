import type { Clock } from '@pesewa/kernel';
import { type Loop, type Messaging, startLoop, type TopicEnd, type Transaction } from '@pesewa/messaging';
import type { Logger, ReportProcessed } from '@pesewa/runtime';
import { applyReports, type BreakReport } from '../breaks/reports.ts';
import type { BreakStore } from '../breaks/store.ts';
import { judgeBooks } from '../domain/books.ts';
import type { FoundBreak } from '../domain/break.ts';
import { ledgerStanding, waitingText } from '../domain/ledger-standing.ts';
import { breakOfKind, toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import type { Finding } from '../domain/question.ts';
import { type FollowedStep, keptUp, type StepLimits } from '../domain/steps.ts';
import type { Tracked } from '../domain/tracked.ts';
import type { OnItsWay, Waiting } from '../on-its-way.ts';
import type { RequestRepublication } from '../steps/request.ts';
import type { StepStore } from '../steps/store.ts';
import type { WorkingStore } from '../store.ts';

/** The dependencies of the loop over the books. */
export interface BooksDeps extends StepLimits {
  readonly store: WorkingStore;
  readonly stepStore: Pick<StepStore, 'save'>;
  readonly requestRepublication: RequestRepublication;
  readonly onItsWay: OnItsWay;
  readonly breaks: Pick<BreakStore, 'findAll' | 'save'>;
  readonly messaging: Pick<Messaging, 'groupCommit' | 'caughtUp' | 'ends' | 'hasApplied'>;
  readonly pauseMs: number;
  /** How long the ledger may lag behind the gateways before people see it. */
  readonly graceMs: number;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** An item to write: a payment to judge, by its reference, or the ledger's standing. */
type Item = { readonly reference: string } | { readonly behind: string } | 'level';

/**
 * The ends of the gateways' topics at one time: for every payment that was due then, the event of its end is before
 * them.
 */
interface Mark {
  readonly atMs: number;
  readonly ends: readonly TopicEnd[];
}

const BATCH = 200;
const KAFKA_TIMEOUT_MS = 5_000;
const WAITING_REPORTED_MAX = 1_000_000;
const OWNERS = ['payouts', 'collections'] as const;
const LEDGER = 'ledger';
const BEHIND = 'books.ledger_behind';
const BEHIND_ID = breakOfKind(LEDGER, BEHIND);
const LEVEL = {
  kind: BEHIND,
  resolution: 'the ledger has applied what the gateways have published',
} as const;

/**
 * Compares payments with the ledger's entries if they do not match each other a grace time later (ADR 27).
 *
 * Only events that are in Kafka can be missed: before it judges, the ledger has applied everything that the gateways'
 * topics held after the grace time, and we have applied everything that the ledger published about it. While the ledger
 * lags, one break reports that for all waiting payments. Nothing outside is called, so replicas need no claim: if two
 * look at the same payment, one finds it judged.
 */
export function startBooks(deps: BooksDeps): Loop {
  const { breaks, messaging, onItsWay, clock, pauseMs, graceMs } = deps;
  const writing = messaging.groupCommit<Item, void>('reconciler.books', async (items, transaction) => {
    await write(deps, items, transaction);
    return items.map(() => undefined);
  });
  let mark: Mark | undefined;
  /** What waited in the ledger's outbox once the ledger was past the mark. */
  let answers: readonly Waiting[] | undefined;

  /**
   * The ledger's standing by the present mark, or by a new one; undefined if nothing waits or Kafka does not answer.
   */
  async function look(isReported: boolean) {
    const atMs = clock.nowMs();
    if (!mark) {
      if (!isReported && (await findDue(deps, atMs)).length === 0) return undefined;
      const ends = await messaging.ends(OWNERS, KAFKA_TIMEOUT_MS);
      mark = ends && { atMs, ends };
    }
    const isPast = mark && (await messaging.hasApplied(LEDGER, mark.ends, KAFKA_TIMEOUT_MS));
    // Without an answer from Kafka the age of the mark says nothing, so a new one is made later.
    if (isPast === undefined) mark = answers = undefined;
    if (!mark || isPast === undefined) return undefined;
    const dueByMs = mark.atMs;
    return {
      dueByMs,
      standing: ledgerStanding({ atMs: dueByMs, isPast }, { nowMs: clock.nowMs(), graceMs }),
    };
  }

  async function round(signal: AbortSignal, processed: ReportProcessed): Promise<void> {
    const [reported] = (await breaks.findAll([BEHIND_ID])).filter(({ status }) => status === 'open');
    const looked = await look(reported !== undefined);
    if (!looked || looked.standing === 'waiting') return;
    const { standing, dueByMs } = looked;
    if (standing === 'behind') {
      const waiting = await countAwaiting(deps.store, new Date(clock.nowMs()));
      const behind = waitingText(waiting);
      if (waiting > 0 && reported?.detail !== behind) await writing.submit({ behind });
      return;
    }
    if (reported && standing === 'level') await writing.submit('level');
    if ((await findDue(deps, dueByMs)).length > 0) {
      // Events that the ledger has just published may still be on their way to its topic, for long while Kafka is away.
      answers ??= await onItsWay.waiting([LEDGER]);
      if (!answers || !(await onItsWay.hasLeft(answers))) return;
      if (signal.aborted || !(await messaging.caughtUp([...OWNERS, LEDGER], KAFKA_TIMEOUT_MS))) return;
      await judgeAll(dueByMs, signal, processed);
    }
    mark = undefined;
    answers = undefined;
  }

  async function judgeAll(dueByMs: number, signal: AbortSignal, processed: ReportProcessed): Promise<void> {
    let due: readonly string[];
    do {
      due = await findDue(deps, dueByMs);
      await Promise.all(due.map((reference) => writing.submit({ reference })));
      processed(due.length);
    } while (due.length === BATCH && !signal.aborted);
  }

  return startLoop({
    name: 'reconciler books',
    pauseMs,
    clock,
    logger: deps.logger,
    round: async (signal, processed) => {
      await round(signal, processed);
      return false;
    },
  });
}

async function findDue({ store }: BooksDeps, dueByMs: number): Promise<readonly string[]> {
  const found = await store.collection
    .find({ booksDueAt: { $lte: new Date(dueByMs) } })
    .project<{ _id: string }>({ _id: 1 })
    .sort({ booksDueAt: 1 })
    .limit(BATCH)
    .toArray();
  return found.map(({ _id }) => _id);
}

/** How many payments are due to be compared with their entries, and are not yet; counts to a million at most. */
export function countAwaiting({ collection }: WorkingStore, before: Date, timeoutMs = 0): Promise<number> {
  return collection.countDocuments(
    { booksDueAt: { $lte: before } },
    { limit: WAITING_REPORTED_MAX, ...(timeoutMs > 0 && { maxTimeMS: timeoutMs }) },
  );
}

async function write(deps: BooksDeps, items: readonly Item[], transaction: Transaction): Promise<void> {
  const { breaks, clock } = deps;
  const now = new Date(clock.nowMs());
  const ofLedger = items.flatMap((item): readonly BreakReport[] => {
    if (item === 'level') return [toWithdrawal(LEDGER, LEVEL, now)];
    if ('reference' in item) return [];
    return [
      toFoundBreak(LEDGER, { kind: BEHIND, amount: null, detail: item.behind }, { currency: null }, now),
    ];
  });
  const references = items.flatMap((item) =>
    item !== 'level' && 'reference' in item ? [item.reference] : [],
  );
  const { found, judged } = await judge(deps, references, now, transaction);
  await applyReports(breaks, [...found, ...ofLedger], judged, transaction);
  await deps.store.save([...judged.values()], transaction.session);
}

/**
 * Asks the owner of each payment that still does not match its entries to publish it again, and opens a break if that
 * has not helped; events that come later close it (domain/auto-resolution.ts). Until then requests continue, as for every
 * overdue step.
 */
async function judge(
  { store, stepStore, requestRepublication, graceMs, ...limits }: BooksDeps,
  references: readonly string[],
  now: Date,
  transaction: Transaction,
): Promise<{ readonly found: readonly FoundBreak[]; readonly judged: Map<string, Tracked> }> {
  const loaded = await store.load(references, transaction.session);
  const found: FoundBreak[] = [];
  const judged = new Map<string, Tracked>();
  const askedOn: FollowedStep[] = [];
  for (const tracked of loaded.values()) {
    if (tracked.booksDueAtMs === null) continue;
    const finding = judgeBooks(tracked);
    const isNews = finding !== undefined && !tracked.breaks.includes(finding.kind);
    const { reference, terms, entryRequests } = tracked;
    const wanted = terms !== null && ({ reference, kind: terms.kind, step: 'entry' } as const);
    if (isNews && wanted && entryRequests < limits.requestsMax) {
      const booksDueAtMs = now.getTime() + graceMs;
      judged.set(reference, { ...tracked, booksDueAtMs, entryRequests: entryRequests + 1 });
      requestRepublication(wanted, transaction);
      continue;
    }
    if (isNews && wanted) askedOn.push(keptUp(wanted, entryRequests, limits, now.getTime()));
    if (isNews) found.push(breakOf(tracked, finding, now));
    judged.set(reference, { ...tracked, booksDueAtMs: null });
  }
  await stepStore.save(askedOn, [], transaction.session);
  return { found, judged };
}

function breakOf({ reference, terms, booked }: Tracked, finding: Finding, openedAt: Date): FoundBreak {
  const place = terms ?? booked;
  if (!place) return toFoundBreak(reference, { ...finding, amount: null }, { currency: null }, openedAt);
  return toFoundBreak(reference, finding, place, openedAt);
}
