import type { Told } from './discrepancies.ts';

/** The correction that is ordered of the ledger for a break (ADR 17). */
export interface AdjustmentTerms {
  /** The id of the order; begins with `bk-`. */
  readonly commandId: string;
  /** A merchant's wallet against suspense, or a rail's float against suspense. */
  readonly kind: 'adjust' | 'suspense';
  /** The merchant, or the rail. */
  readonly target: string;
  readonly currency: string;
  /** Signed, minor units: what the wallet or the float has more afterwards. */
  readonly minor: bigint;
}

/** A correction that was proposed for a break, and what became of it. */
export interface Adjustment extends AdjustmentTerms {
  readonly by: string;
  readonly at: Date;
  /** What the break told of its payment when it was proposed. */
  readonly tells?: readonly Told[];
  /** `differs`: an order under its id was booked, and is another. */
  readonly status: 'proposed' | 'withdrawn' | 'booked' | 'refused' | 'differs';
  /** When the ledger booked or refused it. */
  readonly settledAt?: Date;
}

/** What the ledger did with an order. */
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

/** Whether the id is that of an order for a break. */
export function isBreakCommand(commandId: string): boolean {
  return commandId.startsWith('bk-');
}
