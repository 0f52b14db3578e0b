import type { RailStatementRecordView, RailStatementView } from '@pesewa/contracts';

/** What a match of a close is worth: nobody may take the amount of a collection for compared that no lookup tells. */
export const CLOSE_MATCHES =
  'matched: payouts by status, amount and fee; collections that were looked up by status alone, because a lookup tells no amount of them: only a statement does';

/** Why a record of a statement is not matched, besides what its result says. */
export function whyUnmatched({
  reason,
  result,
  reference,
  differsIn,
}: RailStatementRecordView): string | null {
  if (reason !== null) return reason;
  if (differsIn.length > 0) return `another ${differsIn.join(' and ')}`;
  if (result !== 'not_in_books') return null;
  return reference === null ? 'it names no payment' : 'it names an unknown payment';
}

/** What became of the lines of a statement's file: those that are read, and those that have no record of their own. */
export function describeLines(file: NonNullable<RailStatementView['file']>): string {
  const { before, heading, blank, records, continued } = file;
  const others = Object.entries({ 'before the heading': before, heading, blank, continued })
    .filter(([, count]) => count > 0)
    .map(([what, count]) => `${count} ${what}`);
  const all = before + heading + blank + records + continued;
  return `the file has ${all.toLocaleString('en-GB')}: ${[`${records.toLocaleString('en-GB')} that ${records === 1 ? 'is' : 'are'} read`, ...others].join(', ')}`;
}
