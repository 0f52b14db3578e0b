import type { ReadEntry } from './entries.ts';
import type { Findings } from './findings.ts';
import { type EntryRecord, toWhole } from './records.ts';

/** The entries, by id, that a page's entries refer to on any page. */
export type EarlierEntries = Pick<ReadonlyMap<string, EntryRecord>, 'get'>;

/** The earlier entries of entries that refer to none. */
export const noEarlierEntries: EarlierEntries = new Map();

/** The ids of entries that must have been written before this one, on any page; most entries have none. */
export function earlierIdsOf({
  kind,
  reference,
}: Pick<EntryRecord, 'kind' | 'reference'>): readonly string[] {
  if (kind === 'refund') return [`${reference}/capture`];
  return kind === 'refundFee' ? [`${reference}/fee`] : [];
}

/**
 * Checks entries that are valid only together with others (L5, L7, L10): a refund needs an earlier capture, the refund
 * of a fee follows its refund, and a rail cost follows the payment that it was paid for.
 */
export function checkDependentEntries(
  findings: Findings,
  entries: readonly ReadEntry[],
  earlier: EarlierEntries,
): void {
  for (const [index, entry] of entries.entries()) {
    const { kind, reference } = entry;
    if (kind !== 'railCost' && kind !== 'refund' && kind !== 'refundFee') continue;
    if (kind === 'refund') {
      checkRefund(findings, entry, earlier.get(`${reference}/capture`));
      continue;
    }
    // They are written together, in this order: capture or collect, its fee if there is one, its rail cost.
    const before = entries.slice(Math.max(0, index - 2), index).filter((one) => one.reference === reference);
    if (kind === 'railCost') checkRailCost(findings, entry, before);
    else checkRefundFee(findings, entry, before, earlier.get(`${reference}/fee`));
  }
}

function checkRefund(findings: Findings, entry: ReadEntry, capture: EntryRecord | undefined): void {
  const { id, reference, amount, debit } = entry;
  if (!capture || !isBefore(capture, 'capture', entry)) {
    findings.report('L5', id, `refunds ${reference}, which was not captured before`);
    return;
  }
  const captured = toWhole(capture.amount);
  if (amount !== captured) findings.report('L10', id, `gives back ${amount}; ${captured} was captured`);
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
  entry: ReadEntry,
  before: readonly ReadEntry[],
  fee: EntryRecord | undefined,
): void {
  const { id, reference, amount } = entry;
  if (!before.some(({ kind, wallet }) => kind === 'refund' && wallet === entry.wallet)) {
    findings.report('L5', id, `gives the fee of ${reference} back, but stands behind no refund`);
  }
  const taken = fee && isBefore(fee, 'fee', entry) ? toWhole(fee.amount) : 0n;
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

function isBefore(earlier: EntryRecord, kind: string, { wallet, sequence }: ReadEntry): boolean {
  return (
    earlier.kind === kind && earlier.wallet === wallet && toWhole(earlier.walletSequence) < BigInt(sequence)
  );
}
