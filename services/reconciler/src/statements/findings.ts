import type { Break, FoundBreak, Withdrawal } from '../domain/break.ts';
import type { BreakKind, Field } from '../domain/break-kinds.ts';
import type { Finding } from '../domain/judging.ts';
import { toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import { differencesOf, movedAgain } from '../domain/statement-matching.ts';
import { type RecordDocument, type StatedLine, type StatementDocument, subjectOf } from './store.ts';

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
    (line) =>
      line.statement.rail === rail && line.uses === movement && line.compared?.includes(field) === true,
  );
}

/** The breaks for a record: none if no money is involved, or a newer statement has the last word. */
export function breaksOfRecord(
  { _id: run, rail, name = run }: Pick<StatementDocument, '_id' | 'rail' | 'name'>,
  record: RecordDocument,
  stated: readonly StatedLine[],
  openedAt: Date,
): readonly FoundBreak[] {
  const { result, row, payment, uses = '', difference = null } = record;
  const kind = kindOf(result);
  if (!kind || !row) return [];
  const isOurs = kind !== 'statement.not_in_books' && payment !== undefined;
  const about = (finding: Omit<Finding, 'kind'>) =>
    toFoundBreak(
      isOurs ? payment : subjectOf(rail, record),
      // What people have seen of a line is no news when its statement is matched, or the same one is uploaded, again.
      { kind, ...finding, about: [`${name}${record._id.slice(run.length)} ${finding.amount}`] },
      { rail, currency: row.currency },
      openedAt,
    );
  if (result === 'differs') {
    const isReversal = uses !== payment;
    return [...differencesOf(record)].flatMap(([field, amount]) => {
      const last = lastWord(stated, { rail, movement: uses, field });
      if (last && last._id !== record._id) return [];
      const detail = `the rail's statement has another ${field}${isReversal ? ' of the reversal' : ''}`;
      return about({ field, amount, detail, ...(isReversal && { ofReversal: true }) });
    });
  }
  if (result === 'not_in_books' && row.status !== 'completed') return [];
  const holders = stated.filter((line) => line.run === run && line.payment === payment);
  const isAgain = holders.every((line) => line.row && movedAgain(row, line.row));
  if (result === 'duplicate' && !isAgain) return [];
  const amount = result === 'duplicate' ? row.amount : difference;
  return [about({ amount, detail: detailOf(record) })];
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
