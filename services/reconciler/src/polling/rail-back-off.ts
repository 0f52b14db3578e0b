import type { Clock } from '@pesewa/kernel';
import type { LookupResult, NotSent } from '@pesewa/rails';
import type { PolledRail } from './polled-rail.ts';

/**
 * Wraps the rail, which polls and closes share: once it turns a question away (HTTP 429), nothing more is asked of it
 * here until the time that it names.
 *
 * Meanwhile it counts as unavailable, as with an open circuit: due payments stay due and keep their place. Each replica
 * learns it separately.
 */
export function backOffWhenTurnedAway(rail: PolledRail, clock: Pick<Clock, 'nowMs'>): PolledRail {
  let backOff = { fromMs: 0, untilMs: 0 };
  const heard = (answer: LookupResult | NotSent): LookupResult | NotSent => {
    if (answer.kind === 'unknown' && answer.retryAfterMs !== undefined) {
      const fromMs = clock.nowMs();
      // Concurrent answers may cross: the longest back-off applies.
      backOff = {
        fromMs,
        untilMs: Math.max(isBackingOff(fromMs) ? backOff.untilMs : fromMs, fromMs + answer.retryAfterMs),
      };
    }
    return answer;
  };
  // A clock that was set back must not prolong the back-off.
  const isBackingOff = (nowMs: number) => nowMs >= backOff.fromMs && nowMs < backOff.untilMs;
  const { payouts, collections } = rail;
  return {
    ...rail,
    isAvailable: () => !isBackingOff(clock.nowMs()) && rail.isAvailable(),
    payouts: payouts && { lookUp: async (query) => heard(await payouts.lookUp(query)) },
    collections: collections && { check: async (query) => heard(await collections.check(query)) },
  };
}
