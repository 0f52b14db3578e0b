import { unreachable } from '@pesewa/kernel';
import { addClaim, bearsOut, type Claim, claimedEnd, type EndStatus, isEnd, isProven } from './claim.ts';
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
    case 'ended':
      return owned(tracked, sighting, at);
    default:
      return unreachable(sighting);
  }
}

function called(tracked: Tracked, claim: Claim, at: Pace): Tracked {
  const { terms } = tracked;
  const what = claim.proven ? 'proven' : 'hint';
  return {
    ...tracked,
    callbacks: addClaim(tracked.callbacks, claim),
    ...(terms === null
      ? untilShown(tracked, at)
      : needsPoll(claim, terms) && { dueAtMs: at.nowMs, claim: null }),
    history: remember(tracked.history, { what, detail: claim.status, atMs: claim.atMs }),
  };
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

function owned(
  tracked: Tracked,
  event: Extract<Sighting, { kind: 'opened' | 'asked' | 'ended' }>,
  at: Pace,
): Tracked {
  // The terms are news however late they come: without them the rail can't be asked.
  const late = event.kind === 'opened' && tracked.terms === null;
  if (event.version <= tracked.version && !late) return tracked;
  const seen = {
    ...tracked,
    version: event.version > tracked.version ? event.version : tracked.version,
    history: remember(tracked.history, { what: 'event', detail: event.name, atMs: event.atMs }),
  };
  const terms = event.kind === 'opened' ? event.terms : tracked.terms;
  // Completing a collection puts its first poll off as little when it is heard of before the beginning.
  const isFirst = event.kind === 'opened' && terms?.kind === 'collection';
  const newestAtMs = isFirst ? event.atMs : Math.max(event.atMs, lastEventAtMs(tracked));
  // A callback that came before our own event is looked into at once.
  const isHinted = terms !== null && tracked.callbacks.some((claim) => needsPoll(claim, terms));
  const firstPoll = { dueAtMs: isHinted ? at.nowMs : newestAtMs + at.firstPollAfterMs, claim: null };
  switch (event.kind) {
    case 'opened':
      return { ...seen, ...firstPoll, terms: event.terms, status: 'open', openedAtMs: event.atMs };
    case 'asked': {
      const answered = {
        ...seen,
        acceptedAtMs: event.answer === 'accepted' ? event.atMs : tracked.acceptedAtMs,
        refusedAtMs: event.answer === 'refused' ? event.atMs : null,
      };
      if (tracked.status !== 'open') return answered;
      // A merchant may complete as often as it likes: that must not put the rail's own word off for ever.
      const isDueEarlier = tracked.dueAtMs !== null && tracked.dueAtMs < firstPoll.dueAtMs;
      const keeps = isDueEarlier && terms?.kind === 'collection';
      return { ...answered, ...(!keeps && firstPoll), pollsInRound: 0 };
    }
    case 'ended': {
      const doubted = endsHeardOf(tracked).some((end) => !bearsOut(event.status, end));
      const polledAnyhowAtMs = tracked.terms === null ? null : tracked.dueAtMs;
      const dueAtMs = doubted ? (polledAnyhowAtMs ?? at.nowMs) : null;
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

function lastEventAtMs({ history }: Tracked): number {
  return history.findLast(({ what }) => what === 'event')?.lastAtMs ?? 0;
}
