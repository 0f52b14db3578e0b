import { appendBounded, type Bounded } from '@pesewa/kernel';
import type { Claim, PaymentKind, TrackedStatus } from './claim.ts';

/** What was agreed when the payment began; amounts in minor units of the currency. */
export interface Terms {
  readonly kind: PaymentKind;
  readonly rail: string;
  readonly merchantId: string;
  readonly currency: string;
  /** Absent for payments whose first event was never seen. */
  readonly country: string | null;
  readonly amount: bigint;
  /** What the rail is expected to charge us. */
  readonly railFee: bigint;
}

/** One line of a payment's timeline; a repeated one is counted, not written again. */
export interface HistoryEntry extends Bounded {
  readonly what:
    | 'event'
    | 'hint'
    | 'proven'
    | 'other rail'
    | 'poll'
    | 'fact'
    | 'break'
    | 'resolved'
    | 'posting'
    | 'audit';
  readonly detail: string;
  readonly atMs: number;
  readonly lastAtMs: number;
  readonly times: number;
}

/** What the ledger has moved in our float for a payment, less the rail's own fees: signed minor units. */
export interface Booked {
  readonly rail: string;
  readonly currency: string;
  readonly minor: bigint;
}

/** What a break of a payment has told, so that it is no news when it is found again. */
export interface Known {
  readonly kind: string;
  /** One of those that a finding is about. */
  readonly about: string;
  /**
   * `told`: its break stands, or an order of the ledger has corrected it. `resolved`: a person says that it is over, and the
   * rail has not been asked since. `asked`: it has, and said the same, so that people knew.
   */
  readonly since: 'told' | 'resolved' | 'asked';
}

/** A payment in the working set (ADR 27). */
export interface Tracked {
  readonly reference: string;
  /** Null until the owner's first event is seen: a callback or a ledger entry may come before it. */
  readonly terms: Terms | null;
  readonly status: TrackedStatus;
  /** The version of the newest event of the owner. */
  readonly version: bigint;
  readonly openedAtMs: number;
  /** When it came to the end that it has now, by its owner's event; null before. */
  readonly endedAtMs: number | null;
  /** When we heard of that end, where it was told late; null where it was told in time, so that such a payment has no more to index. */
  readonly endHeardAtMs: number | null;
  /** When the rail is to be asked next; null while there is nothing to ask. */
  readonly dueAtMs: number | null;
  /** When the rail is asked next by the schedule alone: a callback brings a poll forward, and moves this not. */
  readonly scheduledAtMs: number | null;
  /** When the newest poll began, by the database's clock; null where there was none. */
  readonly askedAtMs: number | null;
  /** The token of the poll in progress. */
  readonly claim: string | null;
  readonly polls: number;
  /** How many of them there were because of callbacks alone; they count toward nothing. */
  readonly hintedPolls: number;
  /** Scheduled polls since the rail was last asked to move the money: what the pause to the next one grows by. */
  readonly pollsInRound: number;
  /** When the rail took the payment on, by its own answer; null where it has not, or nobody knows. */
  readonly acceptedAtMs: number | null;
  /** When the rail refused the newest attempt while an earlier one may yet be executed; null where it did not. */
  readonly refusedAtMs: number | null;
  /** Since when the rail has said nothing clear but NOT FOUND; null where it has not. */
  readonly notFoundSinceMs: number | null;
  /** The first few distinct claims of callbacks; of the payment's own rail alone, once the terms are known. */
  readonly callbacks: readonly Claim[];
  /** How many of them people had before them when they decided the amount. */
  readonly claimsSettled: number;
  /** What people have approved that the customer paid, in minor units. */
  readonly decided: readonly bigint[];
  /** How people have approved that the payout ended; null where they have not. */
  readonly decidedOutcome: 'failed' | 'completed' | null;
  /** What the collection completed with, in minor units; null before, and for payouts. */
  readonly received: bigint | null;
  /** The rail's own fee that the owner of a payout has booked, in minor units; null before, and where no event told it. */
  readonly charged: bigint | null;
  /** The kinds of the breaks that this payment has opened, less one that is settled and may open again. */
  readonly breaks: readonly string[];
  /** What those breaks have told, where it may be found after people have resolved them. */
  readonly known: readonly Known[];
  /** Since when the rail tells an end that the owner has not taken; null where it tells none. */
  readonly endToldAtMs: number | null;
  /** Whether the ledger has moved the float for the payment, and for its reversal. */
  readonly posted: boolean;
  readonly refunded: boolean;
  /** Whether the ledger holds nothing for a payout that failed: it gave the hold back, or refused it. */
  readonly released: boolean;
  /** Null where nothing was moved. */
  readonly booked: Booked | null;
  /** When the ledger's entries are held against the payment, since they do not bear each other out yet; null otherwise. */
  readonly booksDueAtMs: number | null;
  /** The trace that its owner's events belong to (W3C); null before the first that names one. */
  readonly traceparent: string | null;
  /** The id of the newest event of its owner, or of a callback: what is found out then follows from it. */
  readonly causedBy: string | null;
  /** How often its owner was asked to publish it again, for want of an entry. */
  readonly entryRequests: number;
  readonly history: readonly HistoryEntry[];
}

/** Of very many lines those that a payment began with are kept, and the newest. */
const HISTORY_KEPT = { first: 10, newest: 40 } as const;

