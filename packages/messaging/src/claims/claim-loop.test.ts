import { createLogger } from '@pesewa/runtime';
import { expect, it } from 'vitest';
import type { Claimable } from './claim.ts';
import { createClaimedWork, createThroughputMeter, type WorkOptions } from './claim-loop.ts';

const start = (options: Pick<WorkOptions<Claimable>, 'work'> & Partial<WorkOptions<Claimable>>) =>
  createClaimedWork<Claimable>({
    name: 'test',
    concurrencyMax: 1,
    clock: { nowMs: () => 0 },
    logger: createLogger({ name: 'test', level: 'silent' }),
    ...options,
  });

it('has room beyond its places for as much as ended in the last second, up to a limit', async () => {
  let nowMs = 0;
  const inHand = start({
    concurrencyMax: 2,
    waitingMax: 3,
    clock: { nowMs: () => nowMs },
    work: async () => undefined,
  });
  expect(inHand.roomLeft()).toBe(2);
  for (const _id of ['a', 'b']) inHand.begin({ _id }, 'c', 0);
  expect(inHand.roomLeft()).toBe(0);
  await Promise.all(inHand.all);
  expect(inHand.roomLeft()).toBe(4);
  for (const _id of ['c', 'd']) inHand.begin({ _id }, 'c', 0);
  await Promise.all(inHand.all);
  expect(inHand.roomLeft()).toBe(5);
  nowMs = 2_000;
  expect(inHand.roomLeft()).toBe(2);
});

it('begins what waits once a call is over, while that one is still being recorded', async () => {
  const begun: string[] = [];
  const call = Promise.withResolvers<void>();
  const recorded = Promise.withResolvers<void>();
  const inHand = start({
    work: async ({ _id }) => {
      begun.push(_id);
      await call.promise;
      return () => recorded.promise;
    },
  });
  for (const _id of ['a', 'b']) inHand.begin({ _id }, 'c', 0);
  await new Promise(setImmediate);
  expect(begun).toEqual(['a']);
  call.resolve();
  await expect.poll(() => begun).toEqual(['a', 'b']);
  expect(inHand.all.size).toBe(2);
  recorded.resolve();
  await Promise.all(inHand.all);
  expect(inHand.roomLeft()).toBe(1);
});

it('the throughput is what ended in this second or in the one before, whichever is more', () => {
  let nowMs = 10_500;
  const throughput = createThroughputMeter({ nowMs: () => nowMs });
  expect(throughput.perSecond()).toBe(0);
  for (let work = 0; work < 3; work += 1) throughput.countEnd();
  expect(throughput.perSecond()).toBe(3);
  nowMs = 11_000;
  throughput.countEnd();
  expect(throughput.perSecond()).toBe(3);
  nowMs = 12_000;
  expect(throughput.perSecond()).toBe(1);
  nowMs = 14_000;
  expect(throughput.perSecond()).toBe(0);
});
