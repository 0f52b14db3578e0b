import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/**
 * Counts a request of a key against its limit. Gives the whole seconds to wait if it is one too many, else undefined.
 */
export type RateLimiter = (key: string, limit: number) => Promise<number | undefined>;

/**
 * Builds a {@link RateLimiter} with windows that begin at a key's first request (ADR 15).
 *
 * There is one limiter per limit in use. Counts live in this process, for one window at most.
 */
export function createRateLimiter(windowSeconds: number): RateLimiter {
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
