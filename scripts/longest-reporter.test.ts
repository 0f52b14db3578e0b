import { expect, it } from 'vitest';
import { describeLongest } from './longest-reporter.ts';

const took = (file: string, seconds: number) => ({ file, seconds });

it('names the files that took longest, the longest first', () => {
  const files = [took('quick', 0), took('a', 3), ...['b', 'c', 'd', 'e'].map((file) => took(file, 2))];
  expect(describeLongest([...files, took('z', 61)]).split('\n')).toEqual([
    'took longest:',
    '   61 s  z',
    '    3 s  a',
    '    2 s  b',
    '    2 s  c',
    '    2 s  d',
    '',
  ]);
  expect(describeLongest([took('quick', 0)])).toBe('');
});
