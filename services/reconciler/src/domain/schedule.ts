import type { RailAnswer, Verdict } from './judging.ts';
import type { Tracked } from './tracked.ts';

/** How often an undecided payment is polled; all in milliseconds. */
export interface PollSchedule {
  readonly baseMs: number;
  readonly capMs: number;
  /** How long the rail's own lookup may lag behind a callback (ADR 6). */
  readonly lagMs: number;
}

/** The delays after an observation of a payment, in milliseconds. */
export interface Timing {
  readonly nowMs: number;
  /** From asking the rail to the first poll. */
  readonly firstPollAfterMs: number;
  /** How long the ledger and the owner of a payment may differ before people see it. */
  readonly booksGraceMs: number;
  /** After how long the report of an end counts as late. */
  readonly lateAfterMs: number;
}

const JITTER = 0.2;
const DOUBLINGS_MAX = 30;
const LOOKS_WHILE_LAGGING = 4;

/** How long the owner of an ended payment has to apply its reversal before the rail is asked. */
const LOOK_AGAIN_MS = 60_000;

/** The shortest time between two polls of a payment that callbacks cause: a flood of callbacks causes no more polls. */
const HINT_INTERVAL_MS = 1_000;

/**
 * The pause before the next poll: it doubles up to a maximum, with a fifth of jitter either way.
 *
 * While a callback's claim waits for confirmation, the rail is asked a few times within the allowed lag.
 *
 * @param fraction a random number in [0, 1)
 */
export function pauseBeforePoll(
  schedule: PollSchedule,
  poll: { readonly pollsInRound: number; readonly lagging: boolean },
  fraction: number,
): number {
  const doubled = schedule.baseMs * 2 ** Math.min(poll.pollsInRound, DOUBLINGS_MAX);
  const longest = poll.lagging
    ? Math.min(schedule.capMs, schedule.lagMs / LOOKS_WHILE_LAGGING)
    : schedule.capMs;
  return Math.round(Math.min(doubled, longest) * (1 - JITTER + 2 * JITTER * fraction));
}

/** The payment, made due by a callback: at once, or as soon as the interval since its latest poll is over. */
export function hastened(
  { askedAtMs, dueAtMs, claim }: Tracked,
  nowMs: number,
): Pick<Tracked, 'dueAtMs' | 'claim'> {
  // The time of asking is from the database's clock: however far that is from ours, nothing is delayed for longer.
  const restsUntilMs = Math.min(
    (askedAtMs ?? nowMs - HINT_INTERVAL_MS) + HINT_INTERVAL_MS,
    nowMs + HINT_INTERVAL_MS,
  );
  const earliestMs = Math.max(nowMs, restsUntilMs);
  // During a poll `dueAtMs` is only the end of its lease.
  const isWaiting = claim === null && dueAtMs !== null;
  return { dueAtMs: isWaiting ? Math.min(dueAtMs, earliestMs) : earliestMs, claim: null };
}

/**
 * An open payment is polled anyway. One that has ended is polled if its rail reports another end, until the owner has
 * applied it.
 */
export function untilTaken(
  { status }: Pick<Tracked, 'status'>,
  { fact }: Pick<Verdict, 'fact'>,
  nowMs: number,
): Partial<Pick<Tracked, 'dueAtMs' | 'claim'>> {
  return status !== 'open' && fact !== null ? { dueAtMs: nowMs + LOOK_AGAIN_MS, claim: null } : {};
}

/**
 * Whether a rail has acknowledged a payout of which its owner has reported nothing but its beginning, soon enough that its
 * first poll need not wait longer. Nothing is written of that: its owner's record has it for those that need it (ADR
 * 26). That it was polled since does not matter: an acceptance that is heard again must not begin its schedule anew.
 */
export function goesStraight(
  { status, version, openedAtMs }: Tracked,
  { answer, atMs }: { readonly answer: 'acknowledged' | 'refused' | null; readonly atMs: number },
  { firstPollAfterMs }: Timing,
): boolean {
  const isFirst = status === 'open' && version === 1n;
  return answer === 'acknowledged' && isFirst && atMs - openedAtMs <= firstPollAfterMs / 2;
}

/** Whether a poll that began then was due by the schedule, and not only because of a callback. */
export function isScheduled({ scheduledAtMs }: Pick<Tracked, 'scheduledAtMs'>, askedAtMs: number): boolean {
  return scheduledAtMs !== null && askedAtMs >= scheduledAtMs;
}

/** A finished poll; the rail may say in its answer how long it must not be asked again. */
export interface Poll {
  readonly claim: string;
  readonly askedAtMs: number;
  readonly answer: RailAnswer;
}

/**
 * A payment that our own limits kept us from asking about. That was no poll, so it neither counts nor changes the
 * schedule.
 *
 * Behind an open circuit it stays due and keeps its place among the oldest; otherwise it is due again soon.
 *
 * @param retryAtMs when the rail has capacity again; null if its circuit is open
 */
export function notAsked(
  tracked: Tracked,
  { claim, askedAtMs }: Pick<Poll, 'claim' | 'askedAtMs'>,
  retryAtMs: number | null,
): Tracked {
  if (tracked.claim !== claim) return tracked;
  const stays = Math.min(tracked.scheduledAtMs ?? askedAtMs, askedAtMs);
  return { ...tracked, claim: null, dueAtMs: retryAtMs ?? stays };
}

/** The end of a back-off, with a fifth of jitter. */
export function afterBackOff(nowMs: number, afterMs: number, fraction: number): number {
  return Math.round(nowMs + afterMs * (1 + JITTER * fraction));
}

/**
 * Schedules the next poll of a payment. Polls that only callbacks caused neither count nor change the schedule. A poll
 * that the rail turned away counts like any other, and is repeated no sooner than the rail permits.
 *
 * @param fraction a random number in [0, 1)
 */
export function afterPoll(
  tracked: Tracked,
  { claim, askedAtMs, answer }: Poll,
  { lagging, undecided }: Pick<Verdict, 'lagging' | 'undecided'>,
  at: { readonly schedule: PollSchedule; readonly nowMs: number; readonly fraction: number },
): Tracked {
  const { schedule, nowMs, fraction } = at;
  const counts = isScheduled(tracked, askedAtMs);
  // A rail that can't be asked at all is tried at the longest pause.
  const askable = answer.kind !== 'unaskable';
  const pollsInRound = askable ? tracked.pollsInRound : Number.POSITIVE_INFINITY;
  const pauseMs = (soon: boolean) => pauseBeforePoll(schedule, { pollsInRound, lagging: soon }, fraction);
  const goesOn = tracked.status === 'open' || lagging || undecided;
  const later = counts || tracked.scheduledAtMs === null ? nowMs + pauseMs(false) : tracked.scheduledAtMs;
  const soonest = lagging && askable ? Math.min(later, nowMs + pauseMs(true)) : later;
  const backOffMs = answer.kind === 'unknown' ? (answer.retryAfterMs ?? 0) : 0;
  const dueAtMs = Math.max(soonest, afterBackOff(nowMs, backOffMs, fraction));
  return {
    ...tracked,
    polls: tracked.polls + 1,
    hintedPolls: tracked.hintedPolls + (counts ? 0 : 1),
    pollsInRound: tracked.pollsInRound + (counts ? 1 : 0),
    scheduledAtMs: goesOn ? later : null,
    // Whatever replaced our claim (a callback, the owner's event) has also set the next poll.
    ...(tracked.claim === claim && { claim: null, dueAtMs: goesOn ? dueAtMs : null }),
  };
}
