import { systemClock } from '@pesewa/kernel';
import { eventually, openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, test } from 'vitest';
import { openMessagingAs } from '../index.ts';

const options = { service: 'clocked', database: 'clocked', produces: ['ledger'] } as const;

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

/** A clock that can be wrong and whose pauses are short. */
function oddClock(offByMs = 0) {
  const odd = { offByMs };
  const clock = {
    nowMs: () => systemClock.nowMs() + odd.offByMs,
    sleep: (durationMs: number, signal?: AbortSignal) => systemClock.sleep(Math.min(durationMs, 20), signal),
  };
  return { odd, clock };
}

test.each([
  [6_500, /our clock is [67] s ahead of MongoDB's: let both follow/],
  [-6_500, /our clock is [67] s behind MongoDB's/],
])('a process whose clock is off by %i ms does not start', async (offByMs, message) => {
  await using scope = openTestScope(config, { clock: oddClock(offByMs).clock });
  await expect(openMessagingAs(scope, options)).rejects.toThrow(message);
});

test('a small difference is none', async () => {
  await using scope = openTestScope(config, { clock: oddClock(3_500).clock });
  await expect(openMessagingAs(scope, options)).resolves.toHaveProperty('db');
});

test('a clock that goes wrong later makes the process not ready, until it is right again', async () => {
  const { odd, clock } = oddClock();
  await using scope = openTestScope(config, { clock });
  await openMessagingAs(scope, options);
  scope.health.setServing(true);
  const clockProblem = async () => (await scope.health.readiness()).failures['clock'];
  expect(await clockProblem()).toBeUndefined();
  odd.offByMs = 60_000;
  await eventually(async () => expect(await clockProblem()).toMatch(/60 s ahead/));
  odd.offByMs = 0;
  await eventually(async () => expect(await clockProblem()).toBeUndefined());
});

test('it ends a process that must not write wrong times', async () => {
  const { odd, clock } = oddClock();
  await using scope = openTestScope(config, { clock });
  await openMessagingAs(scope, { ...options, endsOnClockSkew: true });
  odd.offByMs = -60_000;
  expect((await scope.aborted).message).toMatch(/60 s behind/);
});
