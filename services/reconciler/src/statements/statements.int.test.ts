import { eventually } from '@pesewa/testkit';
import { Long } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, collected, completed, ids, initiated } from '../fixtures/owners.ts';
import { listed, uploader } from '../fixtures/statements.ts';

const harness = createHarness('stm', { ...process.env, STATEMENT_BREAKS_MAX: '4' });
const { about, breaksOf, database, publish, request, rowOf } = harness;
const upload = uploader(request);

const mapping = {
  columns: { reference: 'Ref', railReference: 'Receipt', amount: 'Amount', fee: 'Fee', time: 'Time' },
  time: { format: 'ISO' },
};
const heading = 'Ref,Receipt,Amount,Fee,Time';
const file = (...lines: readonly string[]) => `${[heading, ...lines].join('\r\n')}\r\n`;
const now = () => new Date().toISOString();
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });

/** A payout of 100 KES that has ended, and its reference. */
async function paid(): Promise<string> {
  const reference = ids.next('po');
  await publish(accepted(reference), completed(reference));
  await until('it ended', async () => (await rowOf(reference))?.status === 'completed');
  return reference;
}

/** Uploads a file and waits until it is matched. */
async function match(content: string, given: Record<string, string> = {}) {
  const taken = await upload(content, { rail: 'upstream', currency: 'KES', mapping, ...given });
  const id = String(taken.body['id']);
  if (taken.status > 202) return { id, taken, statement: {}, counts: {}, records: [] };
  await until('it is matched', async () => (await request(`/statements/${id}`)).body['status'] === 'done');
  const found = await request(`/statements/${id}/records?limit=500`);
  const statement = (await request(`/statements/${id}`)).body;
  return { id, taken, statement, counts: statement['counts'], records: listed(found.body) };
}
/** A window in which no payment of these tests ended. */
const nowhere = { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' };

beforeAll(harness.open);
afterAll(harness.close);

describe('a statement', () => {
  it('gives every line its result, and opens one break for each discrepancy, whatever is sent again', async () => {
    const [same, other, fee, lost] = [await paid(), await paid(), await paid(), ids.next('po')];
    const lines = [
      `${same},R1,-100.00,0.50,${now()}`,
      `${same},R1,-100.00,0.50,${now()}`,
      `${other},R2,-90,0.5,${now()}`,
      `${fee},R3,-100,0.75,${now()}`,
      `${lost},R4,-7,0,${now()}`,
      `${same},R5,broken,0,${now()}`,
      `top up,R6,5000,,`,
    ];
    const first = await match(file(...lines), nowhere);
    expect(first.counts).toMatchObject({
      matched: 1,
      differs: 2,
      not_in_books: 2,
      duplicate: 1,
      unreadable: 1,
    });
    const none = { before: 0, blank: 0, continued: 0, proposal: null };
    expect(first.statement['file']).toEqual({ ...none, heading: 1, records: 7 });
    expect(first.records).toMatchObject([
      { line: 2, result: 'matched', payment: same },
      { line: 3, result: 'duplicate', payment: same, breakId: null },
      { line: 4, result: 'differs', differsIn: ['amount'], difference: '-10' },
      { line: 5, result: 'differs', differsIn: ['fee'], difference: '0.25' },
      { line: 6, result: 'not_in_books', difference: '7', breakId: `${lost}/existence` },
      { line: 7, result: 'unreadable', reason: 'amount: is no amount of KES as the mapping writes it' },
      { line: 8, result: 'not_in_books', railReference: 'R6', amount: '5000' },
    ]);
    expect(await breaksOf(other)).toEqual(['statement.differs']);
    expect((await rowOf(other))?.breaks).toEqual(['statement.differs']);
    // The same file is the same statement; with one more line it is another, and opens no break twice.
    const again = await match(file(...lines), nowhere);
    expect(again).toMatchObject({ id: first.id, taken: { status: 200 } });
    const more = await match(file(...lines, `${ids.next('po')},R9,-1,0,${now()}`), nowhere);
    expect(more.id).not.toBe(first.id);
    await until('its event', () => about(other, 'BreakOpened').length > 0);
    expect(about(other, 'BreakOpened')).toHaveLength(1);
    // It closes by itself when a later statement has the correct line.
    const right = await match(file(`${other},R2,-100,0.5,${now()}`), nowhere);
    expect(right.counts).toMatchObject({ matched: 1 });
    const breaks = await request(`/breaks?reference=${other}`);
    expect(listed(breaks.body)).toMatchObject([
      {
        kind: 'statement.differs',
        status: 'resolved',
        resolution: `the statement ${right.id} has it as we have`,
      },
    ]);
    expect((await rowOf(other))?.breaks).toEqual([]);
  });

  it('reports payments of its period without a line, and opens no more breaks than allowed', async () => {
    const from = now();
    const missing = [await paid(), await paid(), await paid(), await paid(), await paid(), await paid()];
    const there = await paid();
    const to = new Date(Date.now() + 1).toISOString();
    const found = await match(file(`${there},R20,-100,0.5,${now()}`), { from, to });
    expect(found.counts).toMatchObject({ matched: 1, not_on_statement: 6 });
    expect(found.statement).toMatchObject({ breaksOpened: 4, breaksHidden: 2, discrepancies: 6 });
    const opened = missing.filter((reference) => about(reference, 'BreakOpened').length === 1);
    await until(
      'the events',
      () => missing.filter((one) => about(one, 'BreakOpened').length === 1).length === 4,
    );
    expect(opened.length).toBeLessThanOrEqual(4);
    const late = await match(file(...missing.map((one, at) => `${one},R3${at},-100,0.5,${now()}`)), nowhere);
    expect(late.counts).toMatchObject({ matched: 6 });
    const open = await request('/breaks?kind=statement.not_on_statement&status=unresolved');
    expect(listed(open.body)).toEqual([]);
  });

  it('guesses no payment for a line without a reference, however well one fits', async () => {
    const reference = ids.next('co');
    await publish(initiated(reference), collected(reference, 12_345n));
    await until('it ended', async () => (await rowOf(reference))?.status === 'completed');
    const endedAt = (await rowOf(reference))?.endedAt?.toISOString() ?? '';
    const to = new Date(Date.parse(endedAt) + 1).toISOString();
    const found = await match(file(`,C1,123.45,,${endedAt}`), { from: endedAt, to });
    expect(found.records).toMatchObject([
      { line: 2, result: 'not_in_books', payment: null, amount: '123.45', difference: '123.45' },
      { line: null, result: 'not_on_statement', payment: reference, difference: '-123.45' },
    ]);
  });
});

/** A file of so many lines that name unknown payments. */
const long = (lines: number, amount = '1') =>
  file(...Array.from({ length: lines }, (_, at) => `,L${at},${amount},0,2026-11-01T00:00:00Z`));
const stored = () => database().collection('statement_records').countDocuments({});
/** A file that arrives in pieces and is cut off after some. */
const pieces = (content: string, cutAfter = Number.POSITIVE_INFINITY) =>
  ReadableStream.from(
    (async function* () {
      const bytes = Buffer.from(content);
      for (let from = 0, count = 0; from < bytes.length; from += 20_000, count += 1) {
        if (count === cutAfter) throw new Error('the client died');
        yield new Uint8Array(bytes.subarray(from, from + 20_000));
      }
    })(),
  );
const terms = { rail: 'upstream', currency: 'KES', mapping, ...nowhere };

describe('an upload', () => {
  it('begins again after one that died, on another replica too, and writes no line twice', async () => {
    const content = long(3_500);
    const before = await stored();
    expect(await upload(content, terms, pieces(content, 4))).toMatchObject({ status: 408 });
    expect(await stored()).toBeGreaterThan(before);
    await harness.stop();
    await harness.start();
    const { statement, counts } = await match(content, nowhere);
    expect(statement).toMatchObject({ lines: 3_500 });
    expect(counts).toMatchObject({ not_in_books: 3_500 });
    expect((await stored()) - before).toBe(3_500);
  });

  it('may come twice at once', async () => {
    const content = long(2_500, '2');
    const before = await stored();
    const both = await Promise.all([upload(content, terms), upload(content, terms, pieces(content))]);
    // The one that began last is stored; the other was so, too, or was ended by it.
    expect(['202,202', '202,409', '409,202']).toContain(both.map(({ status }) => status).join());
    const { counts } = await match(content, nowhere);
    expect(counts).toMatchObject({ not_in_books: 2_500 });
    await until('the lines of one are left', async () => (await stored()) - before === 2_500);
  });

  it('of another content than its digest says is dropped, and leaves no line if it was cut', async () => {
    const before = await stored();
    const [right, wrong] = [long(2_200, '3'), long(2_200, '4')];
    expect(await upload(right, terms, pieces(wrong))).toMatchObject({
      status: 400,
      body: { code: 'digest_differs' },
    });
    await until('it is gone', async () => (await stored()) === before);
    expect(await upload(right, terms, pieces(wrong, 3))).toMatchObject({ status: 408 });
    const { id, counts } = await match(right, nowhere);
    expect(counts).toMatchObject({ not_in_books: 2_200 });
    const others = { run: id, 'row.amount': { $ne: Long.fromNumber(300) } };
    expect(await database().collection('statement_records').countDocuments(others)).toBe(0);
  });

  it('as a dry run gives the same result and leaves nothing', async () => {
    const [there, missing] = [await paid(), await paid()];
    const endedAt = (await rowOf(missing))?.endedAt ?? new Date(0);
    const window = { from: endedAt.toISOString(), to: new Date(endedAt.getTime() + 1).toISOString() };
    const content = file(`${there},D1,-99,0.5,${now()}`, 'x,D2,nothing,,');
    const names = ['statements', 'statement_records', 'breaks'];
    const count = () => Promise.all(names.map((name) => database().collection(name).countDocuments({})));
    const before = await count();
    const dry = await upload(content, { ...terms, ...window, dryRun: 'true' });
    expect(await count()).toEqual(before);
    expect(dry).toMatchObject({ status: 200, body: { id: null, discrepancies: 3 } });
    expect(dry.body['problems']).toMatchObject([
      { line: 2, result: 'differs', difference: '-1' },
      { line: 3, result: 'unreadable' },
      { result: 'not_on_statement', payment: missing },
    ]);
    const real = await match(content, window);
    expect(real.counts).toEqual(dry.body['counts']);
    expect(real.records.map(({ result }) => result)).toEqual(['differs', 'unreadable', 'not_on_statement']);
  });
});

describe('a hostile file', () => {
  const post = (content: string | Uint8Array, given: Record<string, string> = {}) =>
    upload(content, { ...terms, ...given });
  it.each([
    [
      'bytes of any kind',
      Uint8Array.from({ length: 100_000 }, (_, at) => (at * 7_919) % 256),
      'no column "Ref"',
    ],
    ['one line of 10 MB', `${heading}\n${'x'.repeat(10_000_000)}`, 'more than 65536 characters'],
    ['nothing', '', 'not even a heading'],
  ])('of %s is refused, and says why', async (_, content, why) => {
    const before = await stored();
    const refused = await post(content);
    expect(refused).toMatchObject({ status: 400, body: { code: 'unreadable' } });
    expect(refused.body['message']).toContain(why);
    await until('it is gone', async () => (await stored()) === before);
  });

  it('has its bad lines reported by number, without their content, and its good ones matched', async () => {
    const reference = await paid();
    const bad = [
      'x,'.repeat(10_000),
      '=cmd|x,=1+1,-100,0,2026-11-01T00:00:00Z',
      `a\u0000b,R,-1,0,${now()}`,
      'x,R,-1,0,2026-02-30T00:00:00Z',
      'x,R,=SUM(A1),0,',
      '"a\nb",R,-1,0,',
    ];
    const content = Buffer.concat([
      Buffer.from(`\ufeff${heading}\r\n"${reference}","R77",-100.00,0.5,${now()}\r\n`),
      Buffer.from([0xff, 0xfe, 0x2c, 0x2c, 0x2c, 0x2c, 0x0a]),
      Buffer.from(`${bad.join('\n')}\n`),
    ]);
    const taken = await post(content);
    const path = `/statements/${String(taken.body['id'])}`;
    await until('it is matched', async () => (await request(path)).body['status'] === 'done');
    const records = listed((await request(`${path}/records`)).body);
    expect(records[0]).toMatchObject({ line: 2, result: 'matched', payment: reference });
    expect(records.slice(1).map(({ line, reason }) => [line, reason])).toEqual([
      [3, 'amount: is missing'],
      [4, 'the line has more than 200 columns'],
      [5, null],
      [6, 'reference: has control characters or line ends'],
      [7, 'time: is not of the form ISO, or no date of the calendar'],
      [8, 'amount: is no amount of KES as the mapping writes it'],
      [9, 'reference: has control characters or line ends'],
      [10, 'reference: has control characters or line ends'],
    ]);
    const exported = await harness.download(`${path}/export?format=csv`);
    expect(exported.headers.get('x-total-rows')).toBe(String(records.length));
    const csv = await exported.text();
    expect(csv).toContain("'=1+1");
    expect(csv.split('\r\n')).toHaveLength(records.length + 2);
  });

  it.each([
    [{ rail: 'nowhere' }, 'rail: there is none of this name here'],
    [{ mapping: '{"columns":{"reference":"Ref"}}' }, 'either amount, or both debit and credit'],
    [{ mapping: '{"columns":{"refrence":1}}' }, 'refrence'],
    [{ mapping: 'unheard-of' }, 'PUT it first'],
    [{ currency: 'kes' }, 'ISO 4217'],
    [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 'from must be before to'],
    [{ sha256: 'x' }, 'sha256'],
  ])('is not read where %j', async (given, why) => {
    const refused = await upload(file(), { ...terms, ...given });
    expect(refused.status).toBe(400);
    expect(refused.body['message']).toContain(why);
  });

  it('is read by a mapping that is kept here', async () => {
    const put = (body: object) =>
      request(
        '/statement-mappings/upstream-daily',
        { method: 'PUT', body: JSON.stringify(body), headers: { 'content-type': 'application/json' } },
        'ama',
      );
    expect(await put({ columns: { reference: 'Ref', amount: 'Amount', time: 'Time' } })).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('time.format is required') as unknown },
    });
    expect((await put(mapping)).status).toBe(200);
    const taken = await upload(file(`,K1,5,0,${now()}`), { ...terms, mapping: 'upstream-daily' });
    expect(taken.status).toBe(202);
  });
});
