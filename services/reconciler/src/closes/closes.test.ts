import { DAY_MS } from '@pesewa/kernel';
import { describe, expect, it } from 'vitest';
import { createCloses } from './closes.ts';
import type { CloseDocument } from './store.ts';

/** Closes over a store that records what was made, at a time of the 21st. */
function open(time: string, ...days: readonly string[]) {
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
    payments: { count: async () => new Map() },
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
    const { closes, made, opened } = open('03:00:00', '2026-11-19');
    await closes.openDue();
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-20']);
    expect(made.get('2026-11-20')).toMatchObject({ rail: null, requestedBy: 'nightly', running: true });
    const { requestedAt, keepUntil } = made.get('2026-11-20') ?? {};
    expect(Number(keepUntil) - Number(requestedAt)).toBe(400 * DAY_MS);
    expect(opened()).toBeGreaterThan(0);
  });

  it('reads those of the week once more, for what came late', async () => {
    const { closes, lookForLate } = open('03:00:00', '2026-11-01');
    await closes.openDue();
    expect(lookForLate).toEqual([
      ['2026-11-14', '2026-11-15', '2026-11-16', '2026-11-17', '2026-11-18', '2026-11-19', '2026-11-20'],
    ]);
  });

  it('makes up for missed nights even where somebody closed yesterday by hand', async () => {
    const { closes, made } = open('03:00:00', '2026-11-17', '2026-11-20');
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-18', '2026-11-19']);
  });

  it('makes up for nights in which no reconciler ran', async () => {
    const { closes, made } = open('03:00:00', '2026-11-17');
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-18', '2026-11-19', '2026-11-20']);
  });

  it('leaves a day alone whose events may still be on their way', async () => {
    const { closes, made } = open('00:05:00', '2026-11-18');
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-19']);
  });
});
