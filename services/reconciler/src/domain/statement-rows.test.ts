import { mappingProblem, type StatementMapping } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { mapping } from '../fixtures/statement-rows.ts';
import { createLineReader } from './statement-asides.ts';
import { layoutOf } from './statement-heading.ts';
import { readTime } from './statement-times.ts';

/** Reads one line by a mapping whose columns are the line's, in order. */
function read(
  line: Readonly<Record<string, string>>,
  given: Partial<StatementMapping> = {},
  currency = 'KES',
) {
  const names = Object.keys(line);
  const columns = Object.fromEntries(names.map((name) => [name, name]));
  const whole = { ...mapping, columns, ...given };
  const layout = layoutOf(whole, names);
  if (!layout.ok) throw new Error(layout.refusal);
  const found = createLineReader(whole, layout.value, currency)(Object.values(line));
  return 'row' in found ? found.row : found;
}

describe('an amount', () => {
  it.each([
    ['-100.5', {}, 'KES', { kind: 'payout', amount: 10_050n }],
    ['+100.50', {}, 'KES', { kind: 'collection', amount: 10_050n }],
    ['100', { positive: 'debit' }, 'KES', { kind: 'payout', amount: 10_000n }],
    ['9007199254740.91', {}, 'KES', { amount: 900_719_925_474_091n }],
    ['-1.234.567,80', { decimal: ',', grouping: '.' }, 'KES', { amount: 123_456_780n }],
    ["1'000.25", { grouping: "'" }, 'KES', { amount: 100_025n }],
    ['100.00', {}, 'XOF', { amount: 100n }],
    ['0', {}, 'KES', { kind: null, amount: 0n }],
    ['-1\u00a0234,50', { decimal: ',', grouping: ' ' }, 'KES', { kind: 'payout', amount: 123_450n }],
    ['1\u202f234\u202f567', { grouping: ' ' }, 'XOF', { amount: 1_234_567n }],
    ['1\u2009234.5', { grouping: ' ' }, 'KES', { amount: 123_450n }],
    ['\u22121\u2019234.50', { grouping: "'" }, 'KES', { kind: 'payout', amount: 123_450n }],
    ['\u2013 5', {}, 'KES', { kind: 'payout', amount: 500n }],
    ['(1,234.50)', { grouping: ',' }, 'KES', { kind: 'payout', amount: 123_450n }],
    ['1.234,56-', { decimal: ',', grouping: '.' }, 'KES', { kind: 'payout', amount: 123_456n }],
    ['5', { holds: 'payouts' }, 'KES', { kind: 'payout', amount: 500n }],
  ] as const)('%s is read by %j', (amount, given, currency, expected) => {
    expect(read({ amount }, given, currency)).toMatchObject(expected);
  });

  it.each([
    ['1e3', {}],
    ['=1+1', {}],
    ['1,000', {}],
    ['12,34.5', { grouping: ',' }],
    ['.500', { decimal: ',', grouping: '.' }],
    ['0.001', {}],
    ['', {}],
    ['1.2.3', {}],
    ['-5', { holds: 'collections' }],
    ['-5-', {}],
    ['(-5)', {}],
    ['(5', {}],
    ['1 234', {}],
    ['1 23', { grouping: ' ' }],
    ['-', {}],
    ['99999999999999999999', {}],
  ] as const)('%s is none by %j', (amount, given) => {
    expect(read({ amount }, given)).toMatchObject({
      unreadable: expect.stringMatching(/^amount: /) as unknown,
    });
  });

  it('is given by two columns, or by a word', () => {
    expect(read({ debit: '5', credit: '' })).toMatchObject({ kind: 'payout', amount: 500n });
    expect(read({ debit: '-5', credit: '0.00' })).toMatchObject({ kind: 'payout', amount: 500n });
    expect(read({ debit: '', credit: '5' })).toMatchObject({ kind: 'collection', amount: 500n });
    expect(read({ debit: '5', credit: '5' })).toEqual({ unreadable: 'debit, credit: both have an amount' });
    const directions = { debit: ['DR'], credit: ['CR'] };
    expect(read({ amount: '5', direction: 'dr ' }, { directions })).toMatchObject({ kind: 'payout' });
    expect(read({ amount: '5', direction: '?' }, { directions })).toEqual({
      unreadable: 'direction: a word that the mapping does not know: say under directions what it means',
    });
  });
});

it('knows only references of ours, in any case', () => {
  const own = `po-${'0a'.repeat(16)}`;
  expect(read({ reference: ` ${own.toUpperCase()} `, amount: '1' })).toMatchObject({ reference: own });
  for (const reference of ['po-1', 'INV 7', `po-${'0a'.repeat(17)}`, '']) {
    expect(read({ reference, amount: '1' })).toMatchObject({ reference: null });
  }
});

