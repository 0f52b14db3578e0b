import type { PaymentKind } from '@pesewa/contracts';
import { appendBounded, type BoundedItem } from '@pesewa/kernel';
import { type Claim, type EndStatus, newestAtMs, type TrackedStatus } from './claim.ts';

/** The terms at the beginning of a payment; amounts in minor units of the currency. */
export interface Terms {
  readonly kind: PaymentKind;
  readonly rail: string;
  readonly merchantId: string;
  readonly currency: string;
  /** Absent for payments whose first event was never seen. */
  readonly country: string | null;
  readonly amount: bigint;
  /** The rail's expected charge. */
  readonly railFee: bigint;
}

/** A rail's answer to a poll; a repetition is counted and not added, unless a callback came in between. */
export interface PollAnswered extends BoundedItem {
  readonly answer: string;
  readonly atMs: number;
  readonly lastAtMs: number;
  readonly times: number;
}

/** The ledger's movement in our float for a payment, without the rail's own fees: signed minor units. */
export interface Booked {
  readonly rail: string;
  readonly currency: string;
  readonly minor: bigint;
}

/** A payment in the working set (ADR 27), which is the collection `polls`: one document for each, polled or not. */
export interface Tracked {
  readonly reference: string;
  /** Null until the owner's first event is seen: a callback or a ledger entry may come before it. */
  readonly terms: Terms | null;
  readonly status: TrackedStatus;
  /** The version of the newest event of the owner. */
  readonly version: bigint;
  readonly openedAtMs: number;
  /** When it reached its present end, by its owner's event; null before. */
  readonly endedAtMs: number | null;
  /**
   * When we heard of that end, if that was late; null if it was in time, so that such payments take no room in the
   * index.
   */
  readonly endHeardAtMs: number | null;
  /** Whether no close and no statement has compared its present end with the rail's record. */
  readonly uncompared: boolean;
  /** When the rail must be asked next; null while there is nothing to ask. */
  readonly dueAtMs: number | null;
  /** When the rail is asked next by the schedule alone: a callback brings a poll forward, and does not change this. */
  readonly scheduledAtMs: number | null;
  /** When the newest poll began, by the database's clock, or by ours if a callback claimed it; null if there was none. */
  readonly askedAtMs: number | null;
  /** The token of the poll in progress. */
  readonly claim: string | null;
  readonly polls: number;
  /** How many of them only callbacks caused; they count towards nothing. */
  readonly hintedPolls: number;
  /** Scheduled polls since the rail was last asked to move the money; the pause to the next one grows with them. */
  readonly pollsInRound: number;
  /** When the rail refused the newest attempt while an earlier one may still be executed; null if it did not. */
  readonly refusedAtMs: number | null;
  /** Since when the rail's only clear answer has been NOT FOUND; null if it has not. */
  readonly notFoundSinceMs: number | null;
  /** The first few distinct claims of callbacks; of another rail than the payment's own, one of each end. */
  readonly callbacks: readonly Claim[];
  /** How many of them people had seen when they decided the amount. */
  readonly claimsJudged: number;
  /** The amounts that, by people's approved decisions, the customer paid; in minor units. */
  readonly decided: readonly bigint[];
  /** The outcome of the payout that people have approved; null if none. */
  readonly decidedOutcome: 'failed' | 'completed' | null;
  /** The amount that the collection completed with, in minor units; null before, and for payouts. */
  readonly received: bigint | null;
  /** The rail's own fee as the owner of a payout has booked it, in minor units; null before, and if no event had it. */
  readonly charged: bigint | null;
  /** The kinds of breaks that were found of this payment, without those that are gone and may be found again. */
  readonly breaks: readonly string[];
  /** Whether it ever had a break: then it is kept. */
  readonly hadBreak: boolean;
  /** Whether the rail has answered a poll that it has the payment, without an end. */
  readonly wasPending: boolean;
  /** The end that the rail reports and the owner has not applied, and since when there is one; null if there is none. */
  readonly endReported: { readonly status: EndStatus; readonly sinceMs: number } | null;
  /** Whether the ledger has moved the float for the payment, and for its reversal. */
  readonly posted: boolean;
  readonly refunded: boolean;
  /** Whether the ledger holds nothing for a failed payout: it released the hold, or refused it. */
  readonly released: boolean;
  /** Null if nothing was moved. */
  readonly booked: Booked | null;
  /** When the ledger's entries are compared with the payment, because they do not match yet; null otherwise. */
  readonly booksDueAtMs: number | null;
  /** The trace of its owner's events (W3C); null before the first event with one. */
  readonly traceparent: string | null;
  /** The id of the latest event of its owner, or of a callback: whatever is found now is caused by it. */
  readonly causedBy: string | null;
  /** The rail's answers to polls; none of a payment that went straight. */
  readonly answers: readonly PollAnswered[];
}

/** If there are too many answers, the first ones and the newest are kept. */
const ANSWERS_KEPT = { first: 10, newest: 40 } as const;

/**
 * Whether a payment needs no more work: it has ended, the books match, nothing is asked about it, and it never had a
 * break.
 */
export function needsNoWork(tracked: Tracked): boolean {
  const { status, terms, dueAtMs, booksDueAtMs, hadBreak } = tracked;
  const hasEnded = status !== 'open' && status !== 'awaited';
  const { mayDebit, mayCredit } = inFlight(tracked);
  return (
    hasEnded &&
    terms !== null &&
    dueAtMs === null &&
    booksDueAtMs === null &&
    !hadBreak &&
    mayDebit === 0n &&
    mayCredit === 0n
  );
}

