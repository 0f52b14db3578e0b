import type { ReadEntry } from './entries.ts';
import type { Findings } from './findings.ts';
import { type EntryRecord, type PostingRecord, toWhole } from './records.ts';

/** The postings, by id, that a page's postings refer to on any page. */
export type EarlierPostings = Pick<ReadonlyMap<string, PostingRecord>, 'get'>;

/** The earlier postings of postings that refer to none. */
export const noEarlierPostings: EarlierPostings = new Map();

/** The id of the posting that must have been written before this one, on any page; most postings have none. */
export function earlierIdOf({
  kind,
  reference,
}: Pick<PostingRecord, 'kind' | 'reference'>): string | undefined {
  return kind === 'refund' ? `${reference}/capture` : undefined;
}

/**
 * Checks the entries of a posting that are valid only together with others (L5, L7, L10): a refund needs an earlier
 * capture, the refund of a fee follows its refund, and a rail cost follows the payment that it was paid for.
 */
export function checkDependentEntries(
  findings: Findings,
  entries: readonly ReadEntry[],
  earlier: EarlierPostings,
): void {
  for (const [index, entry] of entries.entries()) {
    const before = entries.slice(0, index);
    if (entry.kind === 'railCost') checkRailCost(findings, entry, before);
    if (entry.kind !== 'refund' && entry.kind !== 'refundFee') continue;
    const capture = earlier.get(`${entry.reference}/capture`);
    const captured = capture && isBefore(capture, entry) ? capture.entries : [];
    if (entry.kind === 'refund') checkRefund(findings, entry, captured);
    else checkRefundFee(findings, entry, before, captured);
  }
}

function checkRefund(
  findings: Findings,
  { id, reference, amount, debit }: ReadEntry,
  captured: readonly EntryRecord[],
): void {
  const capture = captured.find(({ kind }) => kind === 'capture');
  if (!capture) {
    findings.report('L5', id, `refunds ${reference}, which was not captured before`);
    return;
  }
  const taken = toWhole(capture.amount);
  if (amount !== taken) findings.report('L10', id, `gives back ${amount}; ${taken} was captured`);
  if (debit?.name !== capture.credit) {
    findings.report(
      'L5',
      id,
      `takes from ${debit?.name ?? 'nowhere'}, but was captured to ${capture.credit}`,
    );
  }
}

function checkRefundFee(
  findings: Findings,
  { id, reference, amount, wallet }: ReadEntry,
  before: readonly ReadEntry[],
  captured: readonly EntryRecord[],
): void {
  if (!before.some((one) => one.kind === 'refund' && one.wallet === wallet)) {
    findings.report('L5', id, `gives the fee of ${reference} back, but stands behind no refund`);
  }
  const taken = toWhole(captured.find(({ kind }) => kind === 'fee')?.amount);
  if (amount !== taken) findings.report('L10', id, `gives a fee of ${amount} back; ${taken} was taken`);
}

function checkRailCost(findings: Findings, entry: ReadEntry, before: readonly ReadEntry[]): void {
  const { id, reference, credit } = entry;
  const isCaused = before.some(
    ({ kind, debit: from, credit: to }) =>
      (kind === 'capture' && to?.name === credit?.name) ||
      ((kind === 'collect' || kind === 'fee') && from?.name === credit?.name),
  );
  if (!isCaused) {
    findings.report(
      'L7',
      id,
      `is a cost of ${reference}, but stands behind neither its capture nor its credit`,
    );
  }
}

function isBefore(earlier: PostingRecord, { wallet, sequence }: ReadEntry): boolean {
  return (
    earlier.kind === 'capture' &&
    earlier.wallet === wallet &&
    toWhole(earlier.walletSequence) < BigInt(sequence)
  );
}