it('keeps another reference as it is, but of a long number the end, and nothing that may be a name', () => {
  const other = (reference: string) => {
    const row = read({ reference, amount: '1' });
    return 'otherReference' in row ? row.otherReference : undefined;
  };
  expect(['INV-7', 'po-1', '4711'].map(other)).toEqual(['INV-7', 'po-1', '4711']);
  expect(['254712345678', '0712-345-678'].map(other)).toEqual(['***678', '***678']);
  expect(['tel:0241234567', 'MSISDN233241234567', '0241234567-MTN', '0241.234.567'].map(other)).toEqual([
    'tel:***567',
    'MSISDN***567',
    '***567-MTN',
    '***567',
  ]);
  expect(['A123456B-254712345678', 'INV-12345', '123456'].map(other)).toEqual([
    'A***456B-***678',
    'INV-12345',
    '***456',
  ]);
  for (const none of ['', 'WANJIKU', 'Ama 7', '+254712345678', `po-${'0a'.repeat(16)}`])
    expect(other(none)).toBeUndefined();
});

it('keeps the word for the status as the mapping writes it', () => {
  const statuses = { completed: ['Réussi', 'OK'], failed: ['KO'] };
  expect(read({ amount: '5', status: ' RÉUSSI' }, { statuses })).toMatchObject({
    status: 'completed',
    statusWord: 'Réussi',
  });
  expect(read({ amount: '5' })).not.toHaveProperty('statusWord');
});

it('sets aside what is no payment, and reads what a line is by its words', () => {
  const kinds = { payout: ['B2C'], reversal: ['Reversal'], other: ['Top up'] };
  const statuses = { completed: ['Success'], failed: ['Failed'] };
  const line = { amount: '5', status: 'SUCCESS', fee: '-0.5' };
  expect(read({ ...line, kind: 'top up' }, { kinds, statuses })).toEqual({ aside: true });
  expect(read({ ...line, kind: 'reversal' }, { kinds, statuses })).toMatchObject({
    kind: 'reversal',
    status: 'completed',
    fee: 50n,
  });
});

describe('a time', () => {
  it.each([
    ['2026-11-01T08:00:00Z', 'ISO', undefined, '2026-11-01T08:00:00.000Z'],
    ['2026-11-01 08:00:00.25+03:00', 'ISO', undefined, '2026-11-01T05:00:00.250Z'],
    ['2026-11-01T08:00:00+03', 'ISO', undefined, '2026-11-01T05:00:00.000Z'],
    ['01/11/2026 08:00', 'DD/MM/YYYY HH:mm:ss', '+03:00', '2026-11-01T05:00:00.000Z'],
    ['1/11/2026 8:05', 'DD/MM/YYYY HH:mm:ss', '+03', '2026-11-01T05:05:00.000Z'],
    ['26/11/2026, 4:05\u202fPM', 'DD/MM/YYYY HH:mm:ss', '+00:00', '2026-11-26T16:05:00.000Z'],
    ['26/11/2026 12:05 a.m.', 'DD/MM/YYYY HH:mm:ss', '+00:00', '2026-11-26T00:05:00.000Z'],
    ['26-Nov-2026 16:05:59', 'DD-MMM-YYYY HH:mm:ss', '+00:00', '2026-11-26T16:05:59.000Z'],
    ['26 f\u00e9vr. 2026 16:05', 'DD-MMM-YYYY HH:mm:ss', '+00:00', '2026-02-26T16:05:00.000Z'],
    ['11/01/2026 08:00:59', 'MM/DD/YYYY HH:mm:ss', '-05:30', '2026-11-01T13:30:59.000Z'],
    ['29.02.2028 23:59:59', 'DD.MM.YYYY HH:mm:ss', '+00:00', '2028-02-29T23:59:59.000Z'],
    ['2028-03-01 00:00:00', 'YYYY-MM-DD HH:mm:ss', '+00:00', '2028-03-01T00:00:00.000Z'],
    ['20261231235959', 'YYYYMMDDHHmmss', '+00:00', '2026-12-31T23:59:59.000Z'],
    ['1793520000', 'unix', undefined, '2026-11-01T08:00:00.000Z'],
    ['1793520000123', 'unixMs', undefined, '2026-11-01T08:00:00.123Z'],
  ] as const)('%s of the form %s is read', (text, format, offset, expected) => {
    expect(readTime(text, format, offset)).toBe(Date.parse(expected));
  });

  it.each([
    ['2026-02-29T00:00:00Z', 'ISO'],
    ['2026-13-01T00:00:00Z', 'ISO'],
    ['2026-11-01T24:00:00Z', 'ISO'],
    ['2026-11-01T08:00:00', 'ISO'],
    ['0026-11-01T08:00:00Z', 'ISO'],
    ['31/04/2026 08:00', 'DD/MM/YYYY HH:mm:ss'],
    ['30/04/2026 13:00 PM', 'DD/MM/YYYY HH:mm:ss'],
    ['26-Nix-2026 08:00', 'DD-MMM-YYYY HH:mm:ss'],
    ['yesterday', 'YYYY-MM-DD HH:mm:ss'],
  ] as const)('%s is none of the form %s', (text, format) => {
    expect(readTime(text, format, '+00:00')).toBeUndefined();
  });
});

