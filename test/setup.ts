import { waitAsLongAs } from '@pesewa/testkit';
import { TestRunner } from 'vitest';

/** What is left of a test's time for saying what it waited for in vain. */
const MARGIN_MS = 2_000;

waitAsLongAs(() => {
  const test = TestRunner.getCurrentTest();
  const startedMs = test?.result?.startTime;
  return startedMs === undefined ? undefined : startedMs + (test?.timeout ?? 0) - MARGIN_MS - Date.now();
});
