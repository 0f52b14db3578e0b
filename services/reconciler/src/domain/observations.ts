import { DAY_MS, unreachable } from '@pesewa/kernel';
import { differingClaim } from './amounts.ts';
import { dueBooks } from './books.ts';
import { type Claim, claimedEnd, type EndStatus, isConsistentWith, isEnd, isOwn, isProven } from './claim.ts';
import { addClaim, claimsUnder, isRepeatedClaim } from './claims.ts';
import { broughtBy, type OwnerRecord } from './coverage.ts';
import { goesStraight, hastened, type Timing } from './schedule.ts';
import { type Booked, isUnknown, lacksTerms, type Terms, type Tracked } from './tracked.ts';

/** What every event of a payment's owner has. */
interface OwnersEvent {
  readonly name: string;
  readonly version: bigint;
  readonly atMs: number;
}

/** An observation of a payment; times in milliseconds since the epoch. */
export type PaymentObservation =
  | (OwnersEvent & { readonly kind: 'opened'; readonly terms: Terms })
  /** The rail was asked; with its answer, if it matters here. */
  | (OwnersEvent & { readonly kind: 'asked'; readonly answer: 'acknowledged' | 'refused' | null })
  /** Nothing more is passed on to the rail: only its own status can end the collection (contract 10.12). */
  | (OwnersEvent & { readonly kind: 'closed' })
  | (OwnersEvent & {
      readonly kind: 'ended';
      readonly status: EndStatus;
      readonly terms: Terms;
      /** The rail's own fee of a completed payout, in minor units, if its owner reports it. */
      readonly charged?: bigint;
    })
  | { readonly kind: 'called'; readonly claim: Claim }
  | {
      readonly kind: 'posted';
      readonly name: string;
      /** `release`: the ledger holds nothing any more, or has refused to. */
      readonly posting: 'capture' | 'refund' | 'release';
      /** The change of our float, without the rail's own fee; null if there was none. */
      readonly moved: Booked | null;
      readonly atMs: number;
    }
  | {
      /** The payment is taken from its gateway's record, because its event did not come. */
      readonly kind: 'audited';
      readonly name: string;
      readonly record: OwnerRecord;
    };

/**
 * The payment after an observation; the same object if it is no news, so that an event that is published again changes
 * nothing. Events of the owner count by version; only the first one, which brings the terms, is applied even after a
 * newer one. The ledger posts each kind once, and a callback is recognised by its claim and its time.
 */
export function apply(tracked: Tracked, observation: PaymentObservation, at: Timing): Tracked {
  if (observation.kind === 'called') return called(tracked, observation.claim, at);
  const after = applied(tracked, observation, at);
  if (after === tracked) return tracked;
  return isTooOld(after, observation, at) ? { ...after, booksDueAtMs: null } : dueBooks(after, at);
}

function applied(
  tracked: Tracked,
  observation: Exclude<PaymentObservation, { kind: 'called' }>,
  at: Timing,
): Tracked {
  if (observation.kind === 'posted') return posted(tracked, observation);
  return observation.kind === 'audited' ? audited(tracked, observation, at) : owned(tracked, observation, at);
}

/** An older entry may belong to a payment whose own events the topics no longer hold (seven days at least). */
const EXPLAINED_WITHIN_MS = 7 * DAY_MS;

function isTooOld({ terms }: Tracked, observation: PaymentObservation, { nowMs }: Timing): boolean {
  return terms === null && observation.kind === 'posted' && nowMs - observation.atMs > EXPLAINED_WITHIN_MS;
}

const FLAGS = { capture: 'posted', refund: 'refunded', release: 'released' } as const;

function posted(
  tracked: Tracked,
  { posting, moved }: Extract<PaymentObservation, { kind: 'posted' }>,
): Tracked {
  const flag = FLAGS[posting];
  if (tracked[flag]) return tracked;
  return { ...tracked, [flag]: true, booked: moved === null ? tracked.booked : sumOf(tracked, moved) };
}

/** If one entry is known without its amount, there is no sum. */
function sumOf({ booked, posted, refunded }: Tracked, moved: Booked): Booked | null {
  if (booked === null) return posted || refunded ? null : moved;
  return { ...moved, minor: booked.minor + moved.minor };
}

function called(tracked: Tracked, claim: Claim, at: Timing): Tracked {
  const { terms } = tracked;
  if (isRepeatedClaim(tracked, claim)) return tracked;
  const isProof = isUnknown(tracked) && claim.proven && !tracked.callbacks.some(({ proven }) => proven);
  const after = {
    ...tracked,
    // However old its hints are, it is kept for long enough to be looked into.
    ...(isProof && { openedAtMs: at.nowMs }),
    callbacks: addClaim(tracked.callbacks, claim, terms),
    ...(terms !== null && needsPoll(claim, terms) && hastened(tracked, at.nowMs)),
  };
  return isProof ? dueBooks(after, at) : after;
}

/** Whether the rail must be asked about a claim: not about an end that it proves. */
function needsPoll(claim: Claim, terms: Terms): boolean {
  return !isProven(claim, terms) || claimedEnd(claim) === undefined;
}

type OwnedObservation = Extract<PaymentObservation, { kind: 'opened' | 'asked' | 'closed' | 'ended' }>;

