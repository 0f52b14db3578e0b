import type { Transaction } from '@pesewa/messaging';
import type { Break, FoundBreak, Withdrawal } from '../domain/break.ts';
import type { BreakKind, Field } from '../domain/break-kinds.ts';
import type { Finding } from '../domain/judging.ts';
import { toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import { differencesOf, movedAgain } from '../domain/statement-matching.ts';
import {
  type RecordDocument,
  type StatedLine,
  type StatementDocument,
  type StatementStore,
  subjectOf,
} from './store.ts';

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

/** The line that has the last word on a field of a movement at a rail: that of the newest statement that compared it. */
function lastWord(
  lines: readonly StatedLine[],
  { rail, movement, field }: { readonly rail: string; readonly movement: string; readonly field: Field },
): StatedLine | undefined {
  return lines.find(
    (line) => line.rail === rail && line.uses === movement && line.compared?.includes(field) === true,
  );
}

/** The breaks for records, by record: none if no money is involved, or a newer statement has the last word. */
export async function breaksOfRecords(
  statementStore: Pick<StatementStore, 'records'>,
  statement: StatementDocument,
  records: readonly RecordDocument[],
  { session, openedAt }: Pick<Transaction, 'session'> & { readonly openedAt: Date },
  stated: readonly StatedLine[] = [],
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
    const about = (finding: Finding) => {
      // What people have seen of a line is no news when its statement is matched again.
      const said = { ...finding, about: [`${record._id} ${finding.amount}`] };
      return toFoundBreak(reference, said, place, openedAt);
    };
    if (result !== 'differs') {
      const amount = result === 'duplicate' ? row.amount : difference;
      found.set(record._id, [about({ kind, amount, detail: detailOf(record) })]);
      continue;
    }
    const isReversal = record.uses !== payment;
    const ofWhat = isReversal ? ' of the reversal' : '';
    const differences = [...differencesOf(record)].flatMap(([field, amount]) => {
      const last = lastWord(stated, { rail: statement.rail, movement: record.uses ?? '', field });
      if (last && last._id !== record._id) return [];
      const detail = `the rail's statement has another ${field}${ofWhat}`;
      return about({ kind, field, amount, detail, ...(isReversal && { ofReversal: true }) });
    });
    if (differences.length > 0) found.set(record._id, differences);
  }
  return found;
}

/**
 * What the lines of a payment, those of the newest statement first, take back of what statements have said of a field:
 * what the newest that has compared it has as we do, whichever statement said so. That the payment has a line at all
 * answers what was said for want of one.
 */
export function withdrawalsOf(
  { reference, field, observations }: Pick<Break, 'reference' | 'field' | 'observations'>,
  lines: readonly StatedLine[],
  at: Date,
): readonly Withdrawal[] {
  const reversal = `${reference}/reversal`;
  return observations.flatMap(({ observer, kind, rail, ofReversal }) => {
    if (observer !== 'statement' || rail === undefined) return [];
    const word = (movement: string, about = field) => lastWord(lines, { rail, movement, field: about });
    const isDiffering = kind === 'statement.differs';
    const found = isDiffering ? word(ofReversal ? reversal : reference) : word(reference, 'existence');
    const line = found ?? (kind === 'statement.not_in_books' ? word(reversal, 'existence') : undefined);
    if (!line || (isDiffering && differencesOf(line).has(field))) return [];
    const resolution = `the statement ${line.run} has it as we have`;
    return toWithdrawal(reference, { kind, field, resolution }, at);
  });
}

function detailOf({ result, payment, row }: RecordDocument): string {
  if (result === 'not_on_statement') return "the rail's statement has no line for the payment";
  if (result === 'duplicate')
    return `a further line of the rail's statement moves money for ${payment ?? 'a payment'}`;
  return (row?.reference ?? null) === null
    ? "a line of the rail's statement names no payment"
    : "a line of the rail's statement names an unknown payment";
}
