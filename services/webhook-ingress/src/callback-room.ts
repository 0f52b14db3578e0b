import type { Clock } from '@pesewa/kernel';
import { startLoop } from '@pesewa/messaging';
import type { Logger } from '@pesewa/runtime';
import { Gauge, type Registry } from 'prom-client';
import type { CallbackStore } from './store.ts';

/** How much of the database callbacks may take that neither a signature nor a listed address vouches for. */
export interface CallbackRoom extends AsyncDisposable {
  /** False while they take too much: until some of them have expired, or more is allowed. */
  readonly hasRoom: () => boolean;
}

const CHECK_PAUSE_MS = 60_000;
/** They are taken again only below so much of the bound, so that the share, which is an estimate, does not change it from minute to minute. */
const RESUME_BELOW_SHARE = 0.9;

/**
 * Measures once a minute. What comes within that minute is on top of the bound, and bounded by the rate of such callbacks. A
 * measurement that fails leaves the former one.
 */
export function openCallbackRoom(options: {
  readonly store: Pick<CallbackStore, 'bytes' | 'unverifiedShare'>;
  readonly bytesMax: number;
  readonly registry: Registry;
  readonly clock: Clock;
  readonly logger: Logger;
}): CallbackRoom {
  const { store, bytesMax, registry, clock, logger } = options;
  const gauge = new Gauge({
    name: 'callbacks_full',
    help: '1 while stored unauthenticated callbacks take so much that more of them are refused, 0 otherwise.',
    registers: [registry],
  });
  let isFull = false;
  const loop = startLoop({
    name: 'callback room',
    pauseMs: CHECK_PAUSE_MS,
    clock,
    logger,
    round: async () => {
      const bytes = await store.bytes();
      // The share matters only where all of them take more than a part of them may.
      const unverifiedBytes = bytes > bytesMax ? Math.round(bytes * (await store.unverifiedShare())) : 0;
      const wasFull = isFull;
      isFull = unverifiedBytes > (wasFull ? bytesMax * RESUME_BELOW_SHARE : bytesMax);
      gauge.set(isFull ? 1 : 0);
      const about = { bytes, unverifiedBytes, bytesMax };
      if (isFull && !wasFull) logger.error(about, 'unauthenticated callbacks are refused');
      if (wasFull && !isFull) logger.info(about, 'unauthenticated callbacks are taken again');
      return false;
    },
  });
  return { hasRoom: () => !isFull, [Symbol.asyncDispose]: () => loop[Symbol.asyncDispose]() };
}
