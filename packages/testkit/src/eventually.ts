import { waitUntil } from '@pesewa/infrastructure';

/** Outside of tests, and after a hook that took most of a test's time. */
const AT_LEAST_MS = 30_000;

let remainingMs: () => number | undefined = () => undefined;

/** Has {@link eventually} wait as long as the running test may still take; `remaining` gives undefined outside of tests. */
export function waitAsLongAs(remaining: () => number | undefined): void {
  remainingMs = remaining;
}

/**
 * Repeats an assertion until it holds; fails with its last reason when the time is over.
 *
 * @param deadlineMs by default what the running test may still take: how fast a condition comes is no matter of a test
 */
export function eventually<Value>(
  assertion: () => Promise<Value> | Value,
  deadlineMs = Math.max(remainingMs() ?? 0, AT_LEAST_MS),
): Promise<Value> {
  return waitUntil('what the test waits for', deadlineMs, async () => assertion());
}
