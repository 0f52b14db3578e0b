/** A day; a calendar day may be an hour shorter or longer. */
export const DAY_MS = 86_400_000;

/** Midnight of a day, UTC; undefined for a day that the calendar does not have. Months count from 1. */
export function midnightMs(year: number, month: number, day: number): number | undefined {
  const atMs = Date.UTC(year, month - 1, day);
  return new Date(atMs).getUTCMonth() === month - 1 ? atMs : undefined;
}

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
  // By a plain timer: one of promises makes an error with a stack for each that is called off, and most are.
  sleep: (durationMs, signal) =>
    new Promise((resolve) => {
      if (signal?.aborted === true) return resolve();
      const over = () => {
        clearTimeout(timer);
        signal?.removeEventListener('abort', over);
        resolve();
      };
      const timer = setTimeout(over, durationMs);
      signal?.addEventListener('abort', over);
    }),
};

/** A clock whose time is never set back, for durations alone: what waits by the wall clock waits for as long as that was. */
export function steady(clock: Clock): Clock {
  return { ...clock, nowMs: () => performance.now() };
}

/** By less than this the wall clock is corrected, or a reading of one of two clocks delayed. */
const SLEEP_MS_MIN = 1_000;

/**
 * The time for rights that end by another machine's clock: never set back, and not behind if the machine slept, which
 * stops the monotonic clock: what the wall clock passes more than that since the reading before counts too, also after it
 * was set back. A step forward of the wall clock ends such rights early.
 */
export function sleepless(wall: Pick<Clock, 'nowMs'>, monotonicMs = () => performance.now()): () => number {
  let aheadMs = 0;
  let offsetMs = wall.nowMs() - monotonicMs();
  return () => {
    const nowMs = monotonicMs();
    const sleptMs = wall.nowMs() - nowMs - offsetMs;
    offsetMs += sleptMs;
    if (sleptMs > SLEEP_MS_MIN) aheadMs += sleptMs;
    return nowMs + aheadMs;
  };
}

/** Nothing came within its time. */
export class DeadlineError extends Error {
  override readonly name = 'DeadlineError';
}

/** A reason of its own: without one an abort makes an error with a stack. */
const CALLED_OFF = 'called off';

/** The promise's outcome, or a {@link DeadlineError} once the time has passed; a later outcome is ignored. */
export async function withDeadline<Value>(
  promise: Promise<Value>,
  timeoutMs: number,
  clock: Pick<Clock, 'sleep'>,
): Promise<Value> {
  const finished = new AbortController();
  const overdue = Promise.withResolvers<never>();
  void clock.sleep(timeoutMs, finished.signal).then(() => {
    // An error costs its stack, and nearly all are in time.
    if (!finished.signal.aborted) overdue.reject(new DeadlineError(`no answer within ${timeoutMs} ms`));
  });
  try {
    return await Promise.race([promise, overdue.promise]);
  } finally {
    finished.abort(CALLED_OFF);
  }
}
