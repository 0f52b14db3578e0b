import { expect, test } from 'vitest';
import { createLanes } from './lanes.ts';

test('a full lane turns away, and no other lane', () => {
  const lanes = createLanes({ concurrencyMax: 2 });
  const first = lanes.enter('demo https://a.example.com');
  expect(first.entered).toBe(true);
  expect(lanes.enter('demo https://a.example.com').entered).toBe(true);
  expect(lanes.enter('demo https://a.example.com').entered).toBe(false);
  expect(lanes.enter('rival https://a.example.com').entered).toBe(true);
  if (first.entered) first.leave();
  expect(lanes.enter('demo https://a.example.com').entered).toBe(true);
});

test('the wait grows with the queue, up to a bound, and shrinks once a place was free', () => {
  const lanes = createLanes({ concurrencyMax: 1 });
  const holder = lanes.enter('lane');
  const waits = Array.from({ length: 1_000 }, () => lanes.enter('lane')).map((entry) =>
    entry.entered ? 0 : entry.waitMs,
  );
  expect(waits.slice(0, 3)).toEqual([200, 300, 400]);
  expect(waits.at(-1)).toBe(30_000);
  if (holder.entered) holder.leave();
  lanes.enter('lane');
  expect(lanes.enter('lane')).toEqual({ entered: false, waitMs: 200 });
});
