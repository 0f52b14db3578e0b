import type { Clock } from '@pesewa/kernel';

/** A rate limit that lets callers wait for their turn. */
export interface TokenBucket {
  /** Takes a turn: gives how long to wait for it in milliseconds, or refuses if that exceeds the limit. */
  readonly take: () => { readonly granted: boolean; readonly waitMs: number };
}

/** Allows so many turns per second, after an initial burst of at most one second's worth. */
export function createTokenBucket(options: {
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly perSecondMax: number;
  readonly waitMsMax: number;
}): TokenBucket {
  const burst = Math.max(1, options.perSecondMax);
  let tokens = burst;
  let refilledAtMs = options.clock.nowMs();
  return {
    take: () => {
      const nowMs = options.clock.nowMs();
      // A clock that was set back adds no tokens and removes none.
      const elapsedMs = Math.max(0, nowMs - refilledAtMs);
      refilledAtMs = nowMs;
      tokens = Math.min(burst, tokens + (elapsedMs * options.perSecondMax) / 1000);
      const waitMs = tokens >= 1 ? 0 : Math.ceil(((1 - tokens) * 1000) / options.perSecondMax);
      const granted = waitMs <= options.waitMsMax;
      if (granted) tokens -= 1;
      return { granted, waitMs };
    },
  };
}
