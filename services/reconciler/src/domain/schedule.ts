/** How often an undecided payment is polled; all in milliseconds. */
export interface PollSchedule {
  readonly baseMs: number;
  readonly capMs: number;
  /** How long the rail's own lookup may lag behind a callback (design 4.5). */
  readonly settleMs: number;
}

const JITTER = 0.2;
const DOUBLINGS_MAX = 30;
const LOOKS_WHILE_SETTLING = 4;

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
