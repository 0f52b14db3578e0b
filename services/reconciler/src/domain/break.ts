import { type BreakView } from '@pesewa/contracts';
import type { Adjustment } from './adjustments.ts';
import { type BreakSubject, type ReportedDiscrepancy, termsOfBreak } from './break-kinds.ts';

/** The status of a break (ADR 31). */
export type BreakStatus = BreakView['status'];

/** One line of a break's history. */
export interface BreakChange {
  readonly at: Date;
  /** The operator; null if the reconciler itself found or closed it. */
  readonly by: string | null;
  readonly what:
    | 'opened'
    | 'found again'
    | 'opened again'
    | 'assigned'
    | 'noted'
    | 'explained'
    | 'decision proposed'
    | 'decision approved'
    | 'decision rejected'
    | 'adjustment proposed'
    | 'adjustment booked'
    | 'adjustment refused'
    | 'adjustment withdrawn'
    | 'resolved';
  /** A comment, an owner's name or an order's id; a person's text may hold personal data. */
  readonly text?: string;
  /** The discrepancy's amount then, in minor units. */
  readonly amount?: bigint | null;
}

/** The event by which a discrepancy was found and its trace, if there are any. */
export interface BreakCause {
  readonly eventId?: string;
  readonly traceparent?: string;
}

/** A discrepancy as it was found. */
export interface FoundBreak {
  /** Derived from its subject, never from the run that found it, so that each discrepancy opens one break. */
  readonly _id: string;
  readonly kind: string;
  /** Our payment reference, or `rail:currency` of a wallet. */
  readonly reference: string;
  readonly rail?: string;
  readonly currency: string | null;
  /** Signed, minor units. */
  readonly amount: bigint | null;
  readonly detail: string;
  /** The fields of its payment in which it sees a difference; by default the field of its kind. */
  readonly reports?: readonly ReportedDiscrepancy[];
  /** The keys for what no other open break of the payment has: fields alone, and fields with their amounts. */
  readonly coveredKeys?: readonly string[];
  readonly openedAt: Date;
  readonly cause?: BreakCause;
}

/** A discrepancy for people to look at, with its history (ADR 31). */
export interface Break extends FoundBreak {
  /** Whether it stands; {@link statusOf} gives the detailed status. */
  readonly status: 'open' | 'resolved';
  /** When it was first opened; never changes, so that the order of lists is stable. */
  readonly openedAt: Date;
  /** When it was last opened. */
  readonly since: Date;
  readonly owner?: string;
  readonly explanation?: string;
  readonly resolvedAt?: Date;
  readonly resolution?: string;
  /** Who resolved it; absent if it closed by itself. */
  readonly resolvedBy?: string;
  readonly adjustments?: readonly Adjustment[];
  /**
   * The fields of its payment that its orders correct or have corrected; no other break may order corrections of them.
   */
  readonly corrects?: readonly string[];
  /**
   * Findings of other kinds that this break covers: if it closes before they are gone, they open breaks of their own.
   */
  readonly alsoFound?: readonly FoundBreak[];
  /** Grows by one with each change of the break. */
  readonly version: number;
  readonly history: readonly BreakChange[];
  /** How many decisions about it were proposed or approved. */
  readonly decisions?: number;
}

/** The status of a break: open until people assign it, explain it, or it is resolved. */
export function statusOf(current: Pick<Break, 'status' | 'owner' | 'explanation'>): BreakStatus {
  if (current.status === 'resolved') return 'resolved';
  if (current.explanation !== undefined) return 'explained';
  return current.owner === undefined ? 'open' : 'assigned';
}

/** The subject of a break's kind. */
export function subjectOf({ kind }: Pick<Break, 'kind'>): BreakSubject {
  return termsOfBreak(kind)?.about ?? 'payment';
}