/**
 * Whether the terms are not fully known: the end of a payment has no country, and has the amount received, not the one
 * asked.
 */
export function lacksTerms({ terms }: Tracked): boolean {
  return terms === null || terms.country === null;
}

/** A payment of which only the reference is known. */
export function awaited(reference: string, nowMs: number): Tracked {
  return {
    reference,
    terms: null,
    status: 'awaited',
    version: 0n,
    openedAtMs: nowMs,
    endedAtMs: null,
    endHeardAtMs: null,
    uncompared: false,
    dueAtMs: null,
    scheduledAtMs: null,
    askedAtMs: null,
    claim: null,
    polls: 0,
    hintedPolls: 0,
    pollsInRound: 0,
    refusedAtMs: null,
    notFoundSinceMs: null,
    callbacks: [],
    claimsJudged: 0,
    decided: [],
    decidedOutcome: null,
    received: null,
    charged: null,
    breaks: [],
    hadBreak: false,
    wasPending: false,
    endReported: null,
    posted: false,
    refunded: false,
    released: false,
    booked: null,
    booksDueAtMs: null,
    traceparent: null,
    causedBy: null,
    answers: [],
  };
}

/** The event that causes whatever is found now, and its trace, if there are any. */
export function causeOf({ causedBy, traceparent }: Pick<Tracked, 'causedBy' | 'traceparent'>): {
  readonly eventId?: string;
  readonly traceparent?: string;
} {
  return {
    ...(causedBy !== null && { eventId: causedBy }),
    ...(traceparent !== null && { traceparent }),
  };
}

/** The payment with an answer to a poll; the list stays bounded, and dropped answers are counted in their place. */
export function withAnswer(tracked: Tracked, answer: string, atMs: number): Tracked {
  const { answers, callbacks } = tracked;
  const last = answers.at(-1);
  const next =
    last?.answer === answer && callbacks.every((claim) => newestAtMs(claim) <= last.lastAtMs)
      ? [...answers.slice(0, -1), { ...last, lastAtMs: atMs, times: last.times + 1 }]
      : appendBounded(answers, { answer, atMs, lastAtMs: atMs, times: 1 }, ANSWERS_KEPT);
  return { ...tracked, answers: next, wasPending: tracked.wasPending || answer === 'pending' };
}

/** The payment with kinds of breaks that were found. */
export function withBreaks(tracked: Tracked, kinds: readonly string[]): Tracked {
  const breaks = [...new Set([...tracked.breaks, ...kinds])];
  return { ...tracked, breaks, hadBreak: tracked.hadBreak || breaks.length > 0 };
}

/** The payment without kinds of breaks that are gone, and may be found again. */
export function withoutBreaks(tracked: Tracked, kinds: readonly string[]): Tracked {
  return { ...tracked, breaks: tracked.breaks.filter((kind) => !kinds.includes(kind)) };
}

/** Whether only callbacks mention the payment: anybody may have made up its reference. */
export function isUnknown(tracked: Tracked): boolean {
  return tracked.terms === null && tracked.version === 0n && !isBooked(tracked);
}

/** Whether the ledger has published anything about the payment. */
export function isBooked({
  posted,
  refunded,
  released,
}: Pick<Tracked, 'posted' | 'refunded' | 'released'>): boolean {
  return posted || refunded || released;
}

/** The states of an open payment, by the rail's answers. */
export const openStates = ['begun', 'acknowledged', 'refused', 'not_found'] as const;

/** One of {@link openStates}. */
export type OpenState = (typeof openStates)[number];

/**
 * The state of an open payment: the rail denies it, refused its newest attempt, answered a poll that it has it, or none of
 * these.
 */
export function openStateOf({
  notFoundSinceMs,
  refusedAtMs,
  wasPending,
}: Pick<Tracked, 'notFoundSinceMs' | 'refusedAtMs' | 'wasPending'>): OpenState {
  if (notFoundSinceMs !== null) return 'not_found';
  if (refusedAtMs !== null) return 'refused';
  return wasPending ? 'acknowledged' : 'begun';
}

/**
 * The amount that callbacks are compared with, in minor units: what it completed with, or before that what was asked.
 */
export function agreedAmount({ received }: Pick<Tracked, 'received'>, { amount }: Terms): bigint {
  return received ?? amount;
}

/**
 * What a payment may still move at the rail, or has moved there without our float showing it; minor units (ADR 28). A
 * completed payout that its rail is being asked about again may have been reversed there, until the rail has answered
 * and the owner has confirmed it.
 */
export function inFlight(tracked: Tracked): { readonly mayDebit: bigint; readonly mayCredit: bigint } {
  const { terms, status, dueAtMs } = tracked;
  if (terms === null || status === 'failed') return { mayDebit: 0n, mayCredit: 0n };
  const unposted = tracked.posted ? 0n : 1n;
  if (terms.kind === 'collection') {
    // The rail may keep more than a small collection brings.
    const net = unposted * (terms.amount - terms.railFee);
    return net < 0n ? { mayDebit: -net, mayCredit: 0n } : { mayDebit: 0n, mayCredit: net };
  }
  const mayBeReversed = status === 'reversed' || (status === 'completed' && dueAtMs !== null);
  const unrefunded = mayBeReversed && !tracked.refunded ? 1n : 0n;
  return { mayDebit: unposted * (terms.amount + terms.railFee), mayCredit: unrefunded * terms.amount };
}
