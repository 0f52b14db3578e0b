import type { Clock } from '@pesewa/kernel';
import type { NotSent, Observation } from '@pesewa/rails';
import type { PolledRail } from './poller.ts';

/**
 * The rail, asked by polls and closes alike: once it turns a question away (HTTP 429), nothing more is asked of it here
 * until the time that it names.
 *
 * Meanwhile it counts as not available, like one with an open circuit: what is due stays due, and keeps its place. Each
 * replica hears it for itself.
 */
export function restWhenTurnedAway(rail: PolledRail, clock: Pick<Clock, 'nowMs'>): PolledRail {
  let rest = { fromMs: 0, untilMs: 0 };
  const heard = (answer: Observation | NotSent): Observation | NotSent => {
    if (answer.kind === 'unknown' && answer.retryAfterMs !== undefined) {
      const fromMs = clock.nowMs();
      // Answers to what was under way cross: the longest rest holds.
      rest = {
        fromMs,
        untilMs: Math.max(isResting(fromMs) ? rest.untilMs : fromMs, fromMs + answer.retryAfterMs),
      };
    }
    return answer;
  };
  // A clock that was set back does not prolong the rest.
  const isResting = (nowMs: number) => nowMs >= rest.fromMs && nowMs < rest.untilMs;
  return {
    ...rail,
    isAvailable: () => !isResting(clock.nowMs()) && rail.isAvailable(),
    lookUpPayout: async (query) => heard(await rail.lookUpPayout(query)),
    checkCollection: async (query) => heard(await rail.checkCollection(query)),
  };
}
