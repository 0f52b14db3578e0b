import { DAY_MS } from '@pesewa/kernel';
import { describe, expect, it } from 'vitest';
import { createCloses } from './closes.ts';
import type { CloseDocument } from './store.ts';
import { dayFrom } from './window.ts';

/** Closes over a store that records what was made, at a time of the 21st. */
function open(
  time: string,
  days: readonly string[],
  uncompared: readonly (readonly [string, string])[] = [],
) {
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
      find: async () => undefined,
      days: async () => [...days, ...made.keys()].toSorted(),
      lookForLate: async (ids) => void lookForLate.push(ids),
    },
    payments: {
      count: async () => new Map(),
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
    const { closes, made, opened } = open('03:00:00', ['2026-11-19']);
    await closes.openDue();
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-20']);
    expect(made.get('2026-11-20')).toMatchObject({ rail: null, requestedBy: 'nightly', running: true });
    const { requestedAt, keepUntil } = made.get('2026-11-20') ?? {};
    expect(Number(keepUntil) - Number(requestedAt)).toBe(400 * DAY_MS);
    expect(opened()).toBeGreaterThan(0);
  });

  it('reads days once more from the oldest payment that a lookup has to compare', async () => {
    const { closes, lookForLate } = open(
      '03:00:00',
      ['2026-11-01'],
      [
        ['upstream', '2026-11-19T23:59:59.999Z'],
        ['other', '2026-11-20T00:00:00Z'],
        ['by-statement', '2026-11-02T00:00:00Z'],
      ],
    );
    await closes.openDue();
    expect(lookForLate).toEqual([['2026-11-19', '2026-11-20']]);
  });

  it('closes a day from before the first one if it has a payment to compare', async () => {
    const { closes, made } = open('03:00:00', ['2026-11-20'], [['upstream', '2026-11-18T12:00:00Z']]);
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-18', '2026-11-19']);
  });

  it('makes up for missed nights even where somebody closed yesterday by hand', async () => {
    const { closes, made } = open('03:00:00', ['2026-11-17', '2026-11-20']);
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-18', '2026-11-19']);
  });

  it('makes up for nights in which no reconciler ran', async () => {
    const { closes, made } = open('03:00:00', ['2026-11-17']);
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-18', '2026-11-19', '2026-11-20']);
  });

  it('leaves a day alone whose events may still be on their way', async () => {
    const { closes, made } = open('00:05:00', ['2026-11-18']);
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-19']);
  });
});

it('a close that is asked for again looks for what was reported late, or is to be compared again', async () => {
  const { closes, lookForLate, opened } = open('03:00:00', []);
  const window = dayFrom(new Date('2026-11-20'), 'by-statement');
  await closes.open(window, 'ama');
  expect(lookForLate).toEqual([]);
  await closes.open(window, 'kofi');
  expect(lookForLate).toEqual([['2026-11-20.by-statement']]);
  expect(opened()).toBe(2);
});
