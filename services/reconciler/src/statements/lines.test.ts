import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ownReferencesIn } from '../domain/statement-cells.ts';
import type { StatementLine } from '../domain/statement-records.ts';
import { mapping } from '../fixtures/statement-rows.ts';
import { readStatementFile } from './lines.ts';
import { UnreadableFileError } from './text.ts';

const limits = { bytesMax: 10_000_000, linesMax: 10_000 };
const columns = { reference: 'Ref', railReference: 'Receipt', amount: 'Amount' };

async function* pieces(bytes: Uint8Array, size = bytes.length || 1) {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

/** What comes of a file, and what became of its lines. */
async function read(content: string | Uint8Array, given: Partial<typeof mapping> = {}, size?: number) {
  const bytes = typeof content === 'string' ? Buffer.from(content) : content;
  const how = { mapping: { ...mapping, columns, ...given }, currency: 'KES', limits };
  const file = readStatementFile(pieces(bytes, size), how);
  const lines = (await Array.fromAsync(file.batches)).flat();
  const { proposal, ...counts } = file.summary().file;
  return { lines, counts, proposal };
}

/** A name in quotes, without, and one that has lost one of its quotes. */
const styles = ['quoted', 'plain', 'opens', 'closes'] as const;
const payment = fc.record({
  reference: fc.nat().map((number) => `po-${number.toString(16).padStart(32, '0')}`),
  name: fc.string({
    unit: fc.constantFrom('a', ' ', ',', ';', '"', '\n', 'é', "'", '\u00a0'),
    maxLength: 8,
  }),
  style: fc.constantFrom(...styles),
  amount: fc.constantFrom('100', '-7.50', '""', '1 000'),
});
const damage = fc.record({
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  cut: fc.constantFrom(0, 0, 1, 2, 40),
  put: fc.constantFrom('', '"', '""', ',', ';', '\n', '\r', '","', '"\n"', '\u0000'),
});
const encodings = {
  'utf-8': (text: string) => Buffer.from(text),
  'windows-1252': (text: string) => Buffer.from(text, 'latin1'),
  'utf-16le': (text: string) => Buffer.from(text, 'utf16le'),
  'utf-16be': (text: string) => Buffer.from(text, 'utf16le').swap16(),
} as const;

interface Written {
  readonly reference: string;
  readonly name: string;
  readonly style: (typeof styles)[number];
  readonly amount: string;
}

function write({ reference, name, style, amount }: Written) {
  const doubled = name.replaceAll('"', '""');
  const cell = { quoted: `"${doubled}"`, plain: name, opens: `"${name}`, closes: `${name}"` }[style];
  return `${reference},R1,${cell},${amount}`;
}

/** Whether a line of the file that names a payment is in a result, or named as unreadable. */
function isAccounted(lines: readonly StatementLine[], line: number, reference: string): boolean {
  return lines.some(({ line: at, read: one }) => {
    if ('row' in one && one.row.reference === reference) return true;
    return at === line && ('unreadable' in one || ('row' in one && one.row.reference === null));
  });
}

it('finds each reference that is in the bytes again, in a result or in a line named as unreadable, whatever is damaged', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(payment, { minLength: 2, maxLength: 6 }),
      fc.array(damage, { maxLength: 2 }),
      fc.constantFrom(...(Object.keys(encodings) as (keyof typeof encodings)[])),
      fc.option(fc.tuple(fc.double({ min: 0, max: 1, noNaN: true }), fc.integer({ min: 0, max: 255 }))),
      fc.constantFrom('\r\n', '\n', '\r'),
      fc.constantFrom(61, 100_000),
      async (payments, damages, encoding, byte, end, size) => {
        let text = ['Ref,Receipt,Name,Amount', ...payments.map(write)].join(end);
        for (const { at, cut, put } of damages) {
          const place = Math.floor(at * text.length);
          text = text.slice(0, place) + put + text.slice(place + cut);
        }
        const bytes = new Uint8Array(encodings[encoding](text));
        if (byte && bytes.length > 0) bytes[Math.floor(byte[0] * (bytes.length - 1))] = byte[1];
        const physical = new TextDecoder(encoding).decode(bytes).split(/\r\n|[\n\r]/);
        const found = await read(bytes, { encoding }, size).catch((error: unknown) => {
          if (error instanceof UnreadableFileError) return undefined;
          throw error;
        });
        if (!found) return;
        const lost = physical.flatMap((line, index) =>
          ownReferencesIn(line).filter((reference) => !isAccounted(found.lines, index + 1, reference)),
        );
        expect(lost).toEqual([]);
      },
    ),
    { numRuns: 600 },
  );
});

