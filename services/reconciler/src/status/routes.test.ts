import { systemClock } from '@pesewa/kernel';
import { createLogger, createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import type { CloseDocument } from '../closes/store.ts';
import type { WalletDocument } from '../wallets/store.ts';
import { addStatusRoutes } from './routes.ts';
import { createStanding, type StandingDeps } from './standing.ts';

const TOKEN = 'operator-token-of-tests';
const at = (hour: number) => new Date(Date.UTC(2026, 0, 2, hour));
const asked: unknown[] = [];

const open = { state: 'begun', reference: 'po-1', openedAt: at(1) } as const;
const sums = { currency: 'KES', count: 1, unknown: 0, amount: 0n, since: at(1) } as const;
const parts: StandingDeps = {
  statusStore: {
    countOpen: async () => ({ payout: 3, collection: 0 }),
    oldestOpen: async (before) => {
      asked.push(['open', before.toISOString()]);
      const accepted = { state: 'acknowledged', reference: 'po-4', openedAt: at(3) } as const;
      return [
        { kind: 'payout', states: [open, accepted], overdue: { count: 1, oldest: [open] } },
        { kind: 'collection', states: [], overdue: { count: 0, oldest: [] } },
      ];
    },
    duePolls: async (now, overdueBefore) => {
      asked.push(['polls', now.getTime() - overdueBefore.getTime()]);
      return [
        { rail: 'gone', dueAt: at(3), due: 5, overdue: 1 },
        { rail: 'upstream', dueAt: at(5), due: 0, overdue: 0 },
      ];
    },
    openBreaks: async () => [
      { ...sums, kind: 'payment.stuck', currency: null, unknown: 1 },
      { ...sums, kind: 'payment.stuck', amount: 9_007_199_254_740_993n, since: at(0) },
      { ...sums, kind: 'wallet.drift', amount: 500n, count: 2, unknown: 1 },
    ],
    lastClose: async () => undefined,
    countAwaitingLedger: async () => 0,
  },
  wallets: {
    wallets: async () => [],
    silent: async () => [
      { _id: 'gone', since: at(1), why: 'timeout' },
      { _id: 'upstream', since: at(2), why: 'timeout' },
    ],
  },
  audit: {
    show: async () =>
      (['payout', 'collection'] as const).map((kind) => {
        const followed = { missing: 1, ended: 0, behind: 0 };
        return { kind, askedAt: null, doneAt: null, status: 'running', ...followed } as const;
      }),
  },
  stepStore: { followed: async () => [] },
  payments: {
    oldestUncompared: async () => [{ rail: 'upstream', reference: 'po-3', endedAt: at(3) }],
  },
  clock: { ...systemClock, nowMs: () => at(4).getTime() },
  logger: createLogger({ name: 'test', level: 'silent' }),
};

async function get(changes: Partial<StandingDeps> = {}, token = TOKEN) {
  const operator = new Hono();
  addStatusRoutes(operator, {
    standing: createStanding({ ...parts, ...changes }),
    railNames: ['upstream', 'idle'],
  });
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
          states: [
            { state: 'begun', reference: 'po-1', openedAt: '2026-01-02T01:00:00.000Z' },
            { state: 'acknowledged', reference: 'po-4', openedAt: '2026-01-02T03:00:00.000Z' },
          ],
          overdue: {
            count: 1,
            oldest: [{ state: 'begun', reference: 'po-1', openedAt: '2026-01-02T01:00:00.000Z' }],
          },
        },
        { kind: 'collection', count: 0, states: [], overdue: { count: 0, oldest: [] } },
      ],
      silent: [{ rail: 'upstream', since: '2026-01-02T02:00:00.000Z', why: 'timeout' }],
      polls: [
        { rail: 'upstream', configured: true, due: 0, overdue: 0, oldestDueAt: null },
        { rail: 'idle', configured: true, due: 0, overdue: 0, oldestDueAt: null },
        { rail: 'gone', configured: false, due: 5, overdue: 1, oldestDueAt: '2026-01-02T03:00:00.000Z' },
      ],
      breaks: [
        { kind: 'payment.stuck', count: 2, oldestAt: '2026-01-02T00:00:00.000Z' },
        { kind: 'wallet.drift', count: 2, oldestAt: '2026-01-02T01:00:00.000Z' },
      ],
      breakSums: [
        {
          currency: 'KES',
          amount: '90071992547414.93',
          count: 3,
          unknown: 1,
          oldestAt: '2026-01-02T00:00:00.000Z',
        },
      ],
      comparison: {
        at: null,
        wallets: 0,
        outOfRange: [],
        unexplained: [],
        removed: [],
      },
      coverage: { at: null, status: 'running', found: 2 },
      close: { to: null, finishedAt: null, counts: null, late: 0 },
      uncompared: [{ rail: 'upstream', reference: 'po-3', endedAt: '2026-01-02T03:00:00.000Z' }],
      unreported: [],
    },
  });
  expect(asked).toEqual([
    ['open', '2026-01-02T03:00:00.000Z'],
    ['polls', 60_000],
  ]);
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
  const wallets = {
    ...parts.wallets,
    wallets: async () => [wallet('gone', 0, false), wallet('upstream', 3, true)],
  };
  const comparison = {
    at: '2026-01-02T03:00:00.000Z',
    wallets: 1,
    outOfRange: [],
    unexplained: [],
    removed: [{ wallet: 'gone:KES', withinRange: false }],
  };
  expect(await get({ wallets })).toMatchObject({ body: { comparison } });
});

