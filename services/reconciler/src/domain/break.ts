import { type BreakView } from '@pesewa/contracts';
import type { BreakKind, Field, Observer } from './break-kinds.ts';

/** The status of a break (ADR 70). */
export type BreakStatus = BreakView['status'];

/** One line of a break's history. */
export interface BreakChange {
  readonly at: Date;
  /** The operator; null if the reconciler itself found or closed it. */
  readonly by: string | null;
  readonly what:
    | 'opened'
    | 'found again'
    | 'found no more'
    | 'opened again'
    | 'assigned'
    | 'noted'
    | 'explained'
    | 'adjustment booked'
    | 'resolution proposed'
    | 'resolution rejected'
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

/** What an observer says of a field that differs from what we have. */
export interface Observation {
  readonly observer: Observer;
  readonly kind: BreakKind;
  /** Signed, minor units; null if it is unknown. */
  readonly amount: bigint | null;
  readonly detail: string;
  /** Since when its observer says this amount. */
  readonly at: Date;
  readonly rail?: string;
  readonly currency: string | null;
  /** What it says in short keys: a person who resolves the break has judged these, and only another one is news. */
  readonly about?: readonly string[];
  /** Set if it is about the payment's reversal, and not about the payment itself. */
  readonly ofReversal?: true;
}

/** An observation with its field. */
export interface FoundBreak extends Observation {
  readonly field: Field;
  /** Our payment reference, or `rail:currency` of a wallet. */
  readonly reference: string;
  readonly cause?: BreakCause;
}

/** What an observer no longer says of a field. */
export interface Withdrawal extends Pick<FoundBreak, 'reference' | 'field' | 'kind' | 'at' | 'cause'> {
  /** By default the one that said it. */
  readonly observer?: Observer;
  /** Why, for people to read. */
  readonly resolution: string;
}

/**
 * A field of which somebody says other than we have, with its history (ADR 70); kind, amount, detail, rail and currency are
 * those of the observation that counts most.
 */
export interface Break
  extends Pick<FoundBreak, 'field' | 'kind' | 'reference' | 'rail' | 'currency' | 'amount' | 'detail'> {
  /** The subject and the field, so that each discrepancy has one break, whichever observer finds it. */
  readonly _id: string;
  /** Whether it stands; {@link statusOf} gives the detailed status. */
  readonly status: 'open' | 'resolved';
  /** The newest of each observer and kind that stands; of a resolved break those with which it was resolved. */
  readonly observations: readonly Observation[];
  /** What people had seen when they resolved it, and the amounts that orders have corrected: none of this is news. */
  readonly judged?: readonly string[];
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
  /** How an operator would resolve it, which another must approve; gone once an observer says something else. */
  readonly proposedResolution?: { readonly by: string; readonly at: Date; readonly resolution: string };
  /** The orders of the ledger that were booked for it, once each by their ids. */
  readonly corrections?: readonly string[];
  /** Grows by one with each change of the break. */
  readonly version: number;
  readonly history: readonly BreakChange[];
}

/** The status of a break: open until people assign it, explain it, or it is resolved. */
export function statusOf(current: Pick<Break, 'status' | 'owner' | 'explanation'>): BreakStatus {
  if (current.status === 'resolved') return 'resolved';
  if (current.explanation !== undefined) return 'explained';
  return current.owner === undefined ? 'open' : 'assigned';
}

/** The kinds of what observers say of its field. */
export function kindsOf({ observations }: Pick<Break, 'observations'>): readonly BreakKind[] {
  return observations.map(({ kind }) => kind);
}

/** The most lines that a document can hold. */
const HISTORY_MAX = 150;

/** A reopened break, without owner and explanation. */
export function openedAgain(current: Break, line: BreakChange): Break {
  const { owner: _owner, explanation: _explanation, ...free } = current;
  const { resolvedAt: _at, resolution: _resolution, resolvedBy: _by, ...standing } = free;
  return changed({ ...standing, status: 'open', since: line.at }, line);
}

/** A resolved break, by a person or by itself. */
export function resolved(
  current: Break,
  { by, at }: Pick<BreakChange, 'by' | 'at'>,
  resolution: string,
): Break {
  const { resolvedBy: _by, proposedResolution: _proposed, ...standing } = current;
  const next = { ...standing, status: 'resolved', resolvedAt: at, resolution } as const;
  const line = { at, by, what: 'resolved', text: resolution } as const;
  return changed({ ...next, ...(by !== null && { resolvedBy: by }) }, line);
}

/**
 * The next version, with its history line. If there are too many lines, the reconciler's own are dropped first, and the
 * first line never.
 */
export function changed(next: Break, line: BreakChange): Break {
  const history = [...next.history, line];
  const own = history.findIndex(({ by }, place) => place > 0 && by === null);
  const bounded = history.length > HISTORY_MAX ? history.toSpliced(own === -1 ? 1 : own, 1) : history;
  return { ...next, version: next.version + 1, history: bounded };
}
