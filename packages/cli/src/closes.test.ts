import type { OperationsAnswer } from '@pesewa/operator-client';
import { describe, expect, it } from 'vitest';
import { commandLine } from './program.fixture.ts';

const answer = (status: number, body: unknown): OperationsAnswer => ({ status, body });
const none = { matched: 0, differs: 0, not_at_rail: 0, unclear: 0, pending: 0 };
const close = {
  id: '2026-11-20',
  from: '2026-11-20T00:00:00.000Z',
  to: '2026-11-21T00:00:00.000Z',
  rail: null,
  status: 'done',
  running: false,
  payments: 1_204,
  done: 1_204,
  results: { ...none, matched: 1_202, differs: 1, not_at_rail: 1 },
  late: 0,
  requestedBy: 'nightly',
  requestedAt: '2026-11-21T03:00:00.000Z',
  finishedAt: '2026-11-21T03:05:00.000Z',
};
const asking = {
  ...close,
  status: 'asking',
  running: true,
  done: 800,
  results: { ...none, matched: 800, pending: 404 },
};
const matched = { ...close, results: { ...none, matched: 1_204 } };
const record = {
  reference: 'po-1',
  kind: 'payout',
  rail: 'upstream',
  merchantId: 'demo',
  currency: 'KES',
  endedAt: '2026-11-20T08:00:00.000Z',
  result: 'differs',
  ours: { status: 'completed', amount: '100', fee: '0.5' },
  theirs: { status: 'completed', amount: '100', fee: '0.49' },
  differences: [{ field: 'fee', amount: '-0.01' }],
  why: null,
  breakId: 'po-1/fee',
  alsoCoveredBy: [],
  correctionSent: false,
  askedAt: '2026-11-21T00:10:00.000Z',
  tries: 1,
};
const missing = {
  ...record,
  reference: 'po-2',
  result: 'not_at_rail',
  theirs: { status: 'not_found', amount: null, fee: null },
  differences: [{ field: 'status', amount: '-100' }],
  breakId: 'po-2/status',
};
const compared =
  'matched: payouts by status, amount and fee; collections that were looked up by status alone, because a lookup tells no amount of them: only a statement does\n';
const token = 'operator-token-of-tests';
const url = 'http://reconciler/closes';
const posted = (body: object) => ({ url, token, body });

