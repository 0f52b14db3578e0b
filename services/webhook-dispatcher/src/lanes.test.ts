import { expect, test } from 'vitest';
import { createLanes } from './lanes.ts';

function open(concurrencyMax: number) {
  let freed = 0;
  const lanes = createLanes({
    concurrencyMax,
    freed: () => {
      freed += 1;
    },
  });
  return { ...lanes, freed: () => freed };
}

test('a full lane makes wait, then turns away; no other lane notices', async () => {
  const lanes = open(1);
  const leave = await lanes.enter('demo payouts');
  expect(lanes.full()).toEqual(['demo payouts']);
  const order: string[] = [];
  const first = lanes.enter('demo payouts').then((left) => (order.push('first'), left));
  const second = lanes.enter('demo payouts').then((left) => (order.push('second'), left));
  expect(await lanes.enter('demo payouts')).toBeUndefined();
  const other = await lanes.enter('rival payouts');
  expect(other).toBeDefined();
  expect(order).toEqual([]);
  leave?.();
  (await first)?.();
  (await second)?.();
  expect(order).toEqual(['first', 'second']);
  expect(lanes.full()).toEqual(['rival payouts']);
  expect(lanes.freed()).toBe(1);
  other?.();
  expect(lanes.full()).toEqual([]);
});

test('a lane that was left is empty again', async () => {
  const lanes = open(2);
  const both = [await lanes.enter('lane'), await lanes.enter('lane')];
  expect(lanes.full()).toEqual(['lane']);
  for (const leave of both) leave?.();
  expect(lanes.freed()).toBe(1);
  expect(await lanes.enter('lane')).toBeDefined();
  expect(lanes.full()).toEqual([]);
});
