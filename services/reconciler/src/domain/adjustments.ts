/** The terms of an order to the ledger that corrects a break (ADR 17). */
export interface AdjustmentTerms {
  /** The id of the order; begins with `bk-`. */
  readonly commandId: string;
  /** A merchant's wallet against suspense, or a rail's float against suspense. */
  readonly kind: 'adjust' | 'suspense';
  /** A merchant or a rail. */
  readonly target: string;
  readonly currency: string;
  /** Signed, minor units: how much the wallet or the float has more afterwards. */
  readonly minor: bigint;
}

/** A proposed correction of a break, and its outcome. */
export interface Adjustment extends AdjustmentTerms {
  readonly by: string;
  readonly at: Date;
  /** The amounts that the break had when it was proposed, by whomever but callbacks. */
  readonly differences: readonly bigint[];
  /** `differs`: an order with this id was booked, but with other terms. */
  readonly status: 'proposed' | 'withdrawn' | 'booked' | 'refused' | 'differs';
  /** When the ledger booked or refused it. */
  readonly concludedAt?: Date;
}

/** The ledger's outcome of an order. */
export type AdjustmentOutcome = { readonly commandId: string; readonly at: Date } & (
  | { readonly status: 'booked'; readonly terms: AdjustmentTerms }
  | { readonly status: 'refused'; readonly reason: string }
);

/** Whether two orders move the same money. */
export function isSameAdjustment(one: AdjustmentTerms, other: AdjustmentTerms): boolean {
  return (
    one.commandId === other.commandId &&
    one.kind === other.kind &&
    one.target === other.target &&
    one.currency === other.currency &&
    one.minor === other.minor
  );
}
