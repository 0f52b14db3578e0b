import type { Transaction } from '@pesewa/messaging';
import type { Break, FoundBreak, Withdrawal } from '../domain/break.ts';
import type { BreakKind } from '../domain/break-kinds.ts';
import { toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import type { Finding } from '../domain/question.ts';
import { differencesOf, movedAgain } from '../domain/statement-matching.ts';
import { type RecordDocument, type StatementDocument, type StatementStore, subjectOf } from './store.ts';

const kinds = {
  differs: 'statement.differs',
  not_in_books: 'statement.not_in_books',
  duplicate: 'statement.not_in_books',
  not_on_statement: 'statement.not_on_statement',
} as const satisfies Record<string, BreakKind>;

/** The kind of break that a result opens; undefined if it opens none. */
export function kindOf(result: string): BreakKind | undefined {
  return result in kinds ? kinds[result as keyof typeof kinds] : undefined;
}

/** The breaks for records, by record: none if no money is involved. */
export async function breaksOfRecords(
  statementStore: Pick<StatementStore, 'records'>,
  statement: StatementDocument,
  records: readonly RecordDocument[],
  { session, openedAt }: Pick<Transaction, 'session'> & { readonly openedAt: Date },
): Promise<ReadonlyMap<string, readonly FoundBreak[]>> {
  const doubled = records.flatMap(({ result, payment }) =>
    result === 'duplicate' && payment !== undefined ? [payment, `${payment}/reversal`] : [],
  );
  const lines =
    doubled.length === 0
      ? []
      : await statementStore.records
          .find({ uses: { $in: doubled }, run: statement._id }, { session })
          .toArray();
  const found = new Map<string, readonly FoundBreak[]>();
  for (const record of records) {
    const { result, row, payment, difference = null } = record;
    const kind = kindOf(result);
    if (!kind || !row) continue;
    const holders = lines.filter((line) => line.payment === payment);
    const isAgain = result === 'duplicate' && holders.every((line) => line.row && movedAgain(row, line.row));
    if (result === 'duplicate' && !isAgain) continue;
    if (result === 'not_in_books' && row.status !== 'completed') continue;
    const reference =
      kind === 'statement.not_in_books'
        ? subjectOf(statement.rail, record)
        : (payment ?? subjectOf(statement.rail, record));
    const place = { rail: statement.rail, currency: row.currency };
    const about = (finding: Finding) => toFoundBreak(reference, finding, place, openedAt);
    if (result !== 'differs') {
      const amount = result === 'duplicate' ? row.amount : difference;
      found.set(record._id, [about({ kind, amount, detail: detailOf(record) })]);
      continue;
    }
    const isReversal = record.uses !== payment;
    const ofWhat = isReversal ? ' of the reversal' : '';
    const differences = [...differencesOf(record)].map(([field, amount]) => {
      const detail = `the rail's statement has another ${field}${ofWhat}`;
      return about({ kind, field, amount, detail, ...(isReversal && { ofReversal: true }) });
    });
    found.set(record._id, differences);
  }
  return found;
}

/** The lines of a statement that stand for movements of a payment. */
type Lines = readonly Pick<
  RecordDocument,
  'uses' | 'compared' | 'differsIn' | 'difference' | 'feeDifference'
>[];

/**
 * What a statement takes back of what statements of its rail have said of a field: only what one of its lines was
 * compared in, and has as we do. That the payment has a line at all answers what was said for want of one.
 */
export function withdrawalsOf(
  { _id, rail }: Pick<StatementDocument, '_id' | 'rail'>,
  { reference, field, observations }: Pick<Break, 'reference' | 'field' | 'observations'>,
  lines: Lines,
  at: Date,
): readonly Withdrawal[] {
  const own = lines.find(({ uses }) => uses === reference);
  const reversal = lines.find(({ uses }) => uses === `${reference}/reversal`);
  const resolution = `the statement ${_id} has it as we have`;
  return observations
    .filter((said) => {
      if (said.observer !== 'statement' || said.rail !== rail) return false;
      if (said.kind === 'statement.not_on_statement') return own !== undefined;
      if (said.kind === 'statement.not_in_books') return (own ?? reversal) !== undefined;
      const line = said.ofReversal ? reversal : own;
      return line?.compared?.includes(field) === true && !differencesOf(line).has(field);
    })
    .map(({ kind }) => toWithdrawal(reference, { kind, field, resolution }, at));
}

function detailOf({ result, payment, row }: RecordDocument): string {
  if (result === 'not_on_statement') return "the rail's statement has no line for the payment";
  if (result === 'duplicate')
    return `a further line of the rail's statement moves money for ${payment ?? 'a payment'}`;
  return (row?.reference ?? null) === null
    ? "a line of the rail's statement names no payment"
    : "a line of the rail's statement names an unknown payment";
}
