import { unreachable } from '@pesewa/kernel';
import { bearsOut, type Claim, claimedEnd, type EndStatus, isEnd, isOwn, isProven } from './claim.ts';
import { addClaim, claimsUnder } from './claims.ts';
import { hastened } from './schedule.ts';
import { isUnknown, remember, type Terms, type Tracked } from './tracked.ts';

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
      /** Nothing further is passed on to the rail: only its own word can end the collection (design 9). */
      readonly kind: 'closed';
      readonly name: string;
      readonly version: bigint;
      readonly atMs: number;
    }
  | {
      readonly kind: 'ended';
      readonly name: string;
      readonly version: bigint;
      readonly atMs: number;
      readonly status: EndStatus;
      readonly terms: Terms;
    }
  | { readonly kind: 'called'; readonly claim: Claim }
  | {
      readonly kind: 'posted';
      readonly name: string;
      readonly posting: 'capture' | 'refund';
      readonly atMs: number;
    };

/** When a payment is looked at after a sighting, in milliseconds. */
export interface Pace {
  readonly nowMs: number;
  /** How long after the rail was asked the first poll comes. */
  readonly firstPollAfterMs: number;
  /** How long a callback's reference may be unknown before people see it. */
  readonly unknownGraceMs: number;
}

/**
 * What a sighting makes of a payment; the same object where it is no news.
 *
 * Events of the owner count by version, so a replay changes nothing; only the first one, which brings the terms, is
 * taken after a newer one. Callbacks and postings have no version: whoever reads them drops those seen before.
 */
export function sight(tracked: Tracked, sighting: Sighting, at: Pace): Tracked {
  switch (sighting.kind) {
    case 'called':
      return called(tracked, sighting.claim, at);
    case 'posted':
      return {
        ...tracked,
        ...(sighting.posting === 'capture' ? { posted: true } : { refunded: true }),
        history: remember(tracked.history, { what: 'posting', detail: sighting.name, atMs: sighting.atMs }),
      };
    case 'opened':
    case 'asked':
    case 'closed':
    case 'ended':
      return owned(tracked, sighting, at);
    default:
      return unreachable(sighting);
  }
}

function called(tracked: Tracked, claim: Claim, at: Pace): Tracked {
  const { terms } = tracked;
  return {
    ...tracked,
    callbacks: addClaim(tracked.callbacks, claim, terms),
    ...(terms === null ? untilShown(tracked, at) : needsPoll(claim, terms) && hastened(tracked, at.nowMs)),
    history: remember(tracked.history, {
      what: sortOf(claim, terms),
      detail: claim.status,
      atMs: claim.atMs,
    }),
  };
}

/** What a claim is to its payment; of one that is not known yet it is no more than a hint. */
function sortOf(claim: Claim, terms: Terms | null): 'hint' | 'proven' | 'other rail' {
  if (terms !== null && !isOwn(claim, terms)) return 'other rail';
  return terms !== null && claim.proven ? 'proven' : 'hint';
}

/** A reference that nobody knows is looked at again once its owner has had time to speak of it. */
function untilShown(tracked: Tracked, { unknownGraceMs }: Pace) {
  const waits = tracked.dueAtMs === null && isUnknown(tracked);
  return waits && { dueAtMs: tracked.openedAtMs + unknownGraceMs };
}

/** Whether the rail is to be asked about a claim: not about an end that it proves. */
function needsPoll(claim: Claim, terms: Terms): boolean {
  return !isProven(claim, terms) || claimedEnd(claim) === undefined;
}

type OwnedSighting = Extract<Sighting, { kind: 'opened' | 'asked' | 'closed' | 'ended' }>;

function owned(tracked: Tracked, event: OwnedSighting, at: Pace): Tracked {
  // The terms are news however late they come: without them the rail can't be asked.
  const late = event.kind === 'opened' && tracked.terms === null;
  if (event.version <= tracked.version && !late) return tracked;
  const seen = {
    ...tracked,
    version: event.version > tracked.version ? event.version : tracked.version,
    history: remember(tracked.history, { what: 'event', detail: event.name, atMs: event.atMs }),
  };
  switch (event.kind) {
    case 'opened':
      return opened(tracked, underTerms(seen, event.terms), event, at);
    case 'asked':
      return asked(tracked, seen, event, at);
    case 'closed': {
      const { nowMs } = at;
      if (tracked.status !== 'open') return seen;
      return { ...seen, scheduledAtMs: nowMs, dueAtMs: nowMs, claim: null, pollsInRound: 0 };
    }
    case 'ended':
      return ended(tracked, underTerms(seen, tracked.terms ?? event.terms), event, at);
    default:
      return unreachable(event);
  }
}

