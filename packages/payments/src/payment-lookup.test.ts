import { expect, test } from 'vitest';
import { createSharedLookup } from './payment-lookup.ts';

test('lookups that come while a read is in progress share the next one, and each gets its own answer', async () => {
  const reads: PromiseWithResolvers<void>[] = [];
  const asked: (readonly number[])[] = [];
  const lookUp = createSharedLookup(async (keys: readonly number[]) => {
    asked.push(keys);
    const read = Promise.withResolvers<void>();
    reads.push(read);
    await read.promise;
    return keys.map((key) => key * 10);
  });
  const all = Array.from({ length: 300 }, (_, key) => lookUp(key));
  expect(asked).toEqual([[0]]);
  for (let done = 0; done < 3; done += 1) {
    await expect.poll(() => reads.length).toBe(done + 1);
    reads[done]?.resolve();
  }
  expect(await Promise.all(all)).toEqual(all.map((_, key) => key * 10));
  expect(asked.map(({ length }) => length)).toEqual([1, 200, 99]);
});

test('a read that fails refuses those that shared it, and no others', async () => {
  let reads = 0;
  const lookUp = createSharedLookup(async (keys: readonly number[]) => {
    reads += 1;
    if (reads === 1) throw new Error('no primary');
    return keys;
  });
  const outcomes = await Promise.allSettled([lookUp(1), lookUp(2), lookUp(3)]);
  expect(outcomes.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled']);
});
