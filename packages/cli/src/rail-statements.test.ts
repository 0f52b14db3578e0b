import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pesewa-'));
  await writeFile(join(folder, 'mapping.json'), '{ "columns": { "reference": 1 } }');
});
afterAll(() => rm(folder, { recursive: true }));

const record = {
  id: 'st-1/4',
  line: 4,
  result: 'differs',
  payment: 'po-1',
  differsIn: ['amount'],
  difference: '-10',
  reference: 'po-1',
  railReference: 'R1',
  otherReference: null,
  kind: null,
  status: null,
  statusWord: null,
  amount: '90',
  fee: null,
  currency: 'KES',
  at: null,
  reason: null,
  breakId: 'po-1/status',
  alsoCoveredBy: [],
};
const view = (given: object) => ({
  id: 'st-1',
  rail: 'upstream',
  currency: 'KES',
  from: '2026-11-01T00:00:00.000Z',
  to: '2026-11-02T00:00:00.000Z',
  sha256: 'ab'.repeat(32),
  uploadedBy: 'ama',
  uploadedAt: '2026-11-02T08:00:00.000Z',
  doneAt: null,
  status: 'done',
  stage: null,
  lines: 1_200,
  file: null,
  counts: { matched: 1_199, differs: 1 },
  discrepancies: 1,
  breaksOpened: 1,
  breaksHidden: 0,
  ...given,
});
const call = ['reconcile', 'match', 'the.csv', '--rail', 'upstream', '--currency', 'kes'] as const;
const mapped = () => ['--mapping', join(folder, 'mapping.json')] as const;

/** A command line whose reconciler has matched a file, or is still matching it when first asked. */
function matching(given: object) {
  let asked = 0;
  return commandLine((url) => {
    if (url.includes('/records')) return { status: 200, body: { items: [record], next: null } };
    if (url.includes('/export')) return { status: 200, body: undefined };
    asked += 1;
    const busy = { status: 'matching', stage: 'gathering', counts: null, discrepancies: null };
    return { status: 200, body: view(asked === 1 ? busy : given) };
  });
}

