import { describe, expect, it } from 'vitest';
import { formatJson, formatTable } from './print.ts';

const heading = ['REFERENCE', 'STATUS', 'AMOUNT', 'WHY'];
const rows = [
  [
    'po-0193e5c1d2f37a8b9c0d1e2f3a4b5c6d',
    'FAILED',
    '1,500.50 GHS',
    'the rail says that there is no such account',
  ],
  ['po-2', 'COMPLETED', '2.00 GHS', null],
];
const options = { colours: false, empty: 'nothing', right: ['AMOUNT'] };
const plain = formatTable(heading, rows, options);

it('JSON has characters that are not seen as escapes, and says the same', () => {
  const value = { 'k\u009b2J': ['\u202edeteled', '\u200b', '\ufeff', '\u2028', '\u{e0001}', 'é\n\t"'] };
  const text = formatJson(value);
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
  expect(text).toContain('é');
  expect(JSON.parse(text)).toEqual(value);
});

describe('a table', () => {
  it('is as wide as it must be where it is piped, one line for each row', () => {
    expect(plain.split('\n')).toHaveLength(4);
    expect(plain).toContain(
      'po-0193e5c1d2f37a8b9c0d1e2f3a4b5c6d  FAILED     1,500.50 GHS  the rail says that there',
    );
  });

  it('is the same on a terminal that has room for it', () => {
    expect(formatTable(heading, rows, { ...options, width: 200 })).toBe(plain);
  });

  it.each([100, 80, 60])('fits a terminal of %i columns, and loses nothing but the line breaks', (width) => {
    const lines = formatTable(heading, rows, { ...options, width })
      .trimEnd()
      .split('\n');
    expect(lines.length).toBeGreaterThan(3);
    for (const line of lines) expect(line.length).toBeLessThanOrEqual(width);
    const letters = (text: string) => Array.from(text.replaceAll(/\s/g, '')).toSorted().join('');
    expect(letters(lines.join(''))).toBe(letters(plain));
    expect(lines.filter((line) => line.includes('1,500.50 GHS'))).toHaveLength(1);
  });

  it('keeps a least width where the terminal is narrower than any table', () => {
    expect(formatTable(heading, rows, { ...options, width: 5 })).toContain('1,500.50 GHS');
  });

  it('marks what is wrong, where there are colours', () => {
    const coloured = formatTable(heading, rows, { ...options, colours: true });
    const escape = String.fromCodePoint(27);
    expect(coloured).toContain(`${escape}[31mFAILED   ${escape}[39m`);
    expect(coloured.split(`${escape}[31m`)).toHaveLength(2);
    const uncoloured = coloured
      .split(escape)
      .map((part, index) => (index === 0 ? part : part.replace(/^\[\d+m/, '')));
    expect(uncoloured.join('')).toBe(plain);
    expect(plain).not.toContain(escape);
  });

  it.each(['exhausted', 'discarded', 'disabled', 'warned', 'differs', 'not at the rail'])(
    'marks %j',
    (word) => {
      const table = formatTable(['STATE'], [[word], ['fine']], { ...options, colours: true });
      expect(table).toContain(`[31m${word}`);
      expect(table).not.toContain('[31mfine');
    },
  );

  it('says so where it is empty', () => {
    expect(formatTable(heading, [], options)).toBe('nothing\n');
  });
});
