import type { Transaction } from '@pesewa/messaging';
import type { AnyBulkWriteOperation } from 'mongodb';
import { commitEach, inBatches } from '../batches.ts';
import { applyReports, type BreakReport } from '../breaks/reports.ts';
import { pagesOfBreaks } from '../breaks/store.ts';
import type { Break, FoundBreak } from '../domain/break.ts';
import { breakId, observe } from '../domain/observing.ts';
import type { Keep } from '../matching/store.ts';
import type { StatementDeps } from './deps.ts';
import { breaksOfRecord, withdrawalsOf } from './findings.ts';
import { rereadWithdrawals } from './rereading.ts';
import { linesAbout, type RecordDocument, type StatementDocument } from './store.ts';

const BREAKS_PER_STEP = 200;

/** The results that may lead to a break, in the order in which they are handled. */
const breakResults = ['differs', 'not_on_statement', 'not_in_books', 'duplicate'] as const;

/**
 * Builds what opens the breaks of a matched statement, and closes those that it explains; it gives how many discrepancies
 * the limit hides. If it stops, it begins again: records that have a break are left out.
 */
export function createStatementBreaks(deps: StatementDeps) {
  const { records } = deps.statementStore;
  const commit = <Item>(work: (about: About<Item>, transaction: Transaction) => Promise<number>) =>
    commitEach(deps.messaging, 'reconciler.statement-breaks', work);
  const closeOnce = commit<Break>((about, transaction) => close(deps, about, transaction));
  const openOnce = commit<RecordDocument>((about, transaction) => open(deps, about, transaction));
  return async (statement: StatementDocument, keep: Keep): Promise<number> => {
    // Breaks are few and lines are many, so the line is searched for each break, at whichever rail it is shown.
    const stated = { observer: 'statement', status: 'unresolved', limit: BREAKS_PER_STEP } as const;
    for await (const items of pagesOfBreaks(deps.breaks, stated)) {
      if (items.length === 0) continue;
      await keep();
      await closeOnce({ statement, items });
    }
    let hidden = 0;
    for (const result of breakResults) {
      const unsaid = { run: statement._id, result, breakId: { $exists: false } } as const;
      for await (const items of inBatches(records.find(unsaid).sort({ _id: 1 }))) {
        await keep();
        hidden += await openOnce({ statement, items });
      }
    }
    return hidden;
  };
}

/** What is updated in one transaction: records that may open breaks, or breaks that may be explained. */
interface About<Item> {
  readonly statement: StatementDocument;
  readonly items: readonly Item[];
}

/** Takes back what statements said and the newest has as we have it, or this one reads in another way. */
async function close(
  deps: StatementDeps,
  { statement, items: breaks }: About<Break>,
  transaction: Transaction,
): Promise<number> {
  const { session } = transaction;
  const references = breaks.map(({ reference }) => reference);
  const lines = await linesAbout(deps.statementStore, references, transaction);
  const at = new Date(deps.clock.nowMs());
  const gone = breaks.flatMap((one) => withdrawalsOf(one, lines, at));
  const reread = await rereadWithdrawals(deps.statementStore, statement, breaks, { session, at });
  await apply(deps, [...gone, ...reread], transaction);
  return gone.length + reread.length;
}

/** Opens the breaks of records up to the limit; gives how many records it hides. A break that stands does not count. */
async function open(
  deps: StatementDeps,
  { statement, items: records }: About<RecordDocument>,
  transaction: Transaction,
): Promise<number> {
  const { session } = transaction;
  const { statementStore, breaks } = deps;
  const mine = { _id: statement._id, stage: 'breaks' } as const;
  const current = await statementStore.runs.findOne(mine, { session });
  if (!current) return 0;
  const openedAt = new Date(deps.clock.nowMs());
  const references = records.flatMap(({ payment }) => payment ?? []);
  const stated = await linesAbout(statementStore, references, transaction);
  const found = records
    .map((record) => ({
      _id: record._id,
      findings: breaksOfRecord(statement, record, stated, openedAt),
    }))
    .filter(({ findings }) => findings.length > 0);
  const standing = await breaks.findAll(
    found.flatMap(({ findings }) => findings.map(idOf)),
    session,
  );
  const known = new Map(standing.map((one) => [one._id, one]));
  const opening = new Map<string, FoundBreak>();
  const updates: AnyBulkWriteOperation<RecordDocument>[] = [];
  let opened = 0;
  for (const { _id, findings } of found) {
    const others = findings.filter((one) => !opening.has(idOf(one)));
    const needed = others.filter((one) => opens(one, known.get(idOf(one)))).length;
    if (needed > 0 && current.opened + opened + needed > deps.breaksMax) continue;
    opened += needed;
    // Of several lines about one field the first counts.
    for (const one of others) opening.set(idOf(one), one);
    const [breakId = '', ...further] = findings.map(idOf);
    const $set = { breakId, ...(further.length > 0 && { alsoCoveredBy: further }) };
    updates.push({ updateOne: { filter: { _id }, update: { $set } } });
  }
  await apply(deps, [...opening.values()], transaction);
  if (updates.length > 0) await statementStore.records.bulkWrite(updates, { session });
  if (opened > 0) await statementStore.runs.updateOne(mine, { $inc: { opened } }, { session });
  return found.length - updates.length;
}

/** Whether a finding needs a break that does not stand yet. */
function opens(found: FoundBreak, current: Break | undefined): boolean {
  return current?.status !== 'open' && observe(found, current) !== current;
}

function idOf({ reference, field }: FoundBreak): string {
  return breakId(reference, field);
}

/** Applies reports, and notes them in their payments, if those are known. */
async function apply(
  { store, breaks }: StatementDeps,
  reports: readonly BreakReport[],
  transaction: Transaction,
): Promise<void> {
  if (reports.length === 0) return;
  const { session } = transaction;
  const references = reports.map(({ reference }) => reference);
  const payments = new Map(await store.load(references, session));
  await applyReports(breaks, reports, payments, transaction);
  await store.save([...payments.values()], session);
}
