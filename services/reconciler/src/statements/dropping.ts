import type { Transaction } from '@pesewa/messaging';
import type { AnyBulkWriteOperation } from 'mongodb';
import { commitEach, inBatches } from '../batches.ts';
import type { Field } from '../domain/break-kinds.ts';
import { breakId, toWithdrawal } from '../domain/observing.ts';
import type { Keep } from '../matching/store.ts';
import { applyToPayments } from './breaks.ts';
import type { StatementDeps } from './deps.ts';
import { matchAgain } from './settling.ts';
import {
  lineId,
  paymentRecordId,
  type RecordDocument,
  type StatementDocument,
  type StatementStore,
  unknownOf,
  usesOf,
} from './store.ts';
import { mustHave } from './window.ts';

const DELETED_AT_ONCE = 2_000;

/** Records of a statement that another mapping reads anew. */
interface Replaced {
  readonly replacedBy: string;
  readonly items: readonly RecordDocument[];
}

/**
 * Builds what drops a statement. The payments that it has compared, by a line or for want of one, must be compared by
 * another one, and the other statements of the rail about them say again what its lines kept from being said. Its breaks
 * stay; only the statement that replaces it takes back what it reads otherwise.
 */
export function createDropping(deps: StatementDeps) {
  const { payments, statementStore } = deps;
  const { runs, records } = statementStore;
  const takeBackOnce = commitEach(
    deps.messaging,
    'reconciler.statement-breaks',
    (replaced: Replaced, transaction) => takeBack(deps, replaced, transaction),
  );

  /** What others must compare and say in place of a statement whose file was stored. */
  async function giveUp(statement: StatementDocument, keep: Keep): Promise<void> {
    const { _id: run, rail, window, replacedBy } = statement;
    for await (const page of window ? payments.ended(window) : []) {
      await keep();
      const placed = page.filter((payment) => mustHave(statement, payment));
      await payments.compareAgain(placed.map(({ _id }) => _id));
    }
    const done = await runs.find({ rail, stage: 'done' }).toArray();
    const others = new Set<string>();
    const saying = { run, $or: [{ payment: { $exists: true } }, { breaks: { $exists: true } }] };
    for await (const items of inBatches(records.find(saying))) {
      await keep();
      await payments.compareAgain(items.flatMap(({ payment }) => payment ?? []));
      for (const other of await sayingToo(deps, items, done)) others.add(other);
      if (replacedBy !== undefined) await takeBackOnce({ replacedBy, items });
    }
    if (others.size > 0) await matchAgain(deps, { rail, _id: { $in: [...others] } });
  }

  return async (statement: StatementDocument, keep: Keep): Promise<void> => {
    if (statement.file) await giveUp(statement, keep);
    await removeRecords(statementStore, statement._id, keep);
    await runs.deleteOne({ _id: statement._id });
  };
}

/** The statements that have lines of the same payments as these records, miss them as one of `done`, or say the same. */
async function sayingToo(
  { payments, statementStore: { records } }: StatementDeps,
  items: readonly RecordDocument[],
  done: readonly StatementDocument[],
): Promise<readonly string[]> {
  const references = items.flatMap(({ payment, row }) => payment ?? row?.reference ?? []);
  const missing = (await payments.find(references)).flatMap((payment) =>
    done.filter((one) => mustHave(one, payment)).map(({ _id }) => paymentRecordId(_id, payment._id)),
  );
  const breaks = items.flatMap((item) => item.breaks ?? []);
  const same = [{ _id: { $in: missing } }, { breaks: { $in: breaks } }];
  return records.distinct('run', { $or: [usesOf(references), unknownOf(references), ...same] });
}

/**
 * Takes back what lines have said and nothing says any more, where another mapping reads them as movements. What stands
 * goes with the line, which a further mapping may read.
 */
export async function takeBack(
  deps: Pick<StatementDeps, 'statementStore' | 'breaks' | 'store' | 'clock'>,
  { replacedBy, items }: Replaced,
  transaction: Transaction,
): Promise<void> {
  const { session } = transaction;
  const { records } = deps.statementStore;
  const said = items.flatMap(({ _id, line, breaks = [] }) =>
    line === undefined ? [] : breaks.map((id) => ({ _id, id, reread: lineId(replacedBy, line) })),
  );
  if (said.length === 0) return;
  const isMovement = { result: { $in: ['matched', 'differs'] as const } };
  const lines = await records
    .find({ _id: { $in: said.map(({ reread }) => reread) }, ...isMovement }, { session })
    .toArray();
  const rereadById = new Map(lines.map((line) => [line._id, line]));
  const ids = [...new Set(said.map(({ id }) => id))];
  const breaks = await deps.breaks.findAll(ids, session);
  const open = new Set(breaks.filter(({ status }) => status === 'open').map(({ _id }) => _id));
  const gone = new Set<string>();
  const writes = said.flatMap(({ _id, id, reread }): readonly AnyBulkWriteOperation<RecordDocument>[] => {
    const isGone = saysOtherwise(rereadById.get(reread), id);
    if (isGone) gone.add(id);
    if (isGone) return [{ updateOne: { filter: { _id }, update: { $pull: { breaks: id } } } }];
    const kept = { filter: { _id: reread }, update: { $addToSet: { breaks: id } } };
    return open.has(id) ? [{ updateOne: kept }] : [];
  });
  if (writes.length > 0) await records.bulkWrite(writes, { session });
  const standing = new Set(await records.distinct('breaks', { breaks: { $in: [...gone] } }, { session }));
  const resolution = `the statement ${replacedBy} reads the same line in another way`;
  const at = new Date(deps.clock.nowMs());
  const withdrawn = breaks
    .filter(({ _id }) => gone.has(_id) && !standing.has(_id))
    .flatMap(({ reference, field, observations }) =>
      observations
        .filter(({ observer }) => observer === 'statement')
        .map(({ kind }) => toWithdrawal(reference, { kind, field, resolution }, at)),
    );
  await applyToPayments(deps, withdrawn, transaction);
}

/** Whether a line is one of another payment than a break, or has compared its field and says nothing of it. */
function saysOtherwise(line: RecordDocument | undefined, id: string): boolean {
  if (!line) return false;
  const { payment = '', compared = [], differences = [] } = line;
  const isOf = (field: Field) => breakId(payment, field) === id;
  if (!id.startsWith(`${payment}/`)) return true;
  return compared.some(isOf) && !differences.some(({ field }) => isOf(field));
}

/** Deletes the records of a statement that takes no more lines. */
export async function removeRecords(
  { records }: Pick<StatementStore, 'records'>,
  run: string,
  keep: Keep,
): Promise<void> {
  for (;;) {
    await keep();
    const ids = { projection: { _id: 1 }, limit: DELETED_AT_ONCE } as const;
    const page = await records.find({ run }, ids).toArray();
    if (page.length === 0) return;
    await records.deleteMany({ _id: { $in: page.map((record) => record._id) } });
  }
}
