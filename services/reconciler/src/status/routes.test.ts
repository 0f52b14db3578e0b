import { systemClock } from '@pesewa/kernel';
import { createLogger, createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import type { CloseDocument } from '../closes/store.ts';
import type { WalletDocument } from '../wallets/store.ts';
import { addStatusRoutes, type StatusRouteDeps } from './routes.ts';

const TOKEN = 'operator-token-of-tests';
const at = (hour: number) => new Date(Date.UTC(2026, 0, 2, hour));
const asked: unknown[] = [];

const parts: StatusRouteDeps = {
  store: {
    countOpen: async () => ({ payout: 3, collection: 0 }),
  },
  breaks: {
    countOpen: async () => new Map([['payment.stuck', { count: 2, since: at(0) }]]),
    sumOpen: async () => [
      { currency: 'KES', amount: 9_007_199_254_741_493n, count: 2, unknown: 1, since: at(0) },
    ],
  },
  wallets: { wallets: async () => [] },
  statusStore: {
    duePolls: async (watch, now, overdueBefore) => {
      asked.push([watch, now.getTime() - overdueBefore.getTime()]);
      return { due: 5, overdue: 1, oldestDueAt: at(3) };
    },
    watched: async () => ['gone', 'upstream'],
    oldestOpen: async () => [
      { kind: 'payout', state: 'begun', reference: 'po-1', openedAt: at(1) },
      { kind: 'payout', state: 'accepted', reference: 'po-2', openedAt: at(2) },
    ],
    overdueOpen: async (kind, before) => {
      asked.push([kind, before.toISOString()]);
      if (kind === 'collection') return { count: 0, oldest: [] };
      return { count: 1, oldest: [{ kind, state: 'begun', reference: 'po-1', openedAt: at(1) }] };
    },
    lastClose: async () => undefined,
  },
  audit: {
    show: async () =>
      (['payout', 'collection'] as const).map((kind) => {
        const followed = { missing: 1, ended: 0, behind: 0 };
        return { kind, askedAt: null, doneAt: null, status: 'running', ...followed } as const;
      }),
  },
  payments: {
    oldestUncompared: async () => [{ rail: 'upstream', reference: 'po-3', endedAt: at(3) }],
  },
  silentRails: {
    list: async () => [
      { _id: 'gone', since: at(1), why: 'timeout' },
      { _id: 'upstream', since: at(2), why: 'timeout' },
    ],
  },
  railNames: ['upstream'],
  clock: { ...systemClock, nowMs: () => at(4).getTime() },
  logger: createLogger({ name: 'test', level: 'silent' }),
};

async function get(changes: Partial<StatusRouteDeps> = {}, token = TOKEN) {
  const operator = new Hono();
  addStatusRoutes(operator, { ...parts, ...changes });
  const headers: Record<string, string> = token === '' ? {} : { authorization: `Bearer ${token}` };
  const response = await guardOperator(operator, createOperators(TOKEN)).request('/status', { headers });
  return { status: response.status, body: await response.json() };
}

it('shows what is open, due and broken, and what was never done', async () => {
  asked.length = 0;
  expect(await get()).toEqual({
    status: 200,
    body: {
      at: '2026-01-02T04:00:00.000Z',
      open: [
        {
          kind: 'payout',
          count: 3,
          oldest: { state: 'begun', reference: 'po-1', openedAt: '2026-01-02T01:00:00.000Z' },
          states: [
            { state: 'begun', reference: 'po-1', openedAt: '2026-01-02T01:00:00.000Z' },
            { state: 'accepted', reference: 'po-2', openedAt: '2026-01-02T02:00:00.000Z' },
          ],
          overdue: {
            count: 1,
            oldest: [{ state: 'begun', reference: 'po-1', openedAt: '2026-01-02T01:00:00.000Z' }],
          },
        },
        { kind: 'collection', count: 0, oldest: null, states: [], overdue: { count: 0, oldest: [] } },
      ],
      silent: [{ rail: 'upstream', since: '2026-01-02T02:00:00.000Z', why: 'timeout' }],
      polls: [
        ['upstream', true],
        ['gone', false],
      ].map(([rail, configured]) => ({
        rail,
        configured,
        due: 5,
        overdue: 1,
        oldestDueAt: '2026-01-02T03:00:00.000Z',
      })),
      breaks: [{ kind: 'payment.stuck', count: 2, oldestAt: '2026-01-02T00:00:00.000Z' }],
      breakSums: [
        {
          currency: 'KES',
          amount: '90071992547414.93',
          count: 2,
          unknown: 1,
          oldestAt: '2026-01-02T00:00:00.000Z',
        },
      ],
      comparison: {
        at: null,
        wallets: 0,
        outOfRange: [],
        unexplained: [],
        overdue: [],
        removed: [],
      },
      coverage: { at: null, status: 'running', found: 2 },
      close: { to: null, finishedAt: null, counts: null, late: 0 },
      uncompared: [{ rail: 'upstream', reference: 'po-3', endedAt: '2026-01-02T03:00:00.000Z' }],
      unreported: [],
    },
  });
  expect(asked).toHaveLength(3);
  expect(asked).toEqual(
    expect.arrayContaining([
      ['gone', 60_000],
      ['payout', '2026-01-02T03:00:00.000Z'],
      ['upstream', 60_000],
    ]),
  );
});

it('shows how many ends came late to the newest closed day', async () => {
  const lastClose = async () => ({ to: at(0), finishedAt: at(3), late: 2 }) as CloseDocument;
  expect(await get({ statusStore: { ...parts.statusStore, lastClose } })).toMatchObject({
    body: { close: { to: '2026-01-02T00:00:00.000Z', late: 2 } },
  });
});

it('takes no wallet of a rail that is not configured any more for a live one', async () => {
  const wallet = (rail: string, hour: number, withinRange: boolean) => {
    const finding = withinRange ? 'explained' : 'out_of_range';
    const latest = { at: at(hour), withinRange, finding, drift: 0n } as WalletDocument['latest'];
    return { _id: `${rail}:KES`, rail, currency: 'KES', latest };
  };
  const wallets = { wallets: async () => [wallet('gone', 0, false), wallet('upstream', 3, true)] };
  const comparison = {
    at: '2026-01-02T03:00:00.000Z',
    wallets: 1,
    outOfRange: [],
    unexplained: [],
    overdue: [],
    removed: [{ wallet: 'gone:KES', configured: false, withinRange: false }],
  };
  expect(await get({ wallets })).toMatchObject({ body: { comparison } });
});

it('names wallets within range whose difference nothing is known to give, and what is open for too long', async () => {
  const overdue = { count: 2, mayDebit: 1n, mayCredit: 0n, oldestAt: at(0), references: ['po-1'] };
  const finding = 'unexplained_within_range';
  const latest = { at: at(3), withinRange: true, finding, unexplainedSince: at(1), overdue };
  const wallet = {
    _id: 'upstream:KES',
    rail: 'upstream',
    currency: 'KES',
    latest,
  } as unknown as WalletDocument;
  expect(await get({ wallets: { wallets: async () => [wallet] } })).toMatchObject({
    body: {
      comparison: {
        outOfRange: [],
        unexplained: [{ wallet: 'upstream:KES', finding, since: '2026-01-02T01:00:00.000Z' }],
        overdue: [{ wallet: 'upstream:KES', count: 2, isCut: false, oldestAt: '2026-01-02T00:00:00.000Z' }],
      },
    },
  });
});

it('gives the rest if a part fails, or is not answered in time', async () => {
  const breaks = { ...parts.breaks, countOpen: () => Promise.reject(new Error('MaxTimeMSExpired')) };
  const wallets = { wallets: () => new Promise<never>(() => undefined) };
  expect(await get({ breaks, wallets })).toMatchObject({
    status: 200,
    body: { breaks: null, comparison: null, polls: [{ due: 5 }, {}], unreported: ['breaks', 'comparison'] },
  });
});

it.each([
  ['', 401],
  ['a-foreign-token', 403],
])('answers the token %j with %i', async (token, status) => {
  asked.length = 0;
  expect((await get({}, token)).status).toBe(status);
  expect(asked).toEqual([]);
});
