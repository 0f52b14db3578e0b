import { expect, it } from 'vitest';
import { createThroughputMeter } from './pace.ts';

it('is what ended in this second or in the one before, whichever is more', () => {
  let nowMs = 10_500;
  const pace = createThroughputMeter({ nowMs: () => nowMs });
  expect(pace.perSecond()).toBe(0);
  for (let work = 0; work < 3; work += 1) pace.countEnd();
  expect(pace.perSecond()).toBe(3);
  nowMs = 11_000;
  pace.countEnd();
  expect(pace.perSecond()).toBe(3);
  nowMs = 12_000;
  expect(pace.perSecond()).toBe(1);
  nowMs = 14_000;
  expect(pace.perSecond()).toBe(0);
});
