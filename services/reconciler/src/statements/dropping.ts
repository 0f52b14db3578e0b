import type { Transaction } from '@pesewa/messaging';
import { commitEach, inBatches } from '../batches.ts';
import type { Field } from '../domain/break-kinds.ts';
import { breakId, toWithdrawal } from '../domain/observing.ts';
import type { Keep } from '../matching/store.ts';
import { applyToPayments } from './breaks.ts';
import type { StatementDeps } from './deps.ts';
import { kindOf } from './findings.ts';
import { matchAgain } from './settling.ts';
import { lineId, type RecordDocument, type StatementDocument, type StatementStore } from './store.ts';
import { mustHave } from './window.ts';

const DELETED_AT_ONCE = 2_000;

/** Records of a statement that another mapping reads anew. */
interface Replaced {
  readonly replacedBy: string;
  readonly items: readonly RecordDocument[];
}

/**
 * Builds what drops a statement. The payments that it has compared, by a line or for want of one, must be compared by
 * another one, and the other statements of the rail say again what its lines kept from being said. Its breaks stay; only the
 * statement that replaces it takes back what it reads otherwise.
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
    const saying = { run, $or: [{ payment: { $exists: true } }, { breaks: { $exists: true } }] };
    for await (const items of inBatches(records.find(saying))) {
      await keep();
      await payments.compareAgain(items.flatMap(({ payment }) => payment ?? []));
      if (replacedBy !== undefined) await takeBackOnce({ replacedBy, items });
    }
    await matchAgain(deps, { rail });
  }

  return async (statement: StatementDocument, keep: Keep): Promise<void> => {
    if (statement.file) await giveUp(statement, keep);
    await removeRecords(statementStore, statement._id, keep);
    await runs.deleteOne({ _id: statement._id });
  };
}

/** Takes back what lines have said and nothing says any more, where another mapping reads them as movements. */
async function takeBack(
  deps: StatementDeps,
  { replacedBy, items }: Replaced,
  transaction: Transaction,
): Promise<void> {
  const { session } = transaction;
  const { records } = deps.statementStore;
  const said = items.flatMap(({ _id, line, result, breaks = [] }) => {
    const kind = kindOf(result);
    if (line === undefined || !kind) return [];
    return breaks.map((id) => ({ _id, id, kind, reread: lineId(replacedBy, line) }));
  });
  const isMovement = { result: { $in: ['matched', 'differs'] as const } };
  const lines = await records
    .find({ _id: { $in: said.map(({ reread }) => reread) }, ...isMovement }, { session })
    .toArray();
  const rereadById = new Map(lines.map((line) => [line._id, line]));
  const gone = said.filter(({ id, reread }) => saysOtherwise(rereadById.get(reread), id));
  if (gone.length === 0) return;
  const writes = gone.map(({ _id, id }) => ({
    updateOne: { filter: { _id }, update: { $pull: { breaks: id } } },
  }));
  await records.bulkWrite(writes, { session });
  const ids = gone.map(({ id }) => id);
  const standing = new Set(await records.distinct('breaks', { breaks: { $in: ids } }, { session }));
  const breaks = await deps.breaks.findAll(
    ids.filter((id) => !standing.has(id)),
    session,
  );
  const at = new Date(deps.clock.nowMs());
  const resolution = `the statement ${replacedBy} reads the same line in another way`;
  const withdrawals = breaks.flatMap(({ _id, reference, field }) =>
    gone
      .filter(({ id }) => id === _id)
      .map(({ kind }) => toWithdrawal(reference, { kind, field, resolution }, at)),
  );
  await applyToPayments(deps, withdrawals, transaction);
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
