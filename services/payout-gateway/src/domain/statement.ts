import type { ChainedPosting } from '@pesewa/contracts';

/** What a line of a statement is about, with what it says in words. */
export const lineTypes = {
  PAYOUT: 'Payout',
  PAYOUT_FEE: 'Payout fee',
  PAYOUT_REVERSAL: 'Payout reversed',
  PAYOUT_FEE_REVERSAL: 'Payout fee returned',
  COLLECTION: 'Collection, less its fee',
  FUNDING: 'Wallet funded',
  WITHDRAWAL: 'Withdrawal',
  ADJUSTMENT: 'Adjustment',
} as const;

/** What a line of a statement is about. */
export type LineType = keyof typeof lineTypes;

/** The kinds of the ledger's entries that change the booked balance of a wallet. */
const typeOfKind: ReadonlyMap<string, LineType> = new Map([
  ['capture', 'PAYOUT'],
  ['fee', 'PAYOUT_FEE'],
  ['refund', 'PAYOUT_REVERSAL'],
  ['refundFee', 'PAYOUT_FEE_REVERSAL'],
  ['collect', 'COLLECTION'],
  ['fund', 'FUNDING'],
  ['withdraw', 'WITHDRAWAL'],
  ['adjust', 'ADJUSTMENT'],
]);

/** The kinds of postings that only move money between what is available and what is held: they have no line. */
export const UNBOOKED_KINDS = ['hold', 'release'] as const;

/** What a statement reads of a posting of the ledger; the balances are those after its last entry. */
export type StatedPosting = Pick<
  ChainedPosting,
  'kind' | 'reference' | 'entries' | 'wallet' | 'walletSequence' | 'availableAfter' | 'heldAfter' | 'at'
>;

/** Where a line is on the statement of its wallet: no two lines share a sequence, and time never decreases along it. */
export interface LinePlace {
  readonly atMs: number;
  readonly sequence: bigint;
}

/** A change of a wallet's booked balance, which is what is available and what is held; amounts in minor units. */
export interface StatementLine extends LinePlace {
  readonly type: LineType;
  /** Our reference of the payment or order. */
  readonly reference: string;
  /** Signed. */
  readonly amount: bigint;
  /** Of a collection: our fee, which the amount is without. */
  readonly fee: bigint | null;
  readonly bookedAfter: bigint;
}

/** The lines of a posting, in order; what it moves in accounts of ours is not among them. */
export function linesOf(posting: StatedPosting): readonly StatementLine[] {
  const {
    kind,
    reference,
    entries,
    wallet,
    walletSequence = 0n,
    availableAfter = 0n,
    heldAfter = 0n,
  } = posting;
  const own = `wallet:${wallet ?? ''}:`;
  let sequence = walletSequence;
  let bookedAfter = availableAfter + heldAfter;
  const lines: StatementLine[] = [];
  // Backwards, because a posting has the balances after its last entry.
  for (const entry of entries.toReversed()) {
    const [leaves, comes] = [entry.debit.startsWith(own), entry.credit.startsWith(own)];
    if (!leaves && !comes) continue;
    const amount = (comes ? entry.amount : 0n) - (leaves ? entry.amount : 0n);
    if (amount !== 0n) {
      const type = typeOfKind.get(entry.kind);
      if (type === undefined) throw new Error(`an entry of the kind ${entry.kind} has no line on statements`);
      const fee = kind === 'collect' ? feeIn(entries) : null;
      lines.push({ atMs: posting.at.getTime(), sequence, type, reference, amount, fee, bookedAfter });
    }
    sequence -= 1n;
    bookedAfter -= amount;
  }
  return lines.reverse();
}

function feeIn(entries: StatedPosting['entries']): bigint {
  return entries.reduce((sum, { kind, amount }) => (kind === 'fee' ? sum + amount : sum), 0n);
}

/** A place as a cursor: text that means nothing to merchants. */
export function writeCursor({ atMs, sequence }: LinePlace): string {
  return Buffer.from(`${atMs} ${sequence}`).toString('base64url');
}

/** Reads what {@link writeCursor} wrote; undefined if it is something else. */
export function readCursor(cursor: string): LinePlace | undefined {
  const text = Buffer.from(cursor, 'base64url').toString();
  const [, atMs, sequence] = /^(\d{1,15}) (\d{1,18})$/.exec(text) ?? [];
  return atMs && sequence ? { atMs: Number(atMs), sequence: BigInt(sequence) } : undefined;
}