function owned(tracked: Tracked, event: OwnedObservation, at: Timing): Tracked {
  // The terms are news however late they come: without them, or without their country, the rail can't be asked.
  const isAwaited = lacksTerms(tracked) || tracked.breaks.includes('coverage.missing');
  const late = event.kind === 'opened' && isAwaited;
  if (event.version <= tracked.version && !late) return tracked;
  if (event.kind === 'asked' && goesStraight(tracked, event, at)) return tracked;
  const seen = { ...tracked, version: event.version > tracked.version ? event.version : tracked.version };
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

/** The payment with its terms, by which its earlier claims are kept. */
function underTerms(tracked: Tracked, terms: Terms): Tracked {
  return lacksTerms(tracked)
    ? { ...tracked, terms, callbacks: claimsUnder(terms, tracked.callbacks) }
    : tracked;
}

/**
 * The payment after the audit: a missed one is added and polled at once, and a missed end is adopted. The version
 * stays, so that the event itself is still news if it comes after all.
 */
function audited(
  tracked: Tracked,
  { record }: Extract<PaymentObservation, { kind: 'audited' }>,
  at: Timing,
): Tracked {
  if (broughtBy(tracked, record) === undefined) return tracked;
  const { status, terms, acceptedAt } = record;
  if (status !== 'open') return ended(tracked, tracked, { status, terms, atMs: at.nowMs }, at);
  return opened(tracked, underTerms(tracked, terms), { terms, atMs: acceptedAt.getTime() }, at);
}

function opened(
  before: Tracked,
  seen: Tracked,
  event: Pick<Extract<PaymentObservation, { kind: 'opened' }>, 'terms' | 'atMs'>,
  at: Timing,
): Tracked {
  // An event that comes after the audit has added the payment must not reopen it.
  if (isEnd(before.status)) return seen;
  const firstAtMs = event.atMs + at.firstPollAfterMs;
  // If the completion of a collection is heard of before its beginning, it must not delay the first poll either.
  const isFirst = event.terms.kind === 'collection';
  const scheduledAtMs = isFirst ? firstAtMs : Math.max(firstAtMs, before.scheduledAtMs ?? 0);
  // A callback from before our own event is looked into at once.
  const isHinted = before.callbacks.some((claim) => needsPoll(claim, event.terms));
  const dueAtMs = isHinted ? at.nowMs : scheduledAtMs;
  return { ...seen, status: 'open', openedAtMs: event.atMs, scheduledAtMs, dueAtMs, claim: null };
}

function asked(
  before: Tracked,
  seen: Tracked,
  event: Extract<PaymentObservation, { kind: 'asked' }>,
  at: Timing,
): Tracked {
  const answered = { ...seen, refusedAtMs: event.answer === 'refused' ? event.atMs : null };
  const { terms } = before;
  const scheduledAtMs = event.atMs + at.firstPollAfterMs;
  if (terms === null) return { ...answered, scheduledAtMs };
  if (before.status !== 'open') return answered;
  // A merchant may complete as often as it likes, which must not delay the poll for ever.
  const isEarlier = before.scheduledAtMs !== null && before.scheduledAtMs < scheduledAtMs;
  if (isEarlier && terms.kind === 'collection') return { ...answered, pollsInRound: 0 };
  const isHinted = before.callbacks.some((claim) => isOwn(claim, terms) && needsPoll(claim, terms));
  const due = isHinted ? hastened(before, at.nowMs) : { dueAtMs: scheduledAtMs, claim: null };
  return { ...answered, scheduledAtMs, ...due, pollsInRound: 0 };
}

function ended(
  before: Tracked,
  seen: Tracked,
  event: Pick<Extract<PaymentObservation, { kind: 'ended' }>, 'status' | 'terms' | 'atMs' | 'charged'>,
  at: Timing,
): Tracked {
  // The audit adopted the reversal before the completion came, which therefore does not change the status.
  if (before.status === 'reversed' && event.status === 'completed')
    return { ...seen, charged: event.charged ?? seen.charged };
  const isReceived = event.status === 'completed' && event.terms.kind === 'collection';
  const received = isReceived ? event.terms.amount : seen.received;
  const unclear =
    endsHeardOf(seen).some((end) => !isConsistentWith(event.status, end)) ||
    isAmountUnclear({ ...seen, received });
  // A poll under way may have confirmed a callback, which is not written: its lease says nothing of when to ask.
  const due = unclear ? hastened(before, at.nowMs) : { dueAtMs: null, claim: null };
  return {
    ...seen,
    status: event.status,
    endedAtMs: event.atMs,
    endHeardAtMs: at.nowMs - event.atMs > at.lateAfterMs ? at.nowMs : null,
    uncompared: true,
    received,
    charged: event.charged ?? seen.charged,
    scheduledAtMs: null,
    endReported: null,
    ...due,
  };
}

/**
 * Whether a callback claims another amount than the payment ended with, and no break reports that: it may have crossed
 * the end.
 */
function isAmountUnclear(ended: Tracked): boolean {
  const { terms, breaks } = ended;
  if (terms === null || breaks.some((kind) => kind.endsWith('.amount_differs'))) return false;
  return differingClaim(ended, terms) !== undefined;
}

/** The ends that callbacks have claimed, and the rail's latest: the owner may have applied another. */
function endsHeardOf({ callbacks, terms, endReported }: Tracked): readonly EndStatus[] {
  const own = callbacks.filter((claim) => terms !== null && isOwn(claim, terms));
  return [...own.map(claimedEnd), endReported?.status].filter((end) => end !== undefined);
}
