import { asOperator } from '@pesewa/testkit';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { addAccountRoutes } from './account-routes.ts';
import type { StatedEntry, Statement } from './statement.ts';

const NOW_MS = Date.parse('2026-03-01T12:00:00Z');

const entry: StatedEntry = {
  id: 'po-1/capture',
  kind: 'capture',
  debit: 'wallet:demo:KES:held',
  credit: 'float:upstream:KES',
  amount: 101_050n,
  currency: 'KES',
  reference: 'po-1',
  causationId: 'ev-1',
  at: new Date(0),
};

/** Routes over statements; the database read them at the given time. */
function open(readAtMs = NOW_MS) {
  const asked: unknown[] = [];
  const app = new Hono();
  const statement = (next: Statement<unknown>['next']) => ({
    opening: { balance: 100_000n },
    closing: { balance: -1_050n },
    items: [{ entry, amount: { balance: -101_050n }, after: { balance: -1_050n } }],
    next,
  });
  const unread = () => Promise.reject(new Error('only statements are read'));
  addAccountRoutes(app, {
    store: {
      findWallet: unread,
      findPostings: unread,
      findShared: async () => [{ account: entry.credit, debits: 900_000n, credits: 1n }],
      readAll: unread,
    },
    clock: { nowMs: () => NOW_MS, sleep: () => Promise.resolve() },
    statements: {
      turnovers: async (accounts, period) => {
        asked.push({ accounts, ...period });
        return { turnovers: accounts.map(() => ({ debits: 4_800n, credits: 10_600n })), readAtMs: 0 };
      },
      ofWallet: async (wallet, period, page) => {
        asked.push({ wallet, ...period, ...page });
        if (wallet !== 'demo:KES') return undefined;
        const next = { atMs: Date.parse('2026-02-01T00:00:00Z'), sequence: 9n };
        return {
          opening: { available: 5n, held: 0n },
          closing: { available: 5n, held: 0n },
          items: [],
          next,
          readAtMs,
        };
      },
      ofShared: async (account, period, page) => {
        asked.push({ account, ...period, ...page });
        const next = {
          atMs: Date.parse('2026-02-01T00:00:00Z'),
          pageId: 'payouts/0#0000000000000001',
          position: 7,
        };
        return { ...statement(next), next, readAtMs };
      },
    },
  });
  const get = async (query: string, path = '/statements'): Promise<[number, Record<string, unknown>]> => {
    const answer = await asOperator(app).request(`${path}?${query}`);
    return [answer.status, (await answer.json()) as Record<string, unknown>];
  };
  return { asked, get };
}

const february = 'from=2026-02-01&to=2026-03-01T00:00:00Z';

describe('GET /statements', () => {
  it('answers in decimal text, with both ends of the period', async () => {
    const { get } = open();
    const [status, body] = await get(`account=float:upstream:KES&${february}`);
    expect(status).toBe(200);
    const { next, ...rest } = body;
    expect(next).toMatch(/^[\w-]+$/);
    expect(rest).toEqual({
      account: 'float:upstream:KES',
      currency: 'KES',
      from: '2026-02-01T00:00:00.000Z',
      to: '2026-03-01T00:00:00.000Z',
      final: true,
      opening: { balance: '1000' },
      closing: { balance: '-10.5' },
      items: [
        {
          id: 'po-1/capture',
          at: '1970-01-01T00:00:00.000Z',
          kind: 'capture',
          reference: 'po-1',
          causationId: 'ev-1',
          debit: 'wallet:demo:KES:held',
          credit: 'float:upstream:KES',
          amount: { balance: '-1010.5' },
          balance: { balance: '-10.5' },
        },
      ],
    });
  });

  it.each(['wallet:demo:KES', 'float:upstream:KES'])('goes on after its own cursor: %s', async (account) => {
    const { asked, get } = open();
    const [, first] = await get(`account=${account}&${february}&limit=1`);
    await get(`account=${account}&${february}&limit=1&cursor=${String(first['next'])}`);
    expect(asked).toMatchObject([{ after: undefined, limit: 1 }, { limit: 1 }]);
    const atMs = Date.parse('2026-02-01T00:00:00Z');
    const after =
      account === 'wallet:demo:KES'
        ? { atMs, sequence: 9n }
        : { atMs, pageId: 'payouts/0#0000000000000001', position: 7 };
    expect(asked[1]).toMatchObject({ after });
  });

  it('ends now where no end is named, and is final only once nothing can come after', async () => {
    const { asked, get } = open();
    const [, open_] = await get('account=treasury:KES&from=2026-02-01');
    expect(open_).toMatchObject({ to: '2026-03-01T12:00:00.000Z', final: false });
    expect(asked).toMatchObject([{ to: new Date(NOW_MS) }]);
    const [, late] = await get('account=treasury:KES&from=2026-02-01&to=2026-03-01T11:59:45.001Z');
    expect(late['final']).toBe(false);
    const [, ended] = await get('account=treasury:KES&from=2026-02-01&to=2026-03-01T11:59:45Z');
    expect(ended['final']).toBe(true);
  });

  it('is not final where it was read before, whatever our clock says by now', async () => {
    const { get } = open(NOW_MS - 1);
    const [, early] = await get('account=treasury:KES&from=2026-02-01&to=2026-03-01T11:59:45Z');
    expect(early['final']).toBe(false);
  });

  it('says where there is no such account', async () => {
    const { get } = open();
    expect(await get(`account=wallet:nobody:KES&${february}`)).toMatchObject([404, { code: 'not_found' }]);
  });

  it.each([
    ['account', february],
    ['account', `account=wallet:demo:KES:available&${february}`],
    ['account', `account=wallet:a:b:KES&${february}`],
    ['account', `account=savings:KES&${february}`],
    ['from', 'account=treasury:KES'],
    ['from', 'account=treasury:KES&from=yesterday'],
    ['from', 'account=treasury:KES&from=2026-02-01T00:00:00%2B02:00'],
    ['from', 'account=treasury:KES&from=2026-02-30'],
    ['to', 'account=treasury:KES&from=2026-02-02&to=2026-02-01'],
    ['limit', `account=treasury:KES&${february}&limit=501`],
    ['limit', `account=treasury:KES&${february}&limit=0`],
    ['limit', `account=treasury:KES&${february}&limit=ten`],
    ['cursor', `account=treasury:KES&${february}&cursor=abc`],
    ['cursor', `account=wallet:demo:KES&${february}&cursor=${Buffer.from('1 2').toString('base64url')}`],
  ])('refuses by name: %s of %s', async (name, query) => {
    const { asked, get } = open();
    const answer = await get(query);
    expect(answer).toMatchObject([400, { code: 'invalid' }]);
    expect(String(answer[1]['message']).startsWith(`${name} `)).toBe(true);
    expect(asked).toEqual([]);
  });
});

describe('GET /accounts', () => {
  it('has what was debited and credited in a period, if one is given', async () => {
    const { asked, get } = open();
    const account = { account: entry.credit, currency: 'KES', balance: '8999.99' };
    const turnover = { debits: '48', credits: '106' };
    expect(await get('', '/accounts')).toEqual([200, { items: [account], next: null }]);
    expect(await get(february, '/accounts')).toEqual([
      200,
      { items: [{ ...account, turnover }], next: null },
    ]);
    const [from, to] = [new Date('2026-02-01'), new Date('2026-03-01')];
    expect(asked).toEqual([{ accounts: [entry.credit], from, to }]);
    expect((await get('from=2026-02-01', '/accounts'))[0]).toBe(400);
  });
});
