import { expect, it } from 'vitest';
import { windowOf } from './window.ts';

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
