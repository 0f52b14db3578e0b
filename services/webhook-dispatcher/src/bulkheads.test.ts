import { expect, test } from 'vitest';
import { createBulkheads } from './bulkheads.ts';

function open(concurrencyMax: number) {
  let freed = 0;
  const bulkheads = createBulkheads({
    concurrencyMax,
    freed: () => {
      freed += 1;
    },
  });
  return { ...bulkheads, freed: () => freed };
}

test('a full bulkhead makes wait, then turns away; no other bulkhead notices', async () => {
  const bulkheads = open(1);
  const leave = await bulkheads.enter('demo payouts');
  expect(bulkheads.full()).toEqual(['demo payouts']);
  const order: string[] = [];
  const first = bulkheads.enter('demo payouts').then((left) => (order.push('first'), left));
  const second = bulkheads.enter('demo payouts').then((left) => (order.push('second'), left));
  expect(await bulkheads.enter('demo payouts')).toBeUndefined();
  const other = await bulkheads.enter('rival payouts');
  expect(other).toBeDefined();
  expect(order).toEqual([]);
  leave?.();
  (await first)?.();
  (await second)?.();
  expect(order).toEqual(['first', 'second']);
  expect(bulkheads.full()).toEqual(['rival payouts']);
  expect(bulkheads.freed()).toBe(1);
  other?.();
  expect(bulkheads.full()).toEqual([]);
});

test('a bulkhead that was left is empty again', async () => {
  const bulkheads = open(2);
  const both = [await bulkheads.enter('bulkhead'), await bulkheads.enter('bulkhead')];
  expect(bulkheads.full()).toEqual(['bulkhead']);
  for (const leave of both) leave?.();
  expect(bulkheads.freed()).toBe(1);
  expect(await bulkheads.enter('bulkhead')).toBeDefined();
  expect(bulkheads.full()).toEqual([]);
});
