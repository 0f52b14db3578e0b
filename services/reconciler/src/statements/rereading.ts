import type { Transaction } from '@pesewa/messaging';
import type { Break, Withdrawal } from '../domain/break.ts';
import { toWithdrawal } from '../domain/observing.ts';
import { differencesOf } from '../domain/statement-matching.ts';
import { kindOf } from './findings.ts';
import { lineId, type RecordDocument, type StatementDocument, type StatementStore } from './store.ts';

/**
 * What a statement takes back of what the same file said when another mapping read it before: of each line that now stands
 * for a movement of a payment of ours, what it has compared and says no longer. What another file says too stays, and so
 * does what this mapping can't read or does not compare.
 */
export async function rereadWithdrawals(
  { runs, records }: Pick<StatementStore, 'runs' | 'records'>,
  statement: StatementDocument,
  breaks: readonly Break[],
  { session, at }: Pick<Transaction, 'session'> & { readonly at: Date },
): Promise<readonly Withdrawal[]> {
  const { _id, rail, digest, requestedAt } = statement;
  const sameFile = await runs
    .find({ rail, digest, requestedAt: { $lt: requestedAt }, trial: { $exists: false } }, { session })
    .project<Pick<StatementDocument, '_id'>>({ _id: 1 })
    .toArray();
  if (sameFile.length === 0) return [];
  const uses = breaks.flatMap(({ reference }) => [reference, `${reference}/reversal`]);
  const breakIds = breaks.map((one) => one._id);
  const said = await records
    .find({ $or: [{ uses: { $in: uses } }, { breakId: { $in: breakIds } }] }, { session })
    .toArray();
  const isOfFile = new Set(sameFile.map((other) => other._id));
  const rereadOf = ({ run, line }: RecordDocument) =>
    line !== undefined && isOfFile.has(run) ? [lineId(_id, line)] : [];
  const reread = await records
    .find({ _id: { $in: said.flatMap(rereadOf) }, result: { $in: ['matched', 'differs'] } }, { session })
    .toArray();
  const rereadById = new Map(reread.map((line) => [line._id, line]));
  return breaks.flatMap((one) => {
    const sources = said.filter(
      (line) => line.breakId === one._id || line.alsoCoveredBy?.includes(one._id) === true,
    );
    const isTakenBack = (line: RecordDocument | undefined) =>
      line !== undefined &&
      (line.payment !== one.reference ||
        (line.compared?.includes(one.field) === true && !differencesOf(line).has(one.field)));
    const isGone = sources.every((line) => rereadOf(line).some((now) => isTakenBack(rereadById.get(now))));
    // `every` of nothing is not known to be gone: its lines may be deleted by now.
    if (sources.length === 0 || !isGone) return [];
    const kinds = new Set(sources.map(({ result }) => kindOf(result)));
    const resolution = `the statement ${_id} reads the same line in another way`;
    return one.observations
      .filter((said) => said.observer === 'statement' && said.rail === rail && kinds.has(said.kind))
      .map(({ kind }) => toWithdrawal(one.reference, { kind, field: one.field, resolution }, at));
  });
}