/**
 * Whether nothing is left to do about a payment: it has ended, the books bear it out, nobody is asked about it, and it never
 * had a break.
 */
export function isOver(tracked: Tracked): boolean {
  const { status, terms, dueAtMs, booksDueAtMs, breaks, known } = tracked;
  const hasEnded = status !== 'open' && status !== 'awaited';
  const { mayDebit, mayCredit } = inFlight(tracked);
  return (
    hasEnded &&
    terms !== null &&
    dueAtMs === null &&
    booksDueAtMs === null &&
    breaks.length === 0 &&
    known.length === 0 &&
    mayDebit === 0n &&
    mayCredit === 0n
  );
}

/** Whether what was agreed is not known in full: the end of a payment tells no country, and what came, not what was asked. */
export function lacksTerms({ terms }: Tracked): boolean {
  return terms === null || terms.country === null;
}

/** A payment of which nothing is known but its reference. */
export function awaited(reference: string, nowMs: number): Tracked {
  return {
    reference,
    terms: null,
    status: 'awaited',
    version: 0n,
    openedAtMs: nowMs,
    endedAtMs: null,
    endHeardAtMs: null,
    dueAtMs: null,
    scheduledAtMs: null,
    askedAtMs: null,
    claim: null,
    polls: 0,
    hintedPolls: 0,
    pollsInRound: 0,
    acceptedAtMs: null,
    refusedAtMs: null,
    notFoundSinceMs: null,
    callbacks: [],
    claimsSettled: 0,
    decided: [],
    decidedOutcome: null,
    received: null,
    charged: null,
    breaks: [],
    known: [],
    endToldAtMs: null,
    posted: false,
    refunded: false,
    released: false,
    booked: null,
    booksDueAtMs: null,
    traceparent: null,
    causedBy: null,
    entryRequests: 0,
    history: [],
  };
}

/** The event that whatever is found out now follows from, and its trace, where there are such. */
export function causeOf({ causedBy, traceparent }: Pick<Tracked, 'causedBy' | 'traceparent'>): {
  readonly eventId?: string;
  readonly traceparent?: string;
} {
  return {
    ...(causedBy !== null && { eventId: causedBy }),
    ...(traceparent !== null && { traceparent }),
  };
}

/** Adds a line to a timeline and keeps it bounded: what is not kept is counted where it was. */
export function remember(
  history: readonly HistoryEntry[],
  entry: Pick<HistoryEntry, 'what' | 'detail' | 'atMs'>,
): readonly HistoryEntry[] {
  const last = history.at(-1);
  if (last && last.what === entry.what && last.detail === entry.detail) {
    return [...history.slice(0, -1), { ...last, lastAtMs: entry.atMs, times: last.times + 1 }];
  }
  return appendBounded(history, { ...entry, lastAtMs: entry.atMs, times: 1 }, HISTORY_KEPT);
}

/** Whether nothing but callbacks speaks of the payment: anyone may have made up its reference. */
export function isUnknown(tracked: Tracked): boolean {
  return tracked.terms === null && tracked.version === 0n && !isBooked(tracked);
}

/** Whether the ledger has spoken of the payment. */
export function isBooked({
  posted,
  refunded,
  released,
}: Pick<Tracked, 'posted' | 'refunded' | 'released'>): boolean {
  return posted || refunded || released;
}

/** How far an open payment may have come, by what its rail has said. */
export const openStates = ['begun', 'accepted', 'refused', 'not_found'] as const;

/** One of {@link openStates}. */
export type OpenState = (typeof openStates)[number];

/** How far an open payment has come: the rail denies it, refused its newest attempt, took it on, or none of these. */
export function openStateOf({
  notFoundSinceMs,
  refusedAtMs,
  acceptedAtMs,
}: Pick<Tracked, 'notFoundSinceMs' | 'refusedAtMs' | 'acceptedAtMs'>): OpenState {
  if (notFoundSinceMs !== null) return 'not_found';
  if (refusedAtMs !== null) return 'refused';
  return acceptedAtMs === null ? 'begun' : 'accepted';
}

/** The amount that callbacks are held against, in minor units: what it completed with, before that what was asked. */
export function agreedAmount({ received }: Pick<Tracked, 'received'>, { amount }: Terms): bigint {
  return received ?? amount;
}

/**
 * What a payment may yet move at the rail, or has moved there unknown to our float; minor units (ADR 28). A completed payout
 * that its rail is asked about again may have been reversed there: until it has answered, and the owner has said so.
 */
export function inFlight(tracked: Tracked): { readonly mayDebit: bigint; readonly mayCredit: bigint } {
  const { terms, status, dueAtMs } = tracked;
  if (terms === null || status === 'failed') return { mayDebit: 0n, mayCredit: 0n };
  const unposted = tracked.posted ? 0n : 1n;
  if (terms.kind === 'collection')
    return { mayDebit: 0n, mayCredit: unposted * (terms.amount - terms.railFee) };
  const mayBeReversed = status === 'reversed' || (status === 'completed' && dueAtMs !== null);
  const unrefunded = mayBeReversed && !tracked.refunded ? 1n : 0n;
  return { mayDebit: unposted * (terms.amount + terms.railFee), mayCredit: unrefunded * terms.amount };
}
