import type { Adjustment } from './adjustments.ts';
import { type BreakSubject, termsOfBreak } from './break-kinds.ts';
import type { Told } from './discrepancies.ts';

/** Every status, in the order in which people take a break through them (ADR 31). */
export const breakStatuses = ['open', 'assigned', 'explained', 'resolved'] as const;

/** Where a break stands with people. */
export type BreakStatus = (typeof breakStatuses)[number];

/** One line of a break's history. */
export interface BreakChange {
  readonly at: Date;
  /** The operator; null where the reconciler itself found or closed it. */
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
  /** What was said, by whom it was taken, or under which id: of people, it may hold personal data. */
  readonly text?: string;
  /** What the discrepancy came to then, in minor units. */
  readonly amount?: bigint | null;
}

/** The event that a discrepancy was found by, and the trace that it belongs to, where there are such. */
export interface BreakCause {
  readonly eventId?: string;
  readonly traceparent?: string;
}

/** A discrepancy as whoever finds it tells it. */
export interface FoundBreak {
  /** Derived from what it is about, never from the run that found it: so each discrepancy opens one break. */
  readonly _id: string;
  readonly kind: string;
  /** Our payment reference, or `rail:currency` of a wallet. */
  readonly reference: string;
  readonly rail?: string;
  readonly currency: string | null;
  /** Signed, minor units. */
  readonly amount: bigint | null;
  readonly detail: string;
  /** In which fields of its payment it sees a difference; by default in the one that its kind is about. */
  readonly tells?: readonly Told[];
  /** What of its payment no other open break has: its fields, each by itself and with its amount. */
  readonly matters?: readonly string[];
  readonly openedAt: Date;
  readonly cause?: BreakCause;
}

/** A discrepancy for people, with its life (ADR 31). */
export interface Break extends FoundBreak {
  /** Whether it stands; what people have made of it is told by {@link statusOf}. */
  readonly status: 'open' | 'resolved';
  /** When it was first opened; never changes, so that lists have an order that stays. */
  readonly openedAt: Date;
  /** When it was opened the last time. */
  readonly since: Date;
  readonly owner?: string;
  readonly explanation?: string;
  readonly resolvedAt?: Date;
  readonly resolution?: string;
  /** Who resolved it; absent where it closed by itself. */
  readonly resolvedBy?: string;
  readonly adjustments?: readonly Adjustment[];
  /** The fields of its payment that its orders correct, or have corrected; no other break may order for them. */
  readonly corrects?: readonly string[];
  /** What others have found that this break tells already: they open where it closes before they do. */
  readonly alsoFound?: readonly FoundBreak[];
  /** Grows with each change of its life. */
  readonly version: number;
  readonly history: readonly BreakChange[];
  /** How many decisions were proposed or approved about it. */
  readonly decisions?: number;
}

/** Where a break stands: what was found is open, until people take it, explain it, or it is resolved. */
export function statusOf(current: Pick<Break, 'status' | 'owner' | 'explanation'>): BreakStatus {
  if (current.status === 'resolved') return 'resolved';
  if (current.explanation !== undefined) return 'explained';
  return current.owner === undefined ? 'open' : 'assigned';
}

/** What a break of a kind is about. */
export function subjectOf({ kind }: Pick<Break, 'kind'>): BreakSubject {
  return termsOfBreak(kind)?.about ?? 'payment';
}
