/** The two directions in which a payment moves money. */
export type PaymentKind = 'payout' | 'collection';

/** The ends of a payment, as a rail and its owner name them. */
export type EndStatus = 'completed' | 'failed' | 'reversed';

/** Where a payment stands, as its owner says; `awaited` until the owner's first event is seen. */
export type TrackedStatus = 'awaited' | 'open' | EndStatus;

/** What a callback claims; amount and fee are decimal text, as it wrote them. */
export interface Claim {
  /** The rail whose address it came to, and the kind of payment that the address is for. */
  readonly rail: string;
  readonly kind: PaymentKind;
  /** Whether the rail itself says so: its signature verifies, and the rail is configured as proven (design 6). */
  readonly proven: boolean;
  readonly status: string;
  readonly amount: string | null;
  readonly fee: string | null;
  readonly reason: string | null;
  readonly atMs: number;
}

/** Of each sort: a flood of forged claims leaves room for proven ones. */
const CLAIMS_MAX = 8;

/** Adds a claim unless the same one is known; keeps the first few distinct ones, hints and proven ones apart. */
export function addClaim(claims: readonly Claim[], claim: Claim): readonly Claim[] {
  const alike = claims.filter(({ proven }) => proven === claim.proven);
  const known = alike.some(
    ({ rail, kind, status, amount, fee }) =>
      rail === claim.rail &&
      kind === claim.kind &&
      status === claim.status &&
      amount === claim.amount &&
      fee === claim.fee,
  );
  return known || alike.length >= CLAIMS_MAX ? claims : [...claims, claim];
}

/** Whether a claim is the word of the very rail that the payment went to; of any other rail it is a hint. */
export function isProven(claim: Claim, of: { readonly rail: string; readonly kind: PaymentKind }): boolean {
  return claim.proven && claim.rail === of.rail && claim.kind === of.kind;
}

/** Whether a state bears out a claimed one: a reversed payment was completed before. */
export function bearsOut(state: TrackedStatus, claimed: EndStatus): boolean {
  return state === claimed || (state === 'reversed' && claimed === 'completed');
}

/** The end that a claim speaks of, or nothing where it speaks of none. */
export function claimedEnd(claim: Pick<Claim, 'status'>): EndStatus | undefined {
  switch (claim.status.toUpperCase()) {
    case 'COMPLETED':
      return 'completed';
    case 'FAILED':
      return 'failed';
    case 'REVERSED':
      return 'reversed';
    default:
      return undefined;
  }
}

/** Whether a word is an end. */
export function isEnd(status: string): status is EndStatus {
  return status === 'completed' || status === 'failed' || status === 'reversed';
}