it('reads every file that keeps the rules of CSV whole', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(payment, { maxLength: 8 }),
      fc.constantFrom(1, 9, 100_000),
      async (some, size) => {
        const payments = some.map((one) => ({ ...one, style: 'quoted' as const, amount: '100' }));
        const text = ['Ref,Receipt,Name,Amount', ...payments.map(write)].join('\r\n');
        const { lines } = await read(text, {}, size);
        expect(lines.map(({ read: one }) => 'row' in one && one.row.reference)).toEqual(
          payments.map(({ reference }) => reference),
        );
      },
    ),
  );
});

describe('a heading', () => {
  const line = 'po-1,R1,-5';

  it.each([
    ['behind other lines', `sep=,\nStatement\n,,\nRef,Receipt,Amount\n${line}`, { before: 3, heading: 1 }],
    ['over two lines', `"Ref","Receipt","Amount"\n${line}`, { before: 0, heading: 1 }],
    ['that comes again', `Ref,Receipt,Amount\n${line}\nRef,Receipt,Amount`, { before: 0, heading: 2 }],
    ['over five lines', `Ref,Receipt,Amount,"a\n\n\n\nb"\n${line},x`, { before: 0, heading: 5 }],
    [
      'alone if a quote in it is damaged',
      `Ref,Receipt,Amount,"a\n\n\n\n\n${line},b"`,
      { before: 0, heading: 1 },
    ],
    ['with other bytes', `\u200bRef ,RECEIPT\u00a0,Amount\n${line}`, { before: 0, heading: 1 }],
  ])('%s is found', async (_, content, counts) => {
    const found = await read(content);
    expect(found.lines).toMatchObject([{ read: { row: { railReference: 'R1', amount: 500n } } }]);
    expect(found.counts).toMatchObject({ ...counts, records: 1 });
  });

  it.each([
    ['a semicolon file', `Ref;Receipt;Amount\n${line}`, {}, 'line 1 has them all with "delimiter": ";"'],
    [
      'a letter of another alphabet',
      `Ref,Receipt,\u0410mount\n${line}`,
      {},
      'no column "Amount", but column 3 is like it, with U+0430 for U+0061',
    ],
    [
      'a heading further down',
      `Ref\nRef,Receipt,Amount`,
      { skipLines: 0 },
      'line 2 has them all: "skipLines": 1',
    ],
    [
      'Latin-1',
      Buffer.from(`R\u00e9f,Receipt,Amount\n${line}`, 'latin1'),
      { columns: { ...columns, reference: 'R\u00e9f' } },
      '"encoding": "windows-1252" reads it',
    ],
    ['a payment before it', `po-${'0'.repeat(32)},R,5\nRef,Receipt,Amount`, {}, 'line 1 names a payment'],
    ['a workbook', Buffer.from('PK\u0003\u0004'), {}, 'a workbook (.xlsx, .ods)'],
    ['UTF-32', Buffer.from([0xff, 0xfe, 0, 0, 0x52, 0, 0, 0]), {}, 'UTF-32'],
    ['nothing', '', {}, 'not even a heading'],
    ['only blanks', '\n,,\n', {}, 'not even a heading'],
  ] as const)('is refused of %s', async (_, content, given, why) => {
    await expect(read(content, given)).rejects.toThrow(why);
  });
});

describe('a file in another encoding', () => {
  const text = 'Réf,Receipt,Amount\r\npo-1,R1,-5\r\n';
  const given = { columns: { ...columns, reference: 'Réf' } };
  it.each([
    ['UTF-8', Buffer.from(text), {}],
    ['UTF-8 with its mark', Buffer.from(`\ufeff${text}`), {}],
    ['UTF-16 LE', Buffer.from(text, 'utf16le'), {}],
    ['UTF-16 LE with its mark', Buffer.from(`\ufeff${text}`, 'utf16le'), {}],
    ['UTF-16 BE', Buffer.from(text, 'utf16le').swap16(), {}],
    ['UTF-16 BE with its mark', Buffer.from(`\ufeff${text}`, 'utf16le').swap16(), {}],
    ['Latin-1', Buffer.from(text, 'latin1'), { encoding: 'windows-1252' }],
    ['UTF-8 with its mark, against the mapping', Buffer.from(`\ufeff${text}`), { encoding: 'windows-1252' }],
  ] as const)('%s is read', async (_, content, encoding) => {
    for (const size of [1, 4_096]) {
      const { lines } = await read(content, { ...given, ...encoding }, size);
      expect(lines).toMatchObject([{ line: 2, read: { row: { railReference: 'R1' } } }]);
    }
  });
});

it('proposes the options by which unreadable lines could be read', async () => {
  const content = 'Statement\nof November\npo-0;R0;7\npo-1;R1;1\u00a0000,50\nTotal;;1\u00a0002,50';
  const { proposal } = await read(content, {
    delimiter: ';',
    header: false,
    columns: { reference: 1, railReference: 2, amount: 3 },
  });
  expect(proposal).toEqual({ decimal: ',', grouping: ' ', skipLines: 2, setAside: ['total'] });
});
