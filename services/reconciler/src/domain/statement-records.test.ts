import { describe, expect, it } from 'vitest';
import { mapping } from '../fixtures/statement-rows.ts';
import { findBeginning } from './statement-heading.ts';
import { createRecordReader } from './statement-records.ts';

const reference = (number: number) => `po-${String(number).padStart(32, '0')}`;
const given = { ...mapping, columns: { reference: 'Ref', railReference: 'Receipt', amount: 'Amount' } };
const heading = 'Ref,Receipt,Name,Amount';

/** What comes of lines behind the heading: a rail reference, or that the line is unreadable or set aside. */
function read(lines: readonly string[], perPiece = lines.length) {
  const begun = findBeginning([heading], given);
  if (!begun.ok) throw new Error(begun.refusal);
  const reader = createRecordReader(given, begun.value, 'KES');
  const found = [];
  for (let at = 0; at < lines.length; at += perPiece)
    found.push(...reader.read(lines.slice(at, at + perPiece), false));
  found.push(...reader.read([], true));
  const { before, heading: headings, ...others } = reader.counts();
  expect(before + headings + others.blank + others.records + others.continued).toBe(lines.length + 1);
  return found.map(({ line, read: one }) => [line, 'row' in one ? one.row.railReference : 'unreadable']);
}

describe('a damaged quote takes no other line with it', () => {
  it.each([
    [
      'where two cells keep their opening quotes',
      ['po-1,MP1,"Nana,100', 'po-2,MP2,Ama,999', 'po-3,MP3,"Kofi,100', 'po-4,MP4,Esi,100'],
      ['unreadable', 'MP2', 'unreadable', 'MP4'],
    ],
    [
      'where one opens and another closes, which is a cell by the rules of CSV',
      ['po-1,MP1,"Nana,100', 'po-2,MP2,Ama,999', 'po-3,MP3,Kofi",100', 'po-4,MP4,Esi,100'],
      ['unreadable', 'MP2', 'unreadable', 'MP4'],
    ],
    [
      'where the next line closes it',
      [',MP1,"Nana,100', ',MP2,Ama",999', 'po-4,MP4,Esi,100'],
      ['unreadable', 'unreadable', 'MP4'],
    ],
    [
      'where a cut line names a payment',
      [`${reference(1)},MP1,"Na`, `${reference(2)},MP2,Ama",999`, 'po-4,MP4,Esi,100'],
      ['unreadable', 'unreadable', 'MP4'],
    ],
    ['where nothing closes it', ['po-1,MP1,"Nana,100', 'po-2,MP2,Ama,999'], ['unreadable', 'MP2']],
    ['where every cell is quoted', ['"po-1","MP1","Nana,"100"', '"po-2","MP2","Ama","999"'], ['MP1', 'MP2']],
    [
      'where two lines have lost the end between them',
      [`${reference(1)},MP1,Nana ${reference(2)},100`, 'po-3,MP3,Esi,100'],
      ['unreadable', 'MP3'],
    ],
  ])('%s', (_, lines, expected) => {
    const named = expected.map((one, at) => [at + 2, one]);
    expect(read(lines)).toEqual(named);
    expect(read(lines, 1)).toEqual(named);
  });
});

describe('a quoted line end that is meant is read', () => {
  it.each([
    ['in the middle', ['po-1,MP1,"Rue 10, Dakar', 'Senegal",100'], [[2, 'MP1']]],
    [
      'at several places',
      ['po-1,MP1,"a', '', '""b"" c', 'd",100', 'po-2,MP2,,5'],
      [
        [2, 'MP1'],
        [6, 'MP2'],
      ],
    ], // prettier
    ['with its own reference in it', [`${reference(1)},MP1,"for`, `${reference(1)}",100`], [[2, 'MP1']]],
  ])('%s', (_, lines, expected) => {
    expect(read(lines)).toEqual(expected);
    expect(read(lines, 1)).toEqual(expected);
  });

  it('unless a column has it that is read: then each of its lines is named', () => {
    expect(read(['po-1,"M', 'P1",Nana,100'])).toEqual([
      [2, 'unreadable'],
      [3, 'unreadable'],
    ]);
  });
});

describe('the price of a line does not depend on the others', () => {
  it.each([
    ['a quote that opens in each line', () => 'x,"a'.repeat(160)],
    [
      'a cell that closes and opens in each line',
      (line: number) => (line % 100 === 0 ? 'x,1,"a' : 'b",c,"'.repeat(100)),
    ],
    ['spaces before a word', () => `x,${' '.repeat(20_000)}a,b,${' '.repeat(20_000)}a`],
    ['marks on one letter', () => `a${'\u0301\u0327'.repeat(20_000)},b,c,d`],
    ['digits before a word', () => `-,-,${'1'.repeat(20_000)}a,5`],
  ])('with %s', (_what, lineOf) => {
    // Each of these took minutes where a line was read anew for each line before it, or a cell for each of its characters.
    expect(read(Array.from({ length: 1_000 }, (_, line) => lineOf(line)))).toHaveLength(1_000);
  });
});

it('reads quotes inside cells as text, skips rows without any cell, and headings that come again', () => {
  expect(
    read([
      'po-1,MP1,Nana "K" Mensah,1',
      'po-2,MP2,"Ama "K" Owusu",2',
      ',,,',
      ' ',
      '"","",,',
      heading,
      ' po-3 , "MP3" ,,3',
    ]),
  ).toEqual([
    [2, 'MP1'],
    [3, 'MP2'],
    [8, 'MP3'],
  ]);
});
