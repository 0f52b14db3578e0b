import type { Verdict } from './question.ts';
import type { Tracked } from './tracked.ts';

/** How often an undecided payment is polled; all in milliseconds. */
export interface PollSchedule {
  readonly baseMs: number;
  readonly capMs: number;
  /** How long the rail's own lookup may lag behind a callback (ADR 6). */
  readonly settleMs: number;
}

/** When a payment is looked at after a sighting, in milliseconds. */
export interface Pace {
  readonly nowMs: number;
  /** How long after the rail was asked the first poll comes. */
  readonly firstPollAfterMs: number;
  /** How long a callback's reference may be unknown before people see it. */
  readonly unknownGraceMs: number;
  /** How long the ledger and the owner of a payment may be apart before people see it. */
  readonly booksGraceMs: number;
  /** After how long an end is told late. */
  readonly lateAfterMs: number;
}

const JITTER = 0.2;
const DOUBLINGS_MAX = 30;
const LOOKS_WHILE_SETTLING = 4;

/** How long the owner of an ended payment has to take its reversal before the rail is asked. */
const LOOK_AGAIN_MS = 60_000;

/** The least time between two polls of a payment that callbacks bring about: a flood of them asks no oftener. */
const HINT_INTERVAL_MS = 1_000;

/**
 * The pause before the next poll: it doubles up to the cap, with a fifth of jitter either way.
 *
 * While a callback's claim awaits its proof, the rail is asked a few times within the settle time.
 *
 * @param fraction chance, in [0, 1)
 */
export function pauseBeforePoll(
  schedule: PollSchedule,
  poll: { readonly pollsInRound: number; readonly settling: boolean },
  fraction: number,
): number {
  const doubled = schedule.baseMs * 2 ** Math.min(poll.pollsInRound, DOUBLINGS_MAX);
  const longest = poll.settling
    ? Math.min(schedule.capMs, schedule.settleMs / LOOKS_WHILE_SETTLING)
    : schedule.capMs;
  return Math.round(Math.min(doubled, longest) * (1 - JITTER + 2 * JITTER * fraction));
}

/** A payment that a callback makes due at once, or as soon as the interval since its newest poll is over. */
export function hastened(
  { askedAtMs, dueAtMs, claim }: Tracked,
  nowMs: number,
): Pick<Tracked, 'dueAtMs' | 'claim'> {
  // The database's clock told when it was asked: however far it is off ours, nothing is put off for longer.
  const restsUntilMs = Math.min(
    (askedAtMs ?? nowMs - HINT_INTERVAL_MS) + HINT_INTERVAL_MS,
    nowMs + HINT_INTERVAL_MS,
  );
  const earliestMs = Math.max(nowMs, restsUntilMs);
  // What is due while a poll is in progress is only the end of its lease.
  const isWaiting = claim === null && dueAtMs !== null;
  return { dueAtMs: isWaiting ? Math.min(dueAtMs, earliestMs) : earliestMs, claim: null };
}

/** An open payment is polled anyhow; one that had ended, and whose rail tells another end, until its owner has said so. */
export function untilTaken(
  { status }: Pick<Tracked, 'status'>,
  { fact }: Pick<Verdict, 'fact'>,
  nowMs: number,
): Partial<Pick<Tracked, 'dueAtMs' | 'claim'>> {
  return status !== 'open' && fact !== null ? { dueAtMs: nowMs + LOOK_AGAIN_MS, claim: null } : {};
}

/** Whether a poll that began then had its turn by the schedule, rather than by a callback alone. */
export function isScheduled({ scheduledAtMs }: Pick<Tracked, 'scheduledAtMs'>, polledAtMs: number): boolean {
  return scheduledAtMs !== null && polledAtMs >= scheduledAtMs;
}

/** A poll that has been made. */
export interface Poll {
  readonly claim: string;
  readonly polledAtMs: number;
  /** Whether the rail could be asked at all; where not, it is tried no oftener than the cap says. */
  readonly askable: boolean;
  /** How long the rail itself says that it is not to be asked again; 0 where it says nothing of it. */
  readonly restMs: number;
}

/**
 * A payment that our own limits kept us from asking about: that is no poll, so it neither counts nor moves the schedule.
 *
 * Behind an open circuit it stays due, and keeps its place among the oldest; otherwise it is due again soon.
 *
 * @param retry when a rail that can be asked has room again, with a fifth of jitter; null where its circuit is open
 */
export function notAsked(
  tracked: Tracked,
  { claim, polledAtMs }: Pick<Poll, 'claim' | 'polledAtMs'>,
  retry: Rest | null,
): Tracked {
  if (tracked.claim !== claim) return tracked;
  const stays = Math.min(tracked.scheduledAtMs ?? polledAtMs, polledAtMs);
  return { ...tracked, claim: null, dueAtMs: retry ? afterRest(retry) : stays };
}

/** When a rail has room again, at the soonest, and with a fifth of jitter. */
interface Rest {
  readonly nowMs: number;
  readonly afterMs: number;
  readonly fraction: number;
}

function afterRest({ nowMs, afterMs, fraction }: Rest): number {
  return Math.round(nowMs + afterMs * (1 + JITTER * fraction));
}

/**
 * When a payment is asked for again after a poll. Polls that callbacks alone brought about neither count nor move the
 * schedule. One that the rail turned away counts like any other, and is repeated no sooner than the rail permits.
 *
 * @param fraction chance, in [0, 1)
 */
export function afterPoll(
  tracked: Tracked,
  poll: Poll,
  { settling, unsettled }: Pick<Verdict, 'settling' | 'unsettled'>,
  at: { readonly schedule: PollSchedule; readonly nowMs: number; readonly fraction: number },
): Tracked {
  const { schedule, nowMs, fraction } = at;
  const counts = isScheduled(tracked, poll.polledAtMs);
  const pollsInRound = poll.askable ? tracked.pollsInRound : Number.POSITIVE_INFINITY;
  const pauseMs = (soon: boolean) => pauseBeforePoll(schedule, { pollsInRound, settling: soon }, fraction);
  const goesOn = tracked.status === 'open' || settling || unsettled;
  const later = counts || tracked.scheduledAtMs === null ? nowMs + pauseMs(false) : tracked.scheduledAtMs;
  const soonest = settling && poll.askable ? Math.min(later, nowMs + pauseMs(true)) : later;
  const dueAtMs = Math.max(soonest, afterRest({ nowMs, afterMs: poll.restMs, fraction }));
  return {
    ...tracked,
    polls: tracked.polls + 1,
    hintedPolls: tracked.hintedPolls + (counts ? 0 : 1),
    pollsInRound: tracked.pollsInRound + (counts ? 1 : 0),
    scheduledAtMs: goesOn ? later : null,
    // Whoever replaced our claim (a callback, the owner's event) has also said when to ask again.
    ...(tracked.claim === poll.claim && { claim: null, dueAtMs: goesOn ? dueAtMs : null }),
  };
}
