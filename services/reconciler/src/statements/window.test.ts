import { expect, it } from 'vitest';
import { isCompared, windowOf } from './window.ts';

const at = (ms: number) => new Date(ms);

it('the window of a statement is what it names, else from its first line through its last; an empty one is none', () => {
  const lines = {
    rail: 'upstream',
    from: null,
    to: null,
    firstAt: at(10),
    lastAt: at(20),
    requestedAt: at(30),
  };
  expect(windowOf(lines)).toEqual({ from: at(10), to: at(21), rail: 'upstream' });
  expect(windowOf({ ...lines, lastAt: at(10) })).toEqual({ from: at(10), to: at(11), rail: 'upstream' });
  expect(windowOf({ ...lines, from: at(5), to: at(15) })).toMatchObject({ from: at(5), to: at(15) });
  // A file that says another zone than it has, or a time that is to come.
  expect(windowOf({ ...lines, requestedAt: at(15) })).toMatchObject({ to: at(15) });
  expect(windowOf({ ...lines, to: at(10) })).toBeUndefined();
  expect(windowOf({ rail: 'upstream', from: null, to: null, requestedAt: at(30) })).toBeUndefined();
});

it.each<[string, Parameters<typeof isCompared>[0]['status'], readonly string[], readonly object[], boolean]>([
  ['by a line of another time', 'completed', ['po-1'], [], true],
  ['for want of a line', 'completed', [], [{ hasUnreadable: true }], true],
  ['for want of a line, having moved nothing', 'failed', [], [{}], true],
  ['not if that may be a line that nobody can read', 'failed', [], [{ hasUnreadable: true }], false],
  ['not where no statement must have it', 'completed', [], [], false],
  ['not by the line of what was reversed', 'reversed', ['po-1'], [{}], false],
  ['by the line of the reversal', 'reversed', ['po-1/reversal'], [], true],
])('a payment is compared %s', (_, status, movements, places, expected) => {
  expect(isCompared({ _id: 'po-1', status }, new Set(movements), places)).toBe(expected);
});