describe('reconcile match', () => {
  it('sends the file with what it is, waits, lists what is not matched, and fails then', async () => {
    const line = matching({});
    const exit = await line.run(...call, ...mapped(), '--from', '2026-11-01', '--export', 'out.JSON');
    expect(exit).toBe(1);
    const [sent] = line.requests as { url: string; file: string; token: string }[];
    const url = new URL(sent?.url ?? '');
    expect([url.pathname, sent?.file, sent?.token]).toEqual([
      '/statements',
      'the.csv',
      'operator-token-of-tests',
    ]);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      rail: 'upstream',
      currency: 'KES',
      mapping: '{"columns":{"reference":1}}',
      from: '2026-11-01T00:00:00.000Z',
      sha256: 'ab'.repeat(32),
    });
    expect(line.requests).toContainEqual({
      url: 'http://reconciler/statements/st-1/export?format=json',
      token: 'operator-token-of-tests',
      file: 'out.JSON',
    });
    expect(line.printed()).toContain('st-1: 1,200 lines, from 2026-11-01T00:00:00.000Z');
    expect(line.printed()).toMatch(/4 {2}differs {2}po-1 +90\.00 KES +-10\.00 KES {2}another amount/);
    expect(line.complained()).toBe('pesewa: 1 of the records are not matched\n');
    expect(line.shown.slice(0, 2)).toEqual(['sending 50 % …', 'matching 1,200 lines: gathering …']);
    expect(line.shown.at(-1)).toBe('out.JSON: 1,234 of 5,000 rows (24 %) …');
  });

  it('succeeds where everything is matched, by a mapping that is kept', async () => {
    const line = matching({ counts: { matched: 1_200 }, discrepancies: 0, breaksOpened: 0 });
    expect(await line.run(...call, '--mapping', 'upstream-daily', '--json')).toBe(0);
    expect(JSON.stringify(line.requests[0])).toContain('mapping=upstream-daily');
    expect(JSON.parse(line.printed())).toMatchObject({ id: 'st-1', problems: [] });
  });

  it.each([
    ['names no payment', { reference: null, differsIn: [] }, 'it names no payment'],
    ['names an unknown payment', { reference: 'po-9', differsIn: [] }, 'it names an unknown payment'],
  ])('says of a line that is not in our books that it %s', async (_, given, why) => {
    const problems = [{ ...record, result: 'not_in_books', payment: null, ...given }];
    const line = commandLine([{ status: 200, body: view({ id: null, dryRun: true, problems }) }]);
    expect(await line.run(...call, ...mapped(), '--dry-run')).toBe(1);
    expect(line.printed()).toMatch(new RegExp(`4 {2}not in our books .*${why}\n`));
  });

  it('shows what became of every line, names unreadable ones, and proposes what the mapping lacks', async () => {
    const file = {
      before: 3,
      heading: 1,
      blank: 2,
      records: 1_200,
      continued: 4,
      proposal: { setAside: ['total'] },
    };
    const problems = [{ ...record, result: 'unreadable', payment: null, reason: 'a quote opens a cell' }];
    const counts = { matched: 1_199, unreadable: 1 };
    const line = commandLine([
      { status: 200, body: view({ id: null, dryRun: true, file, counts, problems }) },
    ]);
    expect(await line.run(...call, ...mapped(), '--dry-run')).toBe(1);
    expect(line.printed()).toContain(
      'the file has 1,210: 1,200 that are read, 3 before the heading, 1 heading, 2 blank, 4 continued\n',
    );
    expect(line.printed()).toContain('with this in the mapping: {"setAside":["total"]}\n');
    expect(line.printed()).not.toContain('everything is matched');
    expect(line.complained()).toBe(
      "pesewa: 1 of the records are not matched, 1 of them because they can't be read\n",
    );
  });

  it('says that a dry run leaves nothing', async () => {
    const line = commandLine([{ status: 200, body: view({ id: null, dryRun: true, problems: [record] }) }]);
    expect(await line.run(...call, ...mapped(), '--dry-run')).toBe(1);
    expect(line.requests).toHaveLength(1);
    expect(JSON.stringify(line.requests[0])).toContain('dryRun=true');
    expect(line.printed()).toContain('nothing was stored');
  });

  it.each([
    [['--mapping', '/nowhere/x.json'], "mapping: /nowhere/x.json can't be read"],
    [
      ['--mapping', 'a-name', '--from', '2026-11-02', '--to', '2026-11-01'],
      '--from: 2026-11-02 is not before',
    ],
    [['--mapping', 'a-name', '--dry-run', '--export', 'x.csv'], '--export: a dry run leaves nothing'],
    [['--mapping', 'a-name', '--format', 'csv'], '--format: it is that of a file: name one with --export'],
  ])('refuses %j before anything is sent', async (options, why) => {
    const line = commandLine();
    expect(await line.run(...call, ...options)).toBe(1);
    expect(line.complained()).toContain(why);
    expect(line.requests).toEqual([]);
  });
});

describe('reconcile mappings', () => {
  const kept = { name: 'upstream-daily', by: 'ama', mapping: { columns: { reference: 1 } } };

  it('keeps a mapping from its file, with the numbers of its columns', async () => {
    const line = commandLine([{ status: 200, body: kept }]);
    const file = join(folder, 'mapping.json');
    expect(await line.run('reconcile', 'mappings', 'keep', 'upstream-daily', file)).toBe(0);
    expect(line.requests).toEqual([
      {
        url: 'http://reconciler/statement-mappings/upstream-daily',
        token: 'operator-token-of-tests',
        method: 'PUT',
        body: { columns: { reference: 1 } },
      },
    ]);
    expect(line.printed()).toContain('upstream-daily is kept, by ama');
  });

  it('lists what is kept, and shows one as it can be kept again', async () => {
    const list = commandLine([{ status: 200, body: { items: [kept], next: null } }]);
    expect(await list.run('reconcile', 'mappings')).toBe(0);
    expect(list.printed()).toMatch(/upstream-daily {2}ama/);
    const show = commandLine([{ status: 200, body: kept }]);
    expect(await show.run('reconcile', 'mappings', 'show', 'upstream-daily')).toBe(0);
    expect(JSON.parse(show.printed())).toEqual(kept.mapping);
    expect(await show.run('reconcile', 'mappings', 'show', 'upstream-daily', '--json')).toBe(1);
  });

  it('refuses a file that is no mapping before anything is sent', async () => {
    const line = commandLine();
    expect(await line.run('reconcile', 'mappings', 'keep', 'x', '/nowhere/x.json')).toBe(1);
    expect(line.complained()).toContain("mapping: /nowhere/x.json can't be read");
    expect(line.requests).toEqual([]);
  });
});
