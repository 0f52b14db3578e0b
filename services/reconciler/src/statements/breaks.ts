import { isDeepStrictEqual } from 'node:util';
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
import { linesAbout, type RecordDocument, type StatementDocument } from './store.ts';

const BREAKS_PER_STEP = 200;

/** The results that may lead to a break, in the order in which they are handled. */
const breakResults = ['differs', 'not_on_statement', 'not_in_books', 'duplicate'] as const;

/**
 * Builds what opens the breaks of a matched statement, and closes those that statements explain; it gives how many
 * discrepancies the limit hides. If it stops, it begins again: what was said is no news.
 */
export function createStatementBreaks(deps: StatementDeps) {
  const { records } = deps.statementStore;
  const closeOnce = commitEach(
    deps.messaging,
    'reconciler.statement-breaks',
    (breaks: readonly Break[], transaction) => close(deps, breaks, transaction),
  );
  const openOnce = commitEach(deps.messaging, 'reconciler.statement-breaks', (found: Found, transaction) =>
    open(deps, found, transaction),
  );
  return async (statement: StatementDocument, keep: Keep): Promise<number> => {
    // Breaks are few and lines are many, so the line is searched for each break, at whichever rail it is shown.
    const stated = { observer: 'statement', status: 'unresolved', limit: BREAKS_PER_STEP } as const;
    for await (const items of pagesOfBreaks(deps.breaks, stated)) {
      if (items.length === 0) continue;
      await keep();
      await closeOnce(items);
    }
    let hidden = 0;
    for (const result of breakResults) {
      const ofResult = records.find({ run: statement._id, result }).sort({ _id: 1 });
      for await (const items of inBatches(ofResult)) {
        await keep();
        hidden += await openOnce({ statement, items });
      }
    }
    return hidden;
  };
}

/** Records of a statement that may open breaks. */
interface Found {
  readonly statement: StatementDocument;
  readonly items: readonly RecordDocument[];
}

/** Takes back what statements said and the newest has as we have it. */
async function close(deps: StatementDeps, breaks: readonly Break[], transaction: Transaction): Promise<void> {
  const references = breaks.map(({ reference }) => reference);
  const lines = await linesAbout(deps.statementStore, references, transaction);
  const at = new Date(deps.clock.nowMs());
  const gone = breaks.flatMap((one) => withdrawalsOf(one, lines, at));
  await applyToPayments(deps, gone, transaction);
}

/** Opens the breaks of records up to the limit; gives how many records it hides. A break that stands does not count. */
export async function open(
  deps: Pick<StatementDeps, 'statementStore' | 'breaks' | 'store' | 'clock' | 'breaksMax'>,
  { statement, items: records }: Found,
  transaction: Transaction,
): Promise<number> {
  const { session } = transaction;
  const { statementStore, breaks } = deps;
  const mine = { _id: statement._id, stage: 'breaks' } as const;
  const current = await statementStore.runs.findOne(mine, { session });
  if (!current) return 0;
  const openedAt = new Date(deps.clock.nowMs());
  const references = records.flatMap(({ payment, row }) => payment ?? row?.reference ?? []);
  const stated = await linesAbout(statementStore, references, transaction);
  const found = records
    .map((record) => ({ record, findings: breaksOfRecord(statement, record, stated, openedAt) }))
    .filter(({ findings }) => findings.length > 0);
  const standing = await breaks.findAll(
    found.flatMap(({ findings }) => findings.map(idOf)),
    session,
  );
  const known = new Map(standing.map((one) => [one._id, one]));
  const opening = new Map<string, FoundBreak>();
  const counted = new Set<string>();
  const updates: AnyBulkWriteOperation<RecordDocument>[] = [];
  let [opened, hidden] = [0, 0];
  for (const { record, findings } of found) {
    // Of several lines about one field the first counts.
    const news = findings.filter(
      (one) => !counted.has(idOf(one)) && !isHeld(one, record, known.get(idOf(one))),
    );
    const needed = news.filter((one) => opens(one, known.get(idOf(one)))).length;
    if (needed > 0 && current.opened + opened + needed > deps.breaksMax) {
      hidden += 1;
      continue;
    }
    opened += needed;
    for (const one of news) opening.set(idOf(one), one);
    for (const one of findings) counted.add(idOf(one));
    const said = [...new Set([...findings.map(idOf), ...(record.breaks ?? [])])];
    if (!isDeepStrictEqual(record.breaks, said))
      updates.push({ updateOne: { filter: { _id: record._id }, update: { $set: { breaks: said } } } });
  }
  await applyToPayments(deps, [...opening.values()], transaction);
  if (updates.length > 0) await statementStore.records.bulkWrite(updates, { session });
  if (opened > 0) await statementStore.runs.updateOne(mine, { $inc: { opened } }, { session });
  return hidden;
}

/** In what a finding is the same as what stands; its detail and keys name only the line. */
const SAID = ['kind', 'amount', 'rail', 'currency'] as const;

/** Whether a record has said a finding before, which still stands or was resolved by a person: it is no news then. */
function isHeld(found: FoundBreak, { breaks = [] }: RecordDocument, current: Break | undefined): boolean {
  if (!current || !breaks.includes(current._id)) return false;
  const { status, observations, resolvedBy } = current;
  if (status === 'resolved') return resolvedBy !== undefined;
  return observations.some(
    (one) => one.observer === 'statement' && SAID.every((field) => one[field] === found[field]),
  );
}

/** Whether a finding needs a break that does not stand yet. */
function opens(found: FoundBreak, current: Break | undefined): boolean {
  return current?.status !== 'open' && observe(found, current) !== current;
}

function idOf({ reference, field }: FoundBreak): string {
  return breakId(reference, field);
}

/** Applies reports, and notes them in their payments, if those are known. */
export async function applyToPayments(
  { store, breaks }: Pick<StatementDeps, 'store' | 'breaks'>,
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
