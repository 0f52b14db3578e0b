import { describe, expect, it } from 'vitest';
import { ask, openTestApp } from './app.fixture.ts';
import { writeCursor } from './domain/statement.ts';
import type { ReferencedLine, WalletStatements } from './wallet-statements.ts';

const path = '/api/v1/wallets/statement';
const atMs = Date.UTC(2026, 10, 2);
const november = 'from=2026-11-01T00:00:00Z&to=2026-12-01T00:00:00Z';

const line = (sequence: bigint, fields: Partial<ReferencedLine> = {}): ReferencedLine => ({
  atMs,
  sequence,
  type: 'PAYOUT',
  reference: `po-${sequence}`,
  merchantReference: `order-${sequence}`,
  amount: -150_050n,
  fee: null,
  bookedAfter: 849_950n,
  ...fields,
});

const lines = [
  line(4n),
  line(5n, { type: 'COLLECTION', amount: 9_900n, fee: 100n, merchantReference: null }),
  line(6n),
];

function open(read?: WalletStatements['read']) {
  const asked: unknown[] = [];
  const app = openTestApp({
    statements: {
      read: async (query) => {
        asked.push(query);
        if (read) return read(query);
        return {
          opening: { available: 1_000_000n, held: 0n },
          closing: { available: 700_000n, held: 50n },
          lines: lines
            .filter(({ sequence }) => sequence > (query.after?.sequence ?? 0n))
            .slice(0, query.limit),
        };
      },
    },
  });
  const askCsv = async (query: string, headers: Record<string, string> = {}) => {
    const answer = await app.request(`${path}?${query}`, {
      headers: { 'x-api-key': 'ZGVtbw==', ...headers },
    });
    return { answer, text: await answer.text() };
  };
  return { app, asked, askCsv };
}

describe('the statement of a wallet', () => {
  it('shows both ends and each line, exact to the minor unit (contract 10.22)', async () => {
    const { app, asked } = open();
    const { status, body } = await ask(app, 'GET', `${path}?currency=NGN&${november}`);
    expect([status, body.responseCode]).toEqual([200, '00']);
    expect(body.responseData).toMatchObject({
      currency: 'NGN',
      from: '2026-11-01T00:00:00.000Z',
      to: '2026-12-01T00:00:00.000Z',
      opening: { bookedBalance: '10000', balance: '10000', heldBalance: '0' },
      closing: { bookedBalance: '7000.5', balance: '7000', heldBalance: '0.5' },
      lines: [
        {
          bookedAt: '2026-11-02T00:00:00.000Z',
          type: 'PAYOUT',
          description: 'Payout',
          merchantReference: 'order-4',
          transactionReference: 'po-4',
          amount: '-1500.5',
          feeAmount: null,
          bookedBalance: '8499.5',
        },
        { type: 'COLLECTION', merchantReference: null, amount: '99', feeAmount: '1' },
        { type: 'PAYOUT' },
      ],
      nextCursor: null,
    });
    expect(asked).toEqual([
      {
        merchantId: 'demo',
        currency: 'NGN',
        fromMs: Date.UTC(2026, 10, 1),
        toMs: Date.UTC(2026, 11, 1),
        after: undefined,
        limit: 101,
      },
    ]);
  });

  it('goes on after the last line of the page before', async () => {
    const { app, asked } = open();
    const first = await ask(app, 'GET', `${path}?currency=NGN&limit=2`);
    const nextCursor = writeCursor({ atMs, sequence: 5n });
    expect(first.body.responseData).toMatchObject({ nextCursor });
    const second = await ask(app, 'GET', `${path}?currency=NGN&limit=2&cursor=${nextCursor}`);
    expect(second.body.responseData).toMatchObject({
      lines: [{ transactionReference: 'po-6' }],
      nextCursor: null,
    });
    expect(asked[1]).toMatchObject({ after: { atMs, sequence: 5n } });
  });

  it.each([
    ['', /^currency is required/],
    ['currency=money', /^currency must be an ISO 4217 code/],
    ['currency=NGN&from=yesterday', /^from must be a time such as/],
    ['currency=NGN&to=2026-11-01', /^to must be a time such as/],
    ['currency=NGN&from=2026-11-02T00:00:00Z&to=2026-11-01T00:00:00Z', /^to must not be before from$/],
    ['currency=NGN&cursor=po-1', /^cursor must be a nextCursor/],
    [`currency=NGN&cursor=${writeCursor({ atMs: 0, sequence: 5n })}&${november}`, /^cursor must be a nextC/],
    ['currency=NGN&limit=0', /^limit must be a whole number from 1 to 500$/],
    ['currency=NGN&limit=501', /^limit must be a whole number from 1 to 500$/],
    ['currency=NGN&format=xml', /^format must be one of json, csv$/],
    ['currency=NGN&merchantId=rival', /^the parameters of this list are currency, from/],
    ['currency=NGN&currency=XOF', /^currency must be given once$/],
  ])('30: ?%s says what is wrong (contract 10.22)', async (query, message) => {
    const { app, asked } = open();
    const { status, body } = await ask(app, 'GET', `${path}?${query}`);
    expect([status, body.responseCode]).toEqual([400, '30']);
    expect(body.responseMessage).toMatch(message);
    expect(asked).toEqual([]);
  });

  it('25: is of no wallet that the merchant does not have', async () => {
    const { app, asked } = open();
    const { status, body } = await ask(app, 'GET', `${path}?currency=KES`);
    expect([status, body.responseCode]).toEqual([400, '25']);
    expect(body.responseMessage).toMatch(/^currency: you have no wallet in KES$/);
    expect(asked).toEqual([]);
  });

  it('91: says so while the ledger’s records can not be read; a request for less is 30', async () => {
    const away = open(async () => Promise.reject(new Error('no primary')));
    const refused = await ask(away.app, 'GET', `${path}?currency=NGN`);
    expect([refused.status, refused.body.responseCode]).toEqual([503, '91']);
    const slow = open(async () => undefined);
    const narrowed = await ask(slow.app, 'GET', `${path}?currency=NGN`);
    expect([narrowed.status, narrowed.body.responseCode]).toEqual([400, '30']);
  });

  it('reads two pages of a merchant at once and lets eight wait, so that payouts have the database', async () => {
    const { promise: answered, resolve: answer } = Promise.withResolvers<void>();
    let reading = 0;
    const { app } = open(async () => {
      reading += 1;
      await answered;
      const nothing = { available: 0n, held: 0n };
      return { opening: nothing, closing: nothing, lines: [] };
    });
    const all = Array.from({ length: 12 }, () => ask(app, 'GET', `${path}?currency=NGN`));
    const refused = await Promise.race(all);
    expect([refused.status, refused.body.responseCode, reading]).toEqual([503, '91', 2]);
    answer();
    const statuses = (await Promise.all(all)).map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(10);
  });
});

