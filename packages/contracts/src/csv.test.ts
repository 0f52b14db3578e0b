import { expect, it } from 'vitest';
import { formatCsv } from './csv.ts';

it('quotes what needs it', () => {
  expect(formatCsv(['A', 'B'], [['one, two', 'a "word"']])).toBe('A,B\r\n"one, two","a ""word"""\r\n');
});

it.each([
  ['=1+1', "'=1+1"],
  ['+SUM(A1)', "'+SUM(A1)"],
  ['-2+3', "'-2+3"],
  ['@cmd', "'@cmd"],
  ['\t=1', "'\t=1"],
  ['-12.50', '-12.50'],
  ['+3', '+3'],
  ['a=1', 'a=1'],
  ['', ''],
])('leaves no formula: %j', (cell, written) => {
  const [, row = ''] = formatCsv(['A'], [[cell]]).split('\r\n');
  expect(row.replace(/^"(.*)"$/, '$1')).toBe(written);
});
