import type { StatementMappingBody } from '@pesewa/contracts';
import { refuse, systemClock } from '@pesewa/kernel';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import type { StatementLine } from '../domain/statement-records.ts';
import { mapping } from '../fixtures/statement-rows.ts';
import { uploader } from '../fixtures/statements.ts';
import { readStatementFile } from './lines.ts';
import { addStatementRoutes, type MappingDocument, type StatementRouteDeps } from './routes.ts';

const never = (): never => {
  throw new Error('a refused upload reads nothing');
};
const limits = { bytesMax: 10_000, linesMax: 100 };

/** The routes over mappings in memory; an upload is read, its lines are kept here, and it is refused then. */
function routes() {
  const found = new Map<string, MappingDocument>();
  const lines: StatementLine[] = [];
  const operator = new Hono();
  addStatementRoutes(operator, {
    statements: {
      take: async ({ mapping: read, currency }, _, content) => {
        const file = readStatementFile(content, { mapping: read, currency, limits });
        for await (const batch of file.batches) lines.push(...batch);
        return refuse({ code: 'dropped', message: 'read' });
      },
      tryOut: never,
      forget: never,
      lookForLate: never,
      [Symbol.asyncDispose]: async () => undefined,
    },
    statementStore: {} as StatementRouteDeps['statementStore'],
    mappings: {
      replaceOne: async ({ _id }: Pick<MappingDocument, '_id'>, kept: Omit<MappingDocument, '_id'>) =>
        void found.set(_id, { _id, ...kept }),
      findOne: async ({ _id }: Pick<MappingDocument, '_id'>) => found.get(_id) ?? null,
    } as unknown as StatementRouteDeps['mappings'],
    railNames: ['upstream', 'by-statement'],
    byStatement: ['by-statement'],
    clock: systemClock,
  });
  const token = 'a-token-of-tests-that-is-long-enough';
  const guarded = guardOperator(operator, createOperators(token, []));
  const request = async (path: string, init: RequestInit = {}) => {
    const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
    const response = await guarded.request(path, { ...init, headers });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const keep = (body: object) =>
    request('/statement-mappings/kept', { method: 'PUT', body: JSON.stringify(body) });
  return { upload: uploader(request), keep, lines };
}

it('refuses a file of a rail whose statement is its close if nothing says which payments it must have', async () => {
  const { upload } = routes();
  const [from, to] = ['2026-11-26T00:00:00Z', '2026-11-27T00:00:00Z'];
  const given = { rail: 'by-statement', currency: 'KES', mapping: { columns: mapping.columns } };
  const content = 'Ref,Amount\r\npo-1,-5\r\n';
  const message = expect.stringMatching(/^from and to are required: /) as unknown;
  for (const part of [{}, { from }, { to }, { dryRun: 'true' }])
    expect(await upload(content, { ...given, ...part })).toMatchObject({ status: 400, body: { message } });
  const timed = { columns: { ...mapping.columns, time: 'Time' }, time: { format: 'ISO' } };
  const taken = { status: 409, body: { code: 'dropped' } };
  expect(await upload(content, { ...given, from, to })).toMatchObject(taken);
  expect(await upload(content, { ...given, rail: 'upstream' })).toMatchObject(taken);
  expect(await upload('Ref,Amount,Time\r\n', { ...given, mapping: timed })).toMatchObject(taken);
});

const columns = { reference: 'Ref', railReference: 'Receipt', amount: 'Amount' };
const line = 'po-1,R1,-5';
const heading = 'Ref,Receipt,Amount';
const at = (time: string) => ({ atMs: Date.parse(time) });
const timed = { ...columns, time: 'Time' };
const asked = (amount: string) => `${heading}\npo-1,R1,${amount}`;
const withTime = (time: string) => `${heading},Time\npo-1,R1,-5,"${time}"`;
const time = '2026-11-26T08:05:00Z';

/** Every documented option of a mapping, a file that it reads, and what a line of it comes to. */
const options: readonly (readonly [string, StatementMappingBody, string | Uint8Array, object])[] = [
  ['columns by name', { columns }, `${heading}\n${line}`, { amount: 500n }],
  [
    'columns by place, and no header',
    { columns: { reference: 1, railReference: 2, amount: 3 }, header: false },
    line,
    { amount: 500n },
  ],
  [
    'columns by place under a header',
    { columns: { reference: 1, railReference: 2, amount: 3 } },
    `a,b,c\n${line}`,
    {},
  ],
  ...[';', '\t', '|'].map(
    (delimiter) =>
      [
        `delimiter ${JSON.stringify(delimiter)}`,
        { columns, delimiter } as StatementMappingBody,
        `${heading}\n${line}`.replaceAll(',', delimiter),
        {},
      ] as const,
  ),
  ['decimal', { columns, decimal: ',' }, asked('"-1,5"'), { amount: 150n }],
  ['grouping ","', { columns, grouping: ',' }, asked('"-1,000.5"'), { amount: 100_050n }],
  ['grouping "."', { columns, grouping: '.', decimal: ',' }, asked('-1.000'), { amount: 100_000n }],
  ['grouping " "', { columns, grouping: ' ' }, asked('-1\u202f000'), { amount: 100_000n }],
  ['grouping "\'"', { columns, grouping: "'" }, asked('-1\u2019000'), { amount: 100_000n }],
  ['positive', { columns, positive: 'debit' }, asked('5'), { kind: 'payout' }],
  ['holds payouts', { columns, holds: 'payouts' }, asked('5'), { kind: 'payout' }],
  ['holds collections', { columns, holds: 'collections' }, asked('5'), { kind: 'collection' }],
  [
    'debit and credit',
    { columns: { reference: 'Ref', railReference: 'Receipt', debit: 'Out', credit: 'In' } },
    'Ref,Receipt,Out,In\npo-1,R1,,5',
    { kind: 'collection' },
  ],
  [
    'directions',
    { columns: { ...columns, direction: 'Way' }, directions: { debit: ['Dr'], credit: ['Cr'] } },
    `${heading},Way\npo-1,R1,5,DR`,
    { kind: 'payout' },
  ],
  [
    'statuses',
    {
      columns: { ...columns, status: 'S' },
      statuses: { completed: ['A'], failed: ['B'], reversed: ['C'], pending: ['D'] },
    },
    `${heading},S\npo-1,R1,5,d`,
    { status: 'pending' },
  ],
  [
    'kinds',
    {
      columns: { ...columns, kind: 'K' },
      kinds: { payout: ['A'], collection: ['B'], reversal: ['C'], other: ['D'] },
    },
    `${heading},K\n,,9,D\npo-1,R1,5,C`,
    { kind: 'reversal' },
  ],
  ['fee', { columns: { ...columns, fee: 'Fee' } }, `${heading},Fee\npo-1,R1,5,0.5`, { fee: 50n }],
  [
    'currency',
    { columns: { ...columns, currency: 'C' } },
    `${heading},C\npo-1,R1,5,kes`,
    { currency: 'KES' },
  ],
  ['time ISO', { columns: timed, time: { format: 'ISO' } }, withTime('2026-11-26T11:05:00+03'), at(time)],
  ...(
    [
      ['YYYY-MM-DD HH:mm:ss', '2026-11-26 11:05:00'],
      ['DD/MM/YYYY HH:mm:ss', '26/11/2026 11:05'],
      ['MM/DD/YYYY HH:mm:ss', '11/26/2026 11:05 AM'],
      ['DD.MM.YYYY HH:mm:ss', '26.11.2026 11:05:00'],
      ['DD-MM-YYYY HH:mm:ss', '26-11-2026 11:05:00'],
      ['DD-MMM-YYYY HH:mm:ss', '26-Nov-2026 11:05:00'],
      ['YYYYMMDDHHmmss', '20261126110500'],
    ] as const
  ).map(
    ([format, text]) =>
      [
        `time ${format}`,
        { columns: timed, time: { format, offset: '+03:00' } },
        withTime(text),
        at(time),
      ] as const,
  ),
  ['time unix', { columns: timed, time: { format: 'unix' } }, withTime('1795680300'), at(time)],
  ['time unixMs', { columns: timed, time: { format: 'unixMs' } }, withTime('1795680300000'), at(time)],
  [
    'encoding windows-1252',
    { columns: { ...columns, amount: 'D\u00e9bit' }, encoding: 'windows-1252' },
    Buffer.from(`Ref,Receipt,D\u00e9bit\n${line}`, 'latin1'),
    {},
  ],
  ['encoding utf-16le', { columns, encoding: 'utf-16le' }, Buffer.from(`${heading}\n${line}`, 'utf16le'), {}],
  [
    'encoding utf-16be',
    { columns, encoding: 'utf-16be' },
    Buffer.from(`${heading}\n${line}`, 'utf16le').swap16(),
    {},
  ],
  ['encoding utf-8', { columns, encoding: 'utf-8' }, `${heading}\n${line}`, {}],
  [
    'skipLines',
    { columns: { reference: 1, railReference: 2, amount: 3 }, header: false, skipLines: 2 },
    `November\n\n${line}`,
    {},
  ],
  ['setAside', { columns, setAside: ['Total', ''] }, `${heading}\nTOTAL,,7\n,,7\n${line}`, {}],
];

describe('every documented option of a mapping', () => {
  it.each(options)('%s works in the request, and kept under a name', async (_, given, content, expected) => {
    const { upload, keep, lines } = routes();
    const terms = { rail: 'upstream', currency: 'KES' };
    const refused = { status: 409, body: { code: 'dropped' } };
    expect(await upload(content, { ...terms, mapping: given })).toMatchObject(refused);
    expect(await keep(given)).toMatchObject({ status: 200, body: { mapping: given } });
    expect(await upload(content, { ...terms, mapping: 'kept' })).toMatchObject(refused);
    const rows = lines.flatMap(({ read }) => ('aside' in read ? [] : [read]));
    const row = { railReference: 'R1', ...expected };
    expect(rows).toMatchObject([{ row }, { row }]);
  });

  it.each([
    [{ columns: { reference: 0, amount: 2 } }, 'columns.reference must be '],
    [
      { columns: { reference: 1.5, amount: 2 } },
      'columns.reference must be the name of a column, or its place',
    ],
    [{ columns, skipLines: 5_000 }, 'skipLines must be a whole number from 0 to 1000'],
    [{ columns, encoding: 'latin-1' }, 'encoding must be one of "utf-8"'],
    [{ columns, time: { format: 'ISO' } }, 'columns.time is required'],
    [{ columns, colums: columns }, 'has no field colums: it knows delimiter'],
  ])('is refused of %j, with the field and what would be right', async (given, why) => {
    const { upload, keep } = routes();
    const body = { message: expect.stringContaining(why) as unknown };
    expect(await keep(given)).toMatchObject({ status: 400, body });
    expect(await upload('', { rail: 'upstream', currency: 'KES', mapping: given })).toMatchObject({
      status: 400,
      body,
    });
  });
});
