import type { ReadEntry } from './entries.ts';
import type { Findings } from './findings.ts';
import { type PostingRecord, toWhole } from './records.ts';

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

/** Checks that a refund gives back what an earlier capture took, and no other fee (L5, L10). */
export function checkRefunds(
  findings: Findings,
  entries: readonly ReadEntry[],
  earlier: EarlierPostings,
): void {
  for (const entry of entries) {
    const { id, kind, reference, amount, debit } = entry;
    if (kind !== 'refund' && kind !== 'refundFee') continue;
    const capture = earlier.get(`${reference}/capture`);
    const taken = capture && isBefore(capture, entry) ? capture.entries : [];
    const captured = taken.find((one) => one.kind === (kind === 'refund' ? 'capture' : 'fee'));
    const due = toWhole(captured?.amount);
    if (!captured && kind === 'refund') {
      findings.report('L5', id, `refunds ${reference}, which was not captured before`);
      continue;
    }
    if (amount !== due) findings.report('L10', id, `gives back ${amount}; ${due} was taken`);
    if (captured && debit?.name !== captured.credit) {
      const from = debit?.name ?? 'nowhere';
      findings.report('L5', id, `takes from ${from}, but was captured to ${captured.credit}`);
    }
  }
}

function isBefore(earlier: PostingRecord, { wallet, sequence }: ReadEntry): boolean {
  return (
    earlier.kind === 'capture' &&
    earlier.wallet === wallet &&
    toWhole(earlier.walletSequence) < BigInt(sequence)
  );
}
