import type { Break, FoundBreak, Withdrawal } from '../domain/break.ts';
import type { BreakKind, Field } from '../domain/break-kinds.ts';
import { toFoundBreak, toWithdrawal } from '../domain/observing.ts';
import { type LineDifference, movedAgain } from '../domain/statement-matching.ts';
import { type RecordDocument, type StatedLine, type StatementDocument, subjectOf } from './store.ts';

const kinds = {
  differs: 'statement.differs',
  not_in_books: 'statement.not_in_books',
  duplicate: 'statement.not_in_books',
  not_on_statement: 'statement.not_on_statement',
} as const satisfies Record<string, BreakKind>;

/** The kind of break that a result opens; undefined if it opens none. */
function kindOf(result: string): BreakKind | undefined {
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
  const { result, row, payment, uses = '' } = record;
  const kind = kindOf(result);
  if (!kind || !row) return [];
  const isUnknown = kind === 'statement.not_in_books';
  const isReversal = result === 'differs' && uses !== payment;
  const isAnswered = (field: Field) => {
    if (result === 'duplicate') return false;
    if (result !== 'differs') return existenceOf(stated, rail, isUnknown, payment ?? row.reference);
    const last = lastWord(stated, { rail, movement: uses, field });
    return last && last._id !== record._id;
  };
  return differencesOf(record, stated).flatMap(({ field, minor: amount }) => {
    if (isAnswered(field)) return [];
    // What people have seen of a line is no news when its statement is matched, or the same one is uploaded, again.
    const about = [`${name}${record._id.slice(run.length)} ${amount}`];
    const detail = detailOf(record, field, isReversal);
    const finding = { kind, field, amount, detail, about, ...(isReversal && { ofReversal: true as const }) };
    const subject = isUnknown ? subjectOf(rail, record) : (payment ?? '');
    return toFoundBreak(subject, finding, { rail, currency: row.currency }, openedAt);
  });
}

/** What a record says of our books; a duplicate only if it moved money again, an unknown one only if it moved any. */
function differencesOf(record: RecordDocument, stated: readonly StatedLine[]): readonly LineDifference[] {
  const { run, result, row, payment, differences = [] } = record;
  if (result === 'not_in_books' && row?.status !== 'completed') return [];
  if (result !== 'duplicate' || !row) return differences;
  const holders = stated.filter((line) => line.run === run && line.payment === payment);
  const isAgain = holders.every((line) => line.row && movedAgain(row, line.row));
  return isAgain ? [{ field: 'existence', minor: row.amount }] : [];
}

/** The line by which a payment is there, at the rail and in our books: its own or, if it was unknown here, its reversal's. */
function existenceOf(
  lines: readonly StatedLine[],
  rail: string,
  isUnknown: boolean,
  reference: string | null,
): StatedLine | undefined {
  const word = (movement: string) => lastWord(lines, { rail, movement, field: 'existence' });
  return word(reference ?? '') ?? (isUnknown ? word(`${reference}/reversal`) : undefined);
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
  return observations.flatMap(({ observer, kind, rail, ofReversal }) => {
    if (observer !== 'statement' || rail === undefined) return [];
    const isDiffering = kind === 'statement.differs';
    const movement = ofReversal ? `${reference}/reversal` : reference;
    const isUnknown = kind === 'statement.not_in_books';
    const line = isDiffering
      ? lastWord(lines, { rail, movement, field })
      : existenceOf(lines, rail, isUnknown, reference);
    if (!line || (isDiffering && line.differences?.some((one) => one.field === field))) return [];
    const resolution = `the statement ${line.run} has it as we have`;
    return toWithdrawal(reference, { kind, field, resolution }, at);
  });
}

function detailOf({ result, payment, row }: RecordDocument, field: Field, isReversal: boolean): string {
  if (result === 'differs')
    return `the rail's statement has another ${field}${isReversal ? ' of the reversal' : ''}`;
  if (result === 'not_on_statement') return "the rail's statement has no line for the payment";
  if (result === 'duplicate')
    return `a further line of the rail's statement moves money for ${payment ?? 'a payment'}`;
  return (row?.reference ?? null) === null
    ? "a line of the rail's statement names no payment"
    : "a line of the rail's statement names an unknown payment";
}