/** The payment with its terms: of the claims that came before them only those of its own rail are kept. */
function underTerms(tracked: Tracked, terms: Terms): Tracked {
  if (tracked.terms !== null) return tracked;
  const callbacks = claimsUnder(terms, tracked.callbacks);
  let { history } = tracked;
  for (const { proven, status: detail, atMs } of callbacks) {
    if (proven) history = remember(history, { what: 'proven', detail, atMs });
  }
  return { ...tracked, terms, callbacks, history };
}

function opened(
  before: Tracked,
  seen: Tracked,
  event: Extract<Sighting, { kind: 'opened' }>,
  at: Pace,
): Tracked {
  // Completing a collection puts its first poll off as little when it is heard of before the beginning.
  const isFirst = event.terms.kind === 'collection';
  const newestAtMs = isFirst ? event.atMs : Math.max(event.atMs, lastEventAtMs(before));
  const scheduledAtMs = newestAtMs + at.firstPollAfterMs;
  // A callback that came before our own event is looked into at once.
  const isHinted = before.callbacks.some((claim) => needsPoll(claim, event.terms));
  const dueAtMs = isHinted ? at.nowMs : scheduledAtMs;
  return { ...seen, status: 'open', openedAtMs: event.atMs, scheduledAtMs, dueAtMs, claim: null };
}

function asked(
  before: Tracked,
  seen: Tracked,
  event: Extract<Sighting, { kind: 'asked' }>,
  at: Pace,
): Tracked {
  const answered = {
    ...seen,
    acceptedAtMs: event.answer === 'accepted' ? event.atMs : before.acceptedAtMs,
    refusedAtMs: event.answer === 'refused' ? event.atMs : null,
  };
  const { terms } = before;
  if (before.status !== 'open' || terms === null) return answered;
  const scheduledAtMs = Math.max(event.atMs, lastEventAtMs(before)) + at.firstPollAfterMs;
  // A merchant may complete as often as it likes: that must not put the rail's own word off for ever.
  const isEarlier = before.scheduledAtMs !== null && before.scheduledAtMs < scheduledAtMs;
  if (isEarlier && terms.kind === 'collection') return { ...answered, pollsInRound: 0 };
  const isHinted = before.callbacks.some((claim) => needsPoll(claim, terms));
  const due = isHinted ? hastened(before, at.nowMs) : { dueAtMs: scheduledAtMs, claim: null };
  return { ...answered, scheduledAtMs, ...due, pollsInRound: 0 };
}

function ended(
  before: Tracked,
  seen: Tracked,
  event: Extract<Sighting, { kind: 'ended' }>,
  at: Pace,
): Tracked {
  const doubted = endsHeardOf(seen).some((end) => !bearsOut(event.status, end));
  const polledAnyhowAtMs = before.terms === null ? null : before.dueAtMs;
  const dueAtMs = doubted ? (polledAnyhowAtMs ?? at.nowMs) : null;
  const isReceived = event.status === 'completed' && event.terms.kind === 'collection';
  return {
    ...seen,
    status: event.status,
    received: isReceived ? event.terms.amount : seen.received,
    scheduledAtMs: null,
    dueAtMs,
    claim: dueAtMs === null ? null : before.claim,
  };
}

/** The ends that callbacks have claimed, and the one that the rail last told: the owner may have gone by another. */
function endsHeardOf({ callbacks, history }: Tracked): readonly EndStatus[] {
  const claimed = callbacks.map(claimedEnd);
  const told = history.findLast(({ what, detail }) => what === 'fact' && isEnd(detail))?.detail;
  return [...claimed, told].filter((end) => end !== undefined && isEnd(end));
}

function lastEventAtMs({ history }: Tracked): number {
  return history.findLast(({ what }) => what === 'event')?.lastAtMs ?? 0;
}
