import type { PaymentKind } from '@pesewa/contracts';

/** The ends of a payment, in the words of rails and owners. */
export type EndStatus = 'completed' | 'failed' | 'reversed';

/** The status of a payment according to its owner; `awaited` until the owner's first event is seen. */
export type TrackedStatus = 'awaited' | 'open' | EndStatus;

/** A callback's claim; amount, currency and fee are texts as the callback has them. */
export interface Claim {
  /** The rail and the kind of payment of the address that it came to. */
  readonly rail: string;
  readonly kind: PaymentKind;
  /**
   * Whether it counts as the rail's own statement: its signature verifies, and the rail is configured as proven (ADR
   * 6).
   */
  readonly proven: boolean;
  readonly status: string;
  readonly amount: string | null;
  /** Null if it names none, which means the payment's own. */
  readonly currency: string | null;
  readonly fee: string | null;
  readonly reason: string | null;
  readonly atMs: number;
  /** When a claim of its sort last came, this one or one that was not kept; absent if none came after it. */
  readonly lastAtMs?: number;
}

/** The rail of a payment, and the kind of payment that its callbacks are about. */
export type Destination = Pick<Claim, 'rail' | 'kind'>;

/** Whether a claim came to the address of the payment's own rail and kind; no other claim counts. */
export function isOwn(claim: Claim, of: Destination): boolean {
  return claim.rail === of.rail && claim.kind === of.kind;
}

/** Whether a claim is a proven statement of the payment's own rail. */
export function isProven(claim: Claim, of: Destination): boolean {
  return claim.proven && isOwn(claim, of);
}

/** When a claim of this one's sort last came. */
export function newestAtMs({ atMs, lastAtMs = atMs }: Pick<Claim, 'atMs' | 'lastAtMs'>): number {
  return Math.max(atMs, lastAtMs);
}

/** Whether a status confirms a claimed end: a reversed payment was completed before. */
export function isConsistentWith(state: TrackedStatus, claimed: EndStatus): boolean {
  return state === claimed || (state === 'reversed' && claimed === 'completed');
}

/** The end that a claim names; undefined if it names none. */
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
