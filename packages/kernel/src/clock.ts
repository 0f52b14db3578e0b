import { setTimeout as delay } from 'node:timers/promises';

/** A day; a calendar day may be an hour shorter or longer. */
export const DAY_MS = 86_400_000;

/** The passing of time as an argument, so that tests can move it. */
export interface Clock {
  /** The wall clock, in milliseconds since the epoch (UTC). */
  readonly nowMs: () => number;
  /** Resolves after the duration, or at once and quietly when the signal aborts. */
  readonly sleep: (durationMs: number, signal?: AbortSignal) => Promise<void>;
}

/** The machine's own clock. */
export const systemClock: Clock = {
  nowMs: () => Date.now(),
  sleep: async (durationMs, signal) => {
    try {
      await delay(durationMs, undefined, { ...(signal && { signal }) });
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    }
  },
};

/** Nothing came within its time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** The promise's outcome, or a {@link DeadlineError} once the time has passed; a later outcome is ignored. */
export async function withDeadline<Value>(
  promise: Promise<Value>,
  timeoutMs: number,
  clock: Pick<Clock, 'sleep'>,
): Promise<Value> {
  const finished = new AbortController();
  const overdue = clock.sleep(timeoutMs, finished.signal).then(() => {
    throw new DeadlineError(`no answer within ${timeoutMs} ms`);
  });
  try {
    return await Promise.race([promise, overdue]);
  } finally {
    finished.abort();
  }
}
