import type { Clock } from './clock.ts';

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
