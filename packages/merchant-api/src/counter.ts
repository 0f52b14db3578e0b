import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/** Counts a request of a key against its limit: whole seconds to wait where it is one too many, else nothing. */
export type RateCounter = (key: string, limit: number) => Promise<number | undefined>;

/**
 * Builds a {@link RateCounter} in windows that begin with a key's first request (docs/adr/0015).
 *
 * There is one limiter for each limit in use; what is counted lives in this process, no longer than its window.
 */
export function createCounter(windowSeconds: number): RateCounter {
  const byLimit = new Map<number, RateLimiterMemory>();
  return async (key, limit) => {
    let limiter = byLimit.get(limit);
    if (!limiter) {
      limiter = new RateLimiterMemory({ points: limit, duration: windowSeconds });
      byLimit.set(limit, limiter);
    }
    try {
      await limiter.consume(key);
      return undefined;
    } catch (error) {
      if (error instanceof RateLimiterRes) return Math.max(1, Math.ceil(error.msBeforeNext / 1_000));
      throw error;
    }
  };
}