describe('a mapping', () => {
  it.each([
    [{ columns: { reference: 'R' } }, 'either amount, or both debit and credit'],
    [{ columns: { reference: 'R', debit: 'D' } }, 'belong together'],
    [{ columns: { reference: 'R', amount: 'A', status: 'S' } }, 'statuses is required'],
    [{ kinds: {} }, 'columns.kind is required'],
    [{ columns: { amount: 'A' } }, 'columns.reference is required'],
    [{ columns: { reference: 'R', amount: 'A', time: 'T' } }, 'time.format is required'],
    [{ header: false }, 'give its place as a number from 1'],
    [{ grouping: '.' }, 'must not be the decimal separator'],
  ] as const)('of %j is refused: %s', (given, why) => {
    expect(mappingProblem({ ...mapping, ...given })).toContain(why);
  });

  it('finds its columns in a heading, whatever their order and case, and names the one that is not there', () => {
    expect(layoutOf(mapping, [' AMOUNT', 'x', 'ref'])).toMatchObject({ ok: true });
    expect(layoutOf(mapping, ['Amount'])).toMatchObject({
      ok: false,
      refusal: expect.stringContaining('"Ref"') as unknown,
    });
    expect(layoutOf(mapping, ['Amount', 'Ref', 'ref'])).toMatchObject({ ok: false });
  });
});

describe('a message about what cannot be read says which option reads it', () => {
  it.each([
    [{ amount: '1 234,50' }, {}, '"decimal": ",", "grouping": " "', { decimal: ',', grouping: ' ' }],
    [{ amount: '1,234.50' }, {}, '"grouping": ","', { decimal: '.', grouping: ',' }],
    [
      { amount: '5', time: '26-Nov-2026 08:05' },
      { time: { format: 'DD/MM/YYYY HH:mm:ss', offset: '+00:00' } },
      'it is DD-MMM-YYYY HH:mm:ss',
      { time: { format: 'DD-MMM-YYYY HH:mm:ss', offset: '+00:00' } },
    ],
    [{ reference: 'R\ufffd', amount: '5' }, {}, '"encoding": "windows-1252"', { encoding: 'windows-1252' }],
    [{ name: 'TOTAL', reference: '', amount: '9' }, {}, '"setAside": ["total"]', { setAside: ['total'] }],
    [{ reference: '', railReference: '', amount: '9' }, {}, '"setAside": [""]', { setAside: [''] }],
  ] as const)('%j by %j: %s', (line, given, said, options) => {
    expect(read(line, given)).toEqual({ unreadable: expect.stringContaining(said) as unknown, options });
  });
});

describe('a message about what no option reads proposes none', () => {
  it.each([
    [
      { amount: '5', time: '05/04/2026 08:00' },
      { time: { format: 'ISO' } },
      'it is DD/MM/YYYY HH:mm:ss or MM/DD/YYYY HH:mm:ss',
    ],
    [{ amount: '5', status: ' - ' }, {}, 'status: is empty'],
  ] as const)('%j by %j: %s', (line, given, said) => {
    expect(read(line, given)).toEqual({ unreadable: expect.stringContaining(said) as unknown });
  });
});

it('a dash is a word where the mapping says so', () => {
  const directions = { debit: ['-'], credit: ['+'] };
  const line = { amount: '5', direction: '-' };
  const columns = { amount: 'amount', direction: 'direction' };
  expect(read(line, { columns, directions })).toMatchObject({ kind: 'payout' });
});

describe('a line that the mapping sets aside', () => {
  it.each([
    [{ name: 'Total g\u00e9n\u00e9ral', railReference: '', amount: '9' }, ['TOTAL']],
    [{ name: 'Total', railReference: '152', time: '', amount: '9' }, ['Total']],
    [{ railReference: 'Total', amount: '9' }, ['Total']],
    [
      { name: 'Opening balance', railReference: '', time: '01/11/2026 08:00', amount: '9' },
      ['Opening balance'],
    ],
    [{ railReference: '-', name: 'Kofi', note: 'Closing balance', amount: '' }, ['closing balance']],
    [{ railReference: '', amount: '9', balance: '1,000.00' }, ['']],
  ])('is %j by %j', (line, setAside) => {
    const columns = {
      railReference: 'railReference',
      amount: 'amount',
      ...('time' in line && { time: 'time' }),
    };
    expect(read(line, { setAside, columns })).toEqual({ aside: true });
  });

  it.each([
    [{ name: 'Totalis', railReference: '', amount: '9' }],
    [{ name: 'Total Ghana Ltd', railReference: 'R1', amount: '9' }],
    [{ name: '', railReference: '4711', amount: '9' }],
    [{ name: '1', railReference: '', time: '1764230400', amount: '9' }],
    [{ name: 'Kofi', railReference: 'R1', note: 'Total Energies', amount: '9' }],
    [{ name: 'Total', railReference: '', note: `po-${'0a'.repeat(16)}`, amount: '9' }],
  ])('is never %j: it may be a payment', (line) => {
    const time = 'time' in line && ({ time: 'time' } as const);
    const columns = { railReference: 'railReference', amount: 'amount', ...time };
    expect(read(line, { setAside: ['Total', ''], columns })).not.toEqual({ aside: true });
  });
});
