import type { Findings } from './findings.ts';
import type { Disagreement } from './recheck.ts';
import { type EntryRecord, type PaymentRecord, type PostingRecord, readWhole, toWhole } from './records.ts';

/** The kinds of postings of a payout. */
export const payoutKinds = ['hold', 'capture', 'release', 'refund'] as const;

/** The kinds of postings of a collection. */
export const collectionKinds = ['collect'] as const;

/** A payment's entries, keyed by their kind. */
export type EntriesByKind = ReadonlyMap<
  string,
  Pick<EntryRecord, 'amount'> & Pick<PostingRecord, 'currency' | 'wallet'>
>;

/** The entries that a payout has in each status; kinds in neither list are optional. */
const expectations: Readonly<
  Record<string, { readonly some: readonly string[]; readonly none: readonly string[] }>
> = {
  INITIALIZED: { some: ['hold'], none: ['capture', 'fee', 'release', 'refund', 'refundFee'] },
  COMPLETED: { some: ['hold', 'capture'], none: ['release', 'refund', 'refundFee'] },
  FAILED: { some: ['hold', 'release'], none: ['capture', 'fee', 'refund', 'refundFee'] },
  REVERSED: { some: ['hold', 'capture', 'refund'], none: ['release'] },
};

/** Checks a payout's record against its entries and its refusal (L5, L10). */
export function checkPayout(
  payout: PaymentRecord,
  entries: EntriesByKind,
  isRefused: boolean,
): readonly Disagreement[] {
  const { status, step, merchantId, currency } = payout;
  const expected = expectations[status];
  if (!expected) return [['L5', `its status ${status} is unknown`]];
  const disagreements: Disagreement[] = [];
  if (isRefused && entries.has('hold')) disagreements.push(['L5', 'its hold was both placed and refused']);
  else if (isRefused) {
    if (status !== 'FAILED' && step !== 'awaitingHold')
      disagreements.push(['L5', `is ${status}, but its hold was refused`]);
  } else if (step !== 'awaitingHold') {
    for (const kind of expected.some.filter((each) => !entries.has(each))) {
      disagreements.push(['L5', `is ${status}, but has no ${kind}`]);
    }
  }
  for (const kind of expected.none.filter((each) => entries.has(each))) {
    disagreements.push(['L5', `is ${status}, but has a ${kind}`]);
  }
  const [amount, fee] = [toWhole(payout.amount), toWhole(payout.fee)];
  const amounts = {
    hold: amount + fee,
    capture: amount,
    release: amount + fee,
    refund: amount,
    refundFee: fee,
  };
  for (const [kind, due] of Object.entries(amounts)) {
    const found = amountOf(entries, kind);
    if (found !== undefined && found !== due) {
      disagreements.push(['L10', `its ${kind} is ${found}; its record says ${amount} and a fee of ${fee}`]);
    }
  }
  const taken = amountOf(entries, 'fee') ?? 0n;
  if (entries.has('capture') && taken !== fee)
    disagreements.push(['L10', `a fee of ${taken} was taken; its record says ${fee}`]);
  if (isElsewhere(entries, merchantId, currency))
    disagreements.push(['L10', 'its entries are in another wallet']);
  return disagreements;
}

/** Checks a collection's record against its entries (L11). */
export function checkCollection(collection: PaymentRecord, entries: EntriesByKind): readonly Disagreement[] {
  const { status, merchantId, currency } = collection;
  if (status !== 'COMPLETED') {
    return entries.size > 0 ? [['L11', `is ${status}, but was credited`]] : [];
  }
  const fee = toWhole(collection.fee);
  const net = toWhole(collection.amountReceived ?? collection.amount) - fee;
  const disagreements: Disagreement[] = [];
  const credited = amountOf(entries, 'collect') ?? 0n;
  if (credited !== net)
    disagreements.push(['L11', `was credited ${credited}; received less the fee is ${net}`]);
  const taken = amountOf(entries, 'fee') ?? 0n;
  if (taken !== fee) disagreements.push(['L11', `a fee of ${taken} was taken; its record says ${fee}`]);
  if (isElsewhere(entries, merchantId, currency))
    disagreements.push(['L11', 'its entries are in another wallet']);
  return disagreements;
}

/** Checks the types of a payment's money (L8). */
export function checkMoney(
  findings: Findings,
  subject: string,
  { amount, amountReceived, fee }: Pick<PaymentRecord, 'amount' | 'amountReceived' | 'fee'>,
): void {
  readWhole(findings, subject, 'amount', amount);
  if (amountReceived !== undefined) readWhole(findings, subject, 'amountReceived', amountReceived);
  readWhole(findings, subject, 'fee', fee);
}

function amountOf(entries: EntriesByKind, kind: string): bigint | undefined {
  const entry = entries.get(kind);
  return entry && toWhole(entry.amount);
}

function isElsewhere(entries: EntriesByKind, merchantId: string, currency: string): boolean {
  const own = `${merchantId}:${currency}`;
  return [...entries.values()].some(
    ({ wallet, currency: moved }) => moved !== currency || (wallet !== undefined && wallet !== own),
  );
}