it('names wallets within range whose difference nothing is known to give', async () => {
  const finding = 'unexplained_within_range';
  const latest = { at: at(3), withinRange: true, finding, unexplainedSince: at(1) };
  const wallet = {
    _id: 'upstream:KES',
    rail: 'upstream',
    currency: 'KES',
    latest,
  } as unknown as WalletDocument;
  expect(await get({ wallets: { ...parts.wallets, wallets: async () => [wallet] } })).toMatchObject({
    body: {
      comparison: {
        outOfRange: [],
        unexplained: [{ wallet: 'upstream:KES', finding, since: '2026-01-02T01:00:00.000Z' }],
      },
    },
  });
});

it('gives no sum of a currency of which one is not known, and all counts', async () => {
  const openBreaks = async () => [
    { ...sums, kind: 'payment.stuck', amount: null },
    { ...sums, kind: 'wallet.drift', amount: 500n },
    { ...sums, kind: 'wallet.drift', currency: 'GHS', amount: 500n },
  ];
  const { wallets } = parts;
  expect(await get({ statusStore: { ...parts.statusStore, openBreaks }, wallets })).toMatchObject({
    body: {
      breaks: [{ count: 1 }, { count: 2 }],
      breakSums: [
        { currency: 'GHS', amount: '5', count: 1 },
        { currency: 'KES', amount: null, count: 2 },
      ],
    },
  });
});

it('gives the rest if a part fails, or is not answered in time', async () => {
  const openBreaks = () => Promise.reject(new Error('MaxTimeMSExpired'));
  const wallets = { ...parts.wallets, wallets: () => new Promise<never>(() => undefined) };
  expect(await get({ statusStore: { ...parts.statusStore, openBreaks }, wallets })).toMatchObject({
    status: 200,
    body: {
      breaks: null,
      breakSums: null,
      comparison: null,
      polls: [{}, {}, { due: 5 }],
      unreported: ['breaks', 'comparison'],
    },
  });
});

it('is read once for all who look within five seconds', async () => {
  let nowMs = 0;
  let reads = 0;
  const oldestOpen = async () => {
    reads += 1;
    return [];
  };
  const clock = { ...systemClock, nowMs: () => nowMs };
  const standing = createStanding({ ...parts, statusStore: { ...parts.statusStore, oldestOpen }, clock });
  const [first, second] = await Promise.all([standing(), standing()]);
  nowMs = 4_999;
  expect([second, await standing()]).toEqual([first, first]);
  expect(reads).toBe(1);
  nowMs = 5_000;
  expect((await standing()).at).toEqual(new Date(5_000));
  expect(reads).toBe(2);
});

it.each([
  ['', 401],
  ['a-foreign-token', 403],
])('answers the token %j with %i', async (token, status) => {
  asked.length = 0;
  expect((await get({}, token)).status).toBe(status);
  expect(asked).toEqual([]);
});
