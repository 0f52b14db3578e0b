import type { Clock } from '@pesewa/kernel';

/** A rate limit that gives each caller its turn. */
export interface TokenBucket {
  /** Takes a turn: how long to wait for it in milliseconds, or a refusal where that exceeds the bound. */
  readonly take: () => { readonly granted: boolean; readonly waitMs: number };
}

/** Allows so many turns per second, after a burst of at most one second's worth. */
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
      // A clock that was set back gives no tokens and takes none.
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
