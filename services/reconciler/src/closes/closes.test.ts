import { DAY_MS } from '@pesewa/kernel';
import { describe, expect, it } from 'vitest';
import { createCloses } from './closes.ts';
import type { CloseDocument } from './store.ts';

/** Closes over a store that records what was made, at a time of the 21st. */
function open(time: string, uncompared: readonly (readonly [string, string])[] = []) {
  const made = new Map<string, CloseDocument>();
  const askedAgain: (readonly [string, readonly string[]])[] = [];
  let opened = 0;
  const closes = createCloses({
    closeStore: {
      create: async (close) => {
        const found = made.get(close._id);
        made.set(close._id, found ?? close);
        return { run: found ?? close, isNew: found === undefined };
      },
      askAgain: async (id, results) => void askedAgain.push([id, results]),
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
  return { closes, made, askedAgain, opened: () => opened };
}

describe('the nightly close', () => {
  it('is about yesterday over all rails, once, however many nights see it', async () => {
    const { closes, made, opened, askedAgain } = open('03:00:00');
    await closes.openDue();
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-20']);
    expect(askedAgain).toEqual([['2026-11-20', ['unclear']]]);
    expect(made.get('2026-11-20')).toMatchObject({ rail: null, requestedBy: 'nightly', running: true });
    const { requestedAt, keepUntil } = made.get('2026-11-20') ?? {};
    expect(Number(keepUntil) - Number(requestedAt)).toBe(400 * DAY_MS);
    expect(opened()).toBeGreaterThan(0);
  });

  it('is about each day from the oldest payment on that a lookup has to compare, as after missed nights', async () => {
    const { closes, made, askedAgain } = open('03:00:00', [
      ['upstream', '2026-11-18T23:59:59.999Z'],
      ['other', '2026-11-20T00:00:00Z'],
      ['by-statement', '2026-11-02T00:00:00Z'],
    ]);
    await closes.open(new Date('2026-11-19'), null, 'ama');
    await closes.openDue();
    expect([...made.keys()].toSorted()).toEqual(['2026-11-18', '2026-11-19', '2026-11-20']);
    expect(askedAgain).toEqual([['2026-11-19', ['unclear']]]);
  });

  it('leaves a day alone whose events may still be on their way', async () => {
    const { closes, made } = open('00:05:00');
    await closes.openDue();
    expect([...made.keys()]).toEqual(['2026-11-19']);
  });
});

it('looks back a month at most', async () => {
  const { closes, made } = open('03:00:00', [['upstream', '2026-01-01T00:00:00Z']]);
  await closes.openDue();
  expect(made.size).toBe(31);
  expect([...made.keys()].at(-1)).toBe('2026-11-20');
});

it('a close that is asked for again looks for what was reported late, and asks again about what is not matched', async () => {
  const { closes, made, askedAgain, opened } = open('03:00:00');
  const again = (by: string) => closes.open(new Date('2026-11-20'), 'by-statement', by);
  await again('ama');
  expect(askedAgain).toEqual([]);
  for (const [id, { running: _running, ...close }] of made) made.set(id, { ...close, stage: 'done' });
  expect(await again('kofi')).toMatchObject({ ok: true, value: { isNew: false, run: { running: true } } });
  expect(askedAgain).toEqual([['2026-11-20.by-statement', ['unclear', 'differs', 'not_at_rail']]]);
  expect(opened()).toBe(2);
});

it('a day is over once its events have had time to arrive', async () => {
  const refused = await open('00:09:59').closes.open(new Date('2026-11-20'), null, 'ama');
  const message = expect.stringContaining('it can be closed from 2026-11-21T00:10:00.000Z on') as unknown;
  expect(refused).toEqual({ ok: false, refusal: message });
  const made = await open('00:10:00').closes.open(new Date('2026-11-20'), null, 'ama');
  expect(made).toMatchObject({ ok: true, value: { isNew: true, run: { _id: '2026-11-20' } } });
});
