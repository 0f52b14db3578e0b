import type { Clock } from '@pesewa/kernel';
import type { Logger } from '@pesewa/runtime';
import type { MongoClient } from 'mongodb';
import { startLoop } from '../loop.ts';

/**
 * How far our clock may be from the database's, so that times written by two processes stay comparable (ADR 16). The
 * clocks of two processes may therefore differ by twice as much.
 */
export const CLOCK_SKEW_MAX_MS = 5_000;

const PAUSE_MS = 20_000;

/** Our clock and the database's are too far apart. */
class ClockSkewError extends Error {
  override readonly name = 'ClockSkewError';
}

/**
 * How far our clock is ahead of the server's, in milliseconds; negative if it is behind. A difference that the round
 * trip could explain counts as 0.
 */
export async function measureClockSkewMs(client: MongoClient, clock: Pick<Clock, 'nowMs'>): Promise<number> {
  const askedMs = clock.nowMs();
  const { localTime } = await client.db('admin').command({ hello: 1 });
  const answeredMs = clock.nowMs();
  if (!(localTime instanceof Date)) throw new TypeError('the server does not report its time');
  const serverMs = localTime.getTime();
  if (serverMs < askedMs) return askedMs - serverMs;
  return Math.min(0, answeredMs - serverMs);
}

/** Throws a {@link ClockSkewError} where the clocks are further apart than they may be. */
export function assertClockSkew(skewMs: number): void {
  if (Math.abs(skewMs) <= CLOCK_SKEW_MAX_MS) return;
  const seconds = Math.round(Math.abs(skewMs) / 1_000);
  throw new ClockSkewError(
    `our clock is ${seconds} s ${skewMs > 0 ? 'ahead of' : 'behind'} MongoDB's: let both follow the same time server`,
  );
}

/**
 * Compares the clocks every twenty seconds; readiness checks read the newest result. A database that does not answer is
 * reported by other checks.
 */
export function startClockGuard(options: {
  readonly measure: () => Promise<number>;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Called for every comparison that finds the clocks too far apart. */
  readonly skewed: (error: Error) => void;
}) {
  let newestMs = 0;
  const loop = startLoop({
    name: 'clock guard',
    pauseMs: PAUSE_MS,
    clock: options.clock,
    logger: options.logger,
    round: async () => {
      newestMs = await options.measure();
      try {
        assertClockSkew(newestMs);
      } catch (error) {
        if (!(error instanceof ClockSkewError)) throw error;
        options.skewed(error);
      }
      return false;
    },
  });
  return {
    ...loop,
    /** Throws if the newest comparison found the clocks too far apart. */
    check: () => assertClockSkew(newestMs),
  };
}