describe('the statement of a wallet as CSV', () => {
  it('is one file if its pages are put one after the other (contract 10.22)', async () => {
    const { askCsv } = open();
    const first = await askCsv(`currency=NGN&${november}&limit=2&format=csv`);
    const cursor = first.answer.headers.get('x-next-cursor') ?? '';
    const last = await askCsv(`currency=NGN&${november}&limit=2&cursor=${cursor}`, { accept: 'text/csv' });
    expect(last.answer.headers.get('x-next-cursor')).toBeNull();
    expect(first.answer.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(`${first.text}${last.text}`.split('\r\n')).toEqual([
      'bookedAt,type,description,merchantReference,transactionReference,currency,amount,feeAmount,bookedBalance',
      '2026-11-01T00:00:00.000Z,OPENING,Opening balance,,,NGN,,,10000',
      '2026-11-02T00:00:00.000Z,PAYOUT,Payout,order-4,po-4,NGN,-1500.5,,8499.5',
      '2026-11-02T00:00:00.000Z,COLLECTION,"Collection, less its fee",,po-5,NGN,99,1,8499.5',
      '2026-11-02T00:00:00.000Z,PAYOUT,Payout,order-6,po-6,NGN,-1500.5,,8499.5',
      '2026-12-01T00:00:00.000Z,CLOSING,Closing balance,,,NGN,,,7000.5',
      '',
    ]);
  });

  it('has no cell that a spreadsheet takes for a formula', async () => {
    const evil = line(1n, { merchantReference: '=HYPERLINK("x")' });
    const nothing = { available: 0n, held: 0n };
    const { askCsv } = open(async () => ({ opening: nothing, closing: nothing, lines: [evil] }));
    expect((await askCsv('currency=NGN&format=csv')).text).toContain(`"'=HYPERLINK(""x"")"`);
  });

  it('is JSON where format says so, and so is a refusal', async () => {
    const { askCsv } = open();
    const json = await askCsv('currency=NGN&format=json', { accept: 'text/csv' });
    const refused = await askCsv('currency=KES', { accept: 'text/csv' });
    for (const { answer } of [json, refused])
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
  });
});
