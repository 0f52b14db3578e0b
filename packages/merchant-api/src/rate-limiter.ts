import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible';

/**
 * Counts requests of a key against its limit, in windows that begin at the key's first request (ADR 15). Gives the whole
 * seconds to wait if it is one too many, else undefined.
 *
 * There is one limiter per limit in use. Counts live in this process, for one window at most.
 */
export function createRateLimiter(windowSeconds: number) {
  const byLimit = new Map<number, RateLimiterMemory>();
  return async (key: string, limit: number): Promise<number | undefined> => {
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