describe('pesewa reconcile close', () => {
  it('waits until it is done, and shows what differs with its break', async () => {
    const items = (one: object) => answer(200, { items: [one], next: null });
    const line = commandLine([
      answer(202, { ...asking, payments: 0, done: 0 }),
      answer(200, asking),
      answer(200, close),
      items(record),
      items(missing),
    ]);
    expect(await line.run('reconcile', 'close', '--date', '2026-11-20', '--wait')).toBe(1);
    expect(line.complained()).toBe(
      'pesewa: 2 payments of 2026-11-20 are not matched: see the breaks that are named, or why\n',
    );
    expect(line.requests).toEqual([
      posted({ date: '2026-11-20' }),
      `${url}/2026-11-20`,
      `${url}/2026-11-20`,
      `${url}/2026-11-20/records?result=differs&limit=20`,
      `${url}/2026-11-20/records?result=not_at_rail&limit=20`,
    ]);
    expect(line.shown).toEqual(['2026-11-20: 0 of 0 …', '2026-11-20: 800 of 1,204 …']);
    expect(line.printed()).toContain(
      `2026-11-20: done\n1,202 matched, 1 differs, 1 not at the rail, 0 unclear\n${compared}`,
    );
    expect(line.printed()).toMatch(
      /po-1 +differs +upstream +fee +0\.50 KES +0\.49 KES +-0\.01 KES +po-1\/fee\n/,
    );
    expect(line.printed()).toMatch(
      /po-2 +not at the rail +upstream +status +completed +not found +-100\.00 KES/,
    );
  });

  it('waits for the answers about what was not matched, before it writes a file', async () => {
    const again = { ...close, running: true };
    const answers = [answer(200, again), answer(200, again), answer(200, matched), answer(200, undefined)];
    const line = commandLine(answers);
    const options = ['--date', '2026-11-20', '--wait', '--export', 'close.csv'];
    expect(await line.run('reconcile', 'close', ...options)).toBe(0);
    expect(line.requests.slice(1, 3)).toEqual([`${url}/2026-11-20`, `${url}/2026-11-20`]);
    expect(line.requests[3]).toMatchObject({ url: `${url}/2026-11-20/export?format=csv` });
    expect(line.printed()).toContain('2026-11-20: done\n1,204 matched');
  });

  it('says that it asks again where that is not waited for', async () => {
    const line = commandLine([answer(200, { ...matched, running: true })]);
    expect(await line.run('reconcile', 'close', '--date', '2026-11-20')).toBe(0);
    expect(line.printed()).toContain(
      '2026-11-20: done, and asks again about what is not matched: add --wait for the answers\n',
    );
  });

  it('is content while it is not done, whatever differs so far', async () => {
    const unclear = { ...asking, results: { ...asking.results, unclear: 1, matched: 799 } };
    const line = commandLine([answer(202, unclear), answer(200, { items: [], next: null })]);
    expect(await line.run('reconcile', 'close', '--date', '2026-11-20')).toBe(0);
    expect(line.printed()).toContain('1 unclear');
  });

  it('says how far it is where it is not waited for', async () => {
    const line = commandLine([answer(202, asking)]);
    expect(await line.run('reconcile', 'close', '--date', '2026-11-20')).toBe(0);
    expect(line.printed()).toBe(
      `2026-11-20: asking, 800 of 1,204: repeat it to look again, or add --wait\n800 matched, 0 differs, 0 not at the rail, 0 unclear, 404 pending\n${compared}`,
    );
  });

  it('says when there is still too much to count', async () => {
    const line = commandLine([answer(202, { ...asking, payments: null, done: null, results: null })]);
    expect(await line.run('reconcile', 'close', '--date', '2026-11-20')).toBe(0);
    expect(line.printed()).toBe('2026-11-20: asking: repeat it to look again, or add --wait\n');
  });

  it('is about yesterday, a day, or one rail', async () => {
    // These tests' clock begins in 1970.
    for (const [options, body] of [
      [[], { date: '1969-12-31' }],
      [['--rail', 'upstream'], { date: '1969-12-31', rail: 'upstream' }],
      [['--date', '2026-11-01'], { date: '2026-11-01' }],
    ] as const) {
      const line = commandLine([answer(200, matched)]);
      expect(await line.run('reconcile', 'close', ...options)).toBe(0);
      expect(line.requests).toEqual([posted(body)]);
    }
  });

  it.each([
    [['--export', 'close.csv'], 'close.csv', 'csv'],
    [['--export', 'close.json'], 'close.json', 'json'],
    [['--export', 'close.txt', '--format', 'json'], 'close.txt', 'json'],
  ])('writes its payments to a file: %j', async (options, file, format) => {
    const line = commandLine((at) => answer(200, at.includes('/export') ? undefined : matched));
    expect(await line.run('reconcile', 'close', '--date', '2026-11-20', ...options)).toBe(0);
    expect(line.requests[1]).toEqual({ url: `${url}/2026-11-20/export?format=${format}`, token, file });
    expect(line.printed()).toContain(`the payments of the close are in ${file}\n`);
    expect(line.shown).toEqual([`${file}: 1,234 rows …`, `${file}: 1,234 of 5,000 rows (24 %) …`]);
  });

  it('shows how many ends came late', async () => {
    const late = { ...matched, late: 1_003 };
    const line = commandLine([answer(200, late)]);
    expect(await line.run('reconcile', 'close')).toBe(0);
    expect(line.printed()).toContain(
      '\n1,003 of them came late: reported only after it had been done once\n',
    );
    const json = commandLine([answer(200, late)]);
    await json.run('reconcile', 'close', '--json');
    expect(JSON.parse(json.printed())).toMatchObject({ late: 1_003 });
    const none = commandLine([answer(200, matched)]);
    await none.run('reconcile', 'close');
    expect(none.printed()).not.toContain('late');
  });

  it('prints JSON', async () => {
    const line = commandLine([answer(200, matched)]);
    expect(await line.run('reconcile', 'close', '--json')).toBe(0);
    expect(JSON.parse(line.printed())).toEqual({ ...matched, records: [] });
  });

  it.each<[string, readonly string[], OperationsAnswer, string]>([
    [
      'no day',
      ['--date', '2026-02-30'],
      answer(200, close),
      '--date: 2026-02-30 is no day: write one such as 2026-11-20',
    ],
    [
      'a day that is not over',
      ['--date', '2026-11-21'],
      answer(409, { message: 'date: it can be closed from 2026-11-22T00:10:00.000Z on' }),
      'reconciler: date: it can be closed from 2026-11-22T00:10:00.000Z on',
    ],
    [
      'a format of no file',
      ['--format', 'json'],
      answer(200, close),
      '--format: it is that of a file: name one with --export, or leave it out',
    ],
    [
      'a file too early',
      ['--date', '2026-11-20', '--export', 'a.csv'],
      answer(202, asking),
      '--export: 2026-11-20 is not done (800 of 1,204): add --wait, or repeat it later',
    ],
  ])('names the field for %s', async (_name, options, answered, message) => {
    const line = commandLine([answered]);
    expect(await line.run('reconcile', 'close', ...options)).toBe(1);
    expect(line.complained()).toBe(`pesewa: ${message}\n`);
  });
});
