import { waitUntil } from '@pesewa/infrastructure';

const DEADLINE_MS = 30_000;

/** Repeats an assertion until it holds; fails with its last reason when the time is over. */
export function eventually<Value>(
  assertion: () => Promise<Value> | Value,
  deadlineMs = DEADLINE_MS,
): Promise<Value> {
  return waitUntil('what the test waits for', deadlineMs, async () => assertion());
}
