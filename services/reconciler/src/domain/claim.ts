/** The two directions in which a payment moves money. */
export type PaymentKind = 'payout' | 'collection';

/** The ends of a payment, as a rail and its owner name them. */
export type EndStatus = 'completed' | 'failed' | 'reversed';

/** Where a payment stands, as its owner says; `awaited` until the owner's first event is seen. */
export type TrackedStatus = 'awaited' | 'open' | EndStatus;

/** What a callback claims; amount, currency and fee are texts, as it wrote them. */
export interface Claim {
  /** The rail whose address it came to, and the kind of payment that the address is for. */
  readonly rail: string;
  readonly kind: PaymentKind;
  /** Whether the rail itself says so: its signature verifies, and the rail is configured as proven (ADR 20). */
  readonly proven: boolean;
  readonly status: string;
  readonly amount: string | null;
  /** Null where it names none, which is the payment's own. */
  readonly currency: string | null;
  readonly fee: string | null;
  readonly reason: string | null;
  readonly atMs: number;
  /** When a claim of its sort came the last time, this one or one that is not kept; absent where none came after it. */
  readonly lastAtMs?: number;
}

/** Where a payment went: the rail, and the kind of payment that its callbacks are about. */
export type Destination = Pick<Claim, 'rail' | 'kind'>;

/** Whether a claim came to the address of the very rail that the payment went to, and of its kind; no other counts. */
export function isOwn(claim: Claim, of: Destination): boolean {
  return claim.rail === of.rail && claim.kind === of.kind;
}

/** Whether a claim is the word of the very rail that the payment went to. */
export function isProven(claim: Claim, of: Destination): boolean {
  return claim.proven && isOwn(claim, of);
}

/** When a claim of the sort of this one came the last time. */
export function newestAtMs({ atMs, lastAtMs = atMs }: Pick<Claim, 'atMs' | 'lastAtMs'>): number {
  return Math.max(atMs, lastAtMs);
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
