import { unreachable } from '@pesewa/kernel';

/** The two directions in which a payment moves money. */
export type PaymentKind = 'payout' | 'collection';

/** The ends of a payment, as a rail and its owner name them. */
export type EndStatus = 'completed' | 'failed' | 'reversed';

/** Where a payment stands, as its owner says; `awaited` until the owner's first event is seen. */
export type TrackedStatus = 'awaited' | 'open' | EndStatus;

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

/** What an unproven callback claims; amount and fee are decimal text, as it wrote them. */
export interface Claim {
  readonly status: string;
  readonly amount: string | null;
  readonly fee: string | null;
  readonly reason: string | null;
  readonly atMs: number;
}

/** One line of a payment's timeline; a repeated one is counted, not written again. */
export interface HistoryEntry {
  readonly what: 'event' | 'hint' | 'poll' | 'fact' | 'break' | 'posting';
  readonly detail: string;
  readonly atMs: number;
  readonly lastAtMs: number;
  readonly times: number;
}

/** A payment in the working set (design 7). */
export interface Tracked {
  readonly reference: string;
  /** Null until the owner's first event is seen: a callback or a ledger entry may come before it. */
  readonly terms: Terms | null;
  readonly status: TrackedStatus;
  /** The version of the newest event of the owner. */
  readonly version: bigint;
  readonly openedAtMs: number;
  /** When the rail is to be asked next; null while there is nothing to ask. */
  readonly dueAtMs: number | null;
  /** The token of the poll in progress. */
  readonly claim: string | null;
  readonly polls: number;
  /** Polls since the rail was last asked to move the money: what the pause to the next one grows by. */
  readonly pollsInRound: number;
  /** When the rail took the payment on, by its own answer; null where it has not, or nobody knows. */
  readonly acceptedAtMs: number | null;
  /** When the rail refused the newest attempt while an earlier one may yet be executed; null where it did not. */
  readonly refusedAtMs: number | null;
  /** The first few distinct claims of callbacks. */
  readonly callbacks: readonly Claim[];
  /** The kinds of the breaks that this payment has opened. */
  readonly breaks: readonly string[];
  /** Whether the ledger has moved the float for the payment, and for its reversal. */
  readonly posted: boolean;
  readonly refunded: boolean;
  readonly history: readonly HistoryEntry[];
}

/** What the reconciler learns of a payment; times in milliseconds since the epoch. */
export type Sighting =
  | {
      readonly kind: 'opened';
      readonly name: string;
      readonly version: bigint;
      readonly atMs: number;
      readonly terms: Terms;
    }
  | {
      readonly kind: 'asked';
      readonly name: string;
      readonly version: bigint;
      readonly atMs: number;
      /** What the rail answered, where that is of interest here. */
      readonly answer: 'accepted' | 'refused' | null;
    }
  | {
      readonly kind: 'ended';
      readonly name: string;
      readonly version: bigint;
      readonly atMs: number;
      readonly status: EndStatus;
      readonly terms: Terms;
    }
  | { readonly kind: 'hinted'; readonly claim: Claim }
  | {
      readonly kind: 'posted';
      readonly name: string;
      readonly posting: 'capture' | 'refund';
      readonly atMs: number;
    };

const CALLBACKS_MAX = 8;
const HISTORY_MAX = 50;

/** A payment of which nothing is known but its reference. */
export function awaited(reference: string, nowMs: number): Tracked {
  return {
    reference,
    terms: null,
    status: 'awaited',
    version: 0n,
    openedAtMs: nowMs,
    dueAtMs: null,
    claim: null,
    polls: 0,
    pollsInRound: 0,
    acceptedAtMs: null,
    refusedAtMs: null,
    callbacks: [],
    breaks: [],
    posted: false,
    refunded: false,
    history: [],
  };
}

