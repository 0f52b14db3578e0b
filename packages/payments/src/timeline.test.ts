import { expect, it } from 'vitest';
import { addStep, type TimelineStep, timelineFromDocument, timelineToDocument } from './timeline.ts';

const timelineOf = (steps: number) =>
  Array.from({ length: steps }, (_, index): TimelineStep => {
    const attempt = { number: index, claimedAtMs: index };
    return { what: `step ${index}`, atMs: index, ...(index > 0 && { attempt }) };
  }).reduce<readonly TimelineStep[]>(addStep, []);

it('keeps how a payment began and what happened last, and counts what was between', () => {
  const timeline = timelineOf(100);
  expect(timeline).toHaveLength(40);
  expect(timeline.slice(9, 12).map(({ what }) => what)).toEqual(['step 9', 'step 70', 'step 71']);
  expect(timeline.filter(({ notKept }) => notKept !== undefined)).toMatchObject([
    { what: 'step 70', notKept: 60 },
  ]);
  expect(timelineOf(40).some(({ notKept }) => notKept !== undefined)).toBe(false);
});

it('goes through the database unchanged, the count included', () => {
  const timeline = timelineOf(60);
  expect(timelineFromDocument(timelineToDocument(timeline))).toEqual(timeline);
});

it('reads what was stored before there was a count, and before there were timelines', () => {
  const old = [{ what: 'held', at: new Date(5) }];
  expect(timelineFromDocument(old)).toEqual([{ what: 'held', atMs: 5 }]);
  expect(timelineFromDocument()).toEqual([]);
});
