import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createCellReader, fold } from './statement-cells.ts';

const delimiters = [',', ';', '\t', '|'] as const;

it('reads cells as a CSV library does', () => {
  const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', ';', '|', '\t', '\n', 'é'), maxLength: 6 });
  fc.assert(
    fc.property(
      fc.array(cell, { minLength: 1, maxLength: 5 }),
      fc.constantFrom(...delimiters),
      (cells, delimiter) => {
        const text = cells.map((one) => `"${one.replaceAll('"', '""')}"`).join(delimiter);
        const read = createCellReader(delimiter)(text);
        expect(read).toEqual({ cells, quotes: 'sound' });
        expect(parse(text, { delimiter, skip_empty_lines: false })).toEqual([read.cells]);
      },
    ),
  );
});

it.each([
  ['a, "b" ,c', ['a', 'b', 'c'], 'sound'],
  ['a,12" pipe,"b, c"', ['a', '12" pipe', 'b, c'], 'stray'],
  ['a,"b "c" d",e', ['a', 'b "c" d', 'e'], 'stray'],
  ['a,"b,c', ['a', '"b', 'c'], 'open'],
  ['a,b"c,"d', ['a', 'b"c', '"d'], 'open'],
  ['', [''], 'sound'],
  ['a,', ['a', ''], 'sound'],
  ['"a",', ['a', ''], 'sound'],
] as const)('reads %s as %j, with %s quotes', (text, cells, quotes) => {
  expect(createCellReader(',')(text)).toMatchObject({ cells, quotes });
});

describe('words that look the same', () => {
  it.each([
    ['Re\u0301fe\u0301rence', 'R\u00e9f\u00e9rence'],
    [' Our\u00a0Ref\u200b', 'our ref'],
    ['N\u2019Diaye', "n'diaye"],
    ['\ufeffAmount', 'amount'],
  ])('%s is %s', (one, other) => {
    expect(fold(one)).toBe(fold(other));
  });

  it('are not the same in another alphabet', () => {
    expect(fold('\u0410mount')).not.toBe(fold('Amount'));
  });
});