/** Adds a line to a timeline and keeps it bounded. */
export function remember(
  history: readonly HistoryEntry[],
  entry: Pick<HistoryEntry, 'what' | 'detail' | 'atMs'>,
): readonly HistoryEntry[] {
  const last = history.at(-1);
  if (last && last.what === entry.what && last.detail === entry.detail) {
    return [...history.slice(0, -1), { ...last, lastAtMs: entry.atMs, times: last.times + 1 }];
  }
  return [...history, { ...entry, lastAtMs: entry.atMs, times: 1 }].slice(-HISTORY_MAX);
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

/**
 * What a sighting makes of a payment; the same object where it is no news.
 *
 * Events of the owner count by version, so a replay changes nothing; only the first one, which brings the terms, is
 * taken after a newer one. Hints and postings have no version: whoever reads
 * them drops those seen before.
 */
export function sight(
  tracked: Tracked,
  sighting: Sighting,
  at: { readonly nowMs: number; readonly firstPollAfterMs: number },
): Tracked {
  switch (sighting.kind) {
    case 'hinted':
      return hinted(tracked, sighting.claim, at.nowMs);
    case 'posted':
      return {
        ...tracked,
        ...(sighting.posting === 'capture' ? { posted: true } : { refunded: true }),
        history: remember(tracked.history, { what: 'posting', detail: sighting.name, atMs: sighting.atMs }),
      };
    case 'opened':
    case 'asked':
    case 'ended':
      return owned(tracked, sighting, at);
    default:
      return unreachable(sighting);
  }
}

function hinted(tracked: Tracked, claim: Claim, nowMs: number): Tracked {
  const known = tracked.callbacks.some(
    ({ status, amount, fee }) => status === claim.status && amount === claim.amount && fee === claim.fee,
  );
  const room = tracked.callbacks.length < CALLBACKS_MAX;
  return {
    ...tracked,
    callbacks: known || !room ? tracked.callbacks : [...tracked.callbacks, claim],
    ...(tracked.terms !== null && { dueAtMs: nowMs, claim: null }),
    history: remember(tracked.history, { what: 'hint', detail: claim.status, atMs: claim.atMs }),
  };
}

function owned(
  tracked: Tracked,
  event: Extract<Sighting, { kind: 'opened' | 'asked' | 'ended' }>,
  at: { readonly nowMs: number; readonly firstPollAfterMs: number },
): Tracked {
  // The terms are news however late they come: without them the rail can't be asked.
  const late = event.kind === 'opened' && tracked.terms === null;
  if (event.version <= tracked.version && !late) return tracked;
  const seen = {
    ...tracked,
    version: event.version > tracked.version ? event.version : tracked.version,
    history: remember(tracked.history, { what: 'event', detail: event.name, atMs: event.atMs }),
  };
  const newestAtMs = Math.max(event.atMs, lastEventAtMs(tracked));
  // A callback that came before our own event is looked into at once.
  const firstPoll = {
    dueAtMs: tracked.callbacks.length > 0 ? at.nowMs : newestAtMs + at.firstPollAfterMs,
    claim: null,
  };
  switch (event.kind) {
    case 'opened':
      return { ...seen, ...firstPoll, terms: event.terms, status: 'open', openedAtMs: event.atMs };
    case 'asked': {
      const answered = {
        ...seen,
        acceptedAtMs: event.answer === 'accepted' ? event.atMs : tracked.acceptedAtMs,
        refusedAtMs: event.answer === 'refused' ? event.atMs : null,
      };
      return tracked.status === 'open' ? { ...answered, ...firstPoll, pollsInRound: 0 } : answered;
    }
    case 'ended': {
      const doubted = endsHeardOf(tracked).some((end) => !bearsOut(event.status, end));
      const dueAtMs = doubted ? (tracked.dueAtMs ?? at.nowMs) : null;
      return {
        ...seen,
        status: event.status,
        terms: tracked.terms ?? event.terms,
        dueAtMs,
        claim: dueAtMs === null ? null : tracked.claim,
      };
    }
    default:
      return unreachable(event);
  }
}

/** The ends that callbacks have claimed, and the one that the rail last told: the owner may have gone by another. */
function endsHeardOf({ callbacks, history }: Tracked): readonly EndStatus[] {
  const claimed = callbacks.map(claimedEnd);
  const told = history.findLast(({ what, detail }) => what === 'fact' && isEnd(detail))?.detail;
  return [...claimed, told].filter((end) => end !== undefined && isEnd(end));
}

function isEnd(status: string): status is EndStatus {
  return status === 'completed' || status === 'failed' || status === 'reversed';
}

function lastEventAtMs({ history }: Tracked): number {
  return history.findLast(({ what }) => what === 'event')?.lastAtMs ?? 0;
}

/** What a payment may yet move at the rail, or has moved there unknown to our float; minor units (design 7). */
export function inFlight(tracked: Tracked): { readonly mayDebit: bigint; readonly mayCredit: bigint } {
  const { terms, status } = tracked;
  if (terms === null || status === 'failed') return { mayDebit: 0n, mayCredit: 0n };
  const unposted = tracked.posted ? 0n : 1n;
  if (terms.kind === 'collection')
    return { mayDebit: 0n, mayCredit: unposted * (terms.amount - terms.railFee) };
  const unrefunded = status === 'reversed' && !tracked.refunded ? 1n : 0n;
  return { mayDebit: unposted * (terms.amount + terms.railFee), mayCredit: unrefunded * terms.amount };
}
