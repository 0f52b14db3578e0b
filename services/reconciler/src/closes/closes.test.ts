import { DAY_MS } from '@pesewa/kernel';
import { describe, expect, it } from 'vitest';
import { createCloses } from './closes.ts';
import type { CloseDocument } from './store.ts';
import { dayFrom } from './window.ts';

/** Closes over a store that records what was made, at a time of the 21st. */
function open(time: string, uncompared: readonly (readonly [string, string])[] = []) {
  const made = new Map<string, CloseDocument>();
  const lookForLate: (readonly string[])[] = [];
  let opened = 0;
  const closes = createCloses({
    closeStore: {
      create: async (close) => {
        const found = made.get(close._id);
        made.set(close._id, found ?? close);
        return { run: found ?? close, isNew: found === undefined };
      },
      lookForLate: async (ids) => void lookForLate.push(ids),
    },
    payments: {
      oldestUncompared: async () =>
        uncompared.map(([rail, endedAt]) => ({ rail, reference: 'po-1', endedAt: new Date(endedAt) })),
    },
    byStatement: ['by-statement'],
    clock: { nowMs: () => Date.parse(`2026-11-21T${time}Z`) },
    lagMs: 600_000,
    keepDays: 400,
    opened: () => {
      opened += 1;
    },
  });
  return { closes, made, lookForLate, opened: () => opened };
}

describe('the nightly close', () => {
  it('is about yesterday over all rails, once, however many nights see it', async () => {
    const { closes, made, opened, lookForLate } = open('03:00:00');
    await closes.openDue();
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-20']);
    expect(lookForLate).toEqual([['2026-11-20']]);
    expect(made.get('2026-11-20')).toMatchObject({ rail: null, requestedBy: 'nightly', running: true });
    const { requestedAt, keepUntil } = made.get('2026-11-20') ?? {};
    expect(Number(keepUntil) - Number(requestedAt)).toBe(400 * DAY_MS);
    expect(opened()).toBeGreaterThan(0);
  });

  it('is about each day from the oldest payment on that a lookup has to compare, as after missed nights', async () => {
    const { closes, made, lookForLate } = open('03:00:00', [
      ['upstream', '2026-11-18T23:59:59.999Z'],
      ['other', '2026-11-20T00:00:00Z'],
      ['by-statement', '2026-11-02T00:00:00Z'],
    ]);
    await closes.open(dayFrom(new Date('2026-11-19'), null), 'ama');
    await closes.openDue();
    expect([...made.keys()].toSorted()).toEqual(['2026-11-18', '2026-11-19', '2026-11-20']);
    expect(lookForLate).toEqual([['2026-11-19']]);
  });

  it('leaves a day alone whose events may still be on their way', async () => {
    const { closes, made } = open('00:05:00');
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-19']);
  });
});

it('a close that is asked for again looks for what was reported late, or is to be compared again', async () => {
  const { closes, lookForLate, opened } = open('03:00:00');
  const window = dayFrom(new Date('2026-11-20'), 'by-statement');
  await closes.open(window, 'ama');
  expect(lookForLate).toEqual([]);
  await closes.open(window, 'kofi');
  expect(lookForLate).toEqual([['2026-11-20.by-statement']]);
  expect(opened()).toBe(2);
});
