import type { Messaging } from '@pesewa/messaging';
import { expect, it } from 'vitest';
import { showWaiting } from './waiting.ts';

type WaitingReads = Parameters<Messaging['showWaiting']>[0];

it('the books are read for a bounded time, and once in a while however many people look', async () => {
  const asked: unknown[] = [];
  const readAll = async (limits: unknown) => {
    asked.push(limits);
    return { wallets: [], shared: [] };
  };
  let reads: WaitingReads = {};
  let nowMs = 0;
  showWaiting(
    { showWaiting: (given: WaitingReads) => void (reads = given) } as unknown as Messaging,
    { readAll },
    { countProposed: async () => ({ count: 0, isCut: false }) },
    { nowMs: () => nowMs },
  );
  expect(await Promise.all([reads.books?.(), reads.books?.()])).toEqual(
    Array(2).fill({ suspense: [], lowFloats: [] }),
  );
  expect(asked).toEqual([{ maxTimeMS: 2_000 }]);
  nowMs = 5_000;
  await reads.books?.();
  expect(asked).toHaveLength(2);
});
