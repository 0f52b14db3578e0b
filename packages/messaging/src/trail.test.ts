import { expect, it } from 'vitest';
import { addStep, type TrailStep, trailFromDocument, trailToDocument } from './trail.ts';

const trailOf = (steps: number) =>
  Array.from({ length: steps }, (_, index): TrailStep => {
    const attempt = { number: index, claimedAtMs: index };
    return { what: `step ${index}`, atMs: index, ...(index > 0 && { attempt }) };
  }).reduce<readonly TrailStep[]>(addStep, []);

it('keeps how a payment began and what happened last, and counts what was between', () => {
  const trail = trailOf(100);
  expect(trail).toHaveLength(40);
  expect(trail.slice(9, 12).map(({ what }) => what)).toEqual(['step 9', 'step 70', 'step 71']);
  expect(trail.filter(({ notKept }) => notKept !== undefined)).toMatchObject([
    { what: 'step 70', notKept: 60 },
  ]);
  expect(trailOf(40).some(({ notKept }) => notKept !== undefined)).toBe(false);
});

it('goes through the database unchanged, the count included', () => {
  const trail = trailOf(60);
  expect(trailFromDocument(trailToDocument(trail))).toEqual(trail);
});

it('reads what was stored before there was a count, and before there were trails', () => {
  const old = [{ what: 'held', at: new Date(5) }];
  expect(trailFromDocument(old)).toEqual([{ what: 'held', atMs: 5 }]);
  expect(trailFromDocument()).toEqual([]);
});
