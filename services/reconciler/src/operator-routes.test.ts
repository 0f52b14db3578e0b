import { refuse, systemClock } from '@pesewa/kernel';
import { asOperator } from '@pesewa/testkit';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import { addBreakRoutes } from './breaks/routes.ts';
import { addDecisionRoutes } from './decisions/routes.ts';
import { awaited, type Tracked } from './domain/tracked.ts';
import { called, collection } from './fixtures/verdicts.ts';
import { addPollRoutes } from './polling/routes.ts';
import { addTimelineRoutes } from './status/timeline.ts';
import { addWalletRoutes } from './wallets/routes.ts';

const at = new Date(Date.UTC(2026, 0, 2));
const run = {
  _id: 'rn-1',
  at,
  rail: 'upstream',
  currency: 'KES',
  railBalance: 99_950n,
  float: 100_000n,
  lower: 100_000n,
  upper: 100_000n,
  drift: -50n,
  withinRange: false,
  finding: 'out_of_range' as const,
  explainedBy: [],
  unexplained: -50n,
  candidates: [{ reference: 'po-1', why: 'in flight' }],
};
const wallet = { _id: 'upstream:KES', rail: 'upstream', currency: 'KES', latest: run };
function operator(
  answers: Tracked['answers'] = [],
  wallets: readonly (typeof wallet)[] = [wallet],
  payment: Partial<Tracked> = {},
): Pick<Hono, 'request'> {
  const app = new Hono();
  const store = {
    load: async ([reference]: readonly string[]) =>
      new Map(reference === 'po-1' ? [['po-1', { ...awaited('po-1', 0), answers, ...payment }]] : []),
    bringForward: async () => payment.claim === undefined,
  };
  const decisions = {
    find: async () => undefined,
    list: async () => ({ items: [], next: null }),
    propose: async () => refuse('break.unknown' as const),
    decide: async () => refuse('decision.unknown' as const),
  };
  addBreakRoutes(app, {
    breaks: { list: async () => ({ items: [], next: null }), findAll: async () => [] },
    changeBreak: async () => refuse('break.unknown'),
    decisions,
    clock: systemClock,
    sidesOf: async () => ({ ours: null, theirs: null, lines: [], floatChange: null, waitsFor: null }),
  });
  addWalletRoutes(app, {
    wallets: {
      wallets: async () => wallets,
      course: async () => [run, { at: new Date(Date.UTC(2026, 0, 1)), drift: 0n }],
      listRuns: async () => ({ items: [run], next: 'rn-1' }),
    },
    comparison: { run: async () => [run] },
    railNames: ['upstream'],
  });
  addTimelineRoutes(app, { store });
  addPollRoutes(app, { store, clock: systemClock });
  addDecisionRoutes(app, { decisions });
  return asOperator(app);
}

const get = async (path: string, init?: RequestInit) => {
  const response = await operator().request(path, init);
  return { status: response.status, body: await response.json() };
};

it('puts callbacks into the timeline, each by how it relates to the payment', async () => {
  const { callbacks, terms } = collection(
    called({ atMs: 3_000 }),
    called({ atMs: 1_000, status: 'FAILED', rail: 'other' }),
    called({ atMs: 2_000, proven: true }),
  );
  const polled = { answer: 'pending', atMs: 2_500, lastAtMs: 2_500, times: 1 };
  const response = await operator([polled], [wallet], { callbacks, terms }).request(
    '/timeline?reference=po-1',
  );
  const { items } = (await response.json()) as { readonly items: readonly { readonly what: string }[] };
  expect(items.map(({ what }) => what)).toEqual(['other rail', 'proven', 'poll', 'hint']);
});

it('shows with a line of the timeline how many before it were dropped', async () => {
  const line = { answer: 'pending', atMs: 1_000, lastAtMs: 2_000, times: 2 };
  const response = await operator([line, { ...line, notKept: 12 }]).request('/timeline?reference=po-1');
  expect(await response.json()).toMatchObject({ items: [{ times: 2, notKept: 0 }, { notKept: 12 }] });
});

it('marks the wallets of rails that are no longer configured', async () => {
  const gone = { ...wallet, _id: 'gone:KES', rail: 'gone', latest: { ...run, rail: 'gone' } };
  const response = await operator([], [gone, wallet]).request('/drift');
  expect(await response.json()).toMatchObject({
    items: [
      { rail: 'gone', configured: false },
      { rail: 'upstream', configured: true },
    ],
  });
});

it('tells how the drift of a wallet went, where there is one and it is asked for', async () => {
  const even = { ...wallet, _id: 'even:KES', latest: { ...run, rail: 'even', drift: 0n } };
  const response = await operator([], [wallet, even]).request('/drift?courses=true');
  const course = [
    { at: '2026-01-02T00:00:00.000Z', drift: '-0.5' },
    { at: '2026-01-01T00:00:00.000Z', drift: '0' },
  ];
  const { items } = (await response.json()) as { readonly items: readonly object[] };
  expect(items).toMatchObject([{ rail: 'upstream', course }, { rail: 'even' }]);
  expect(items[1]).not.toHaveProperty('course');
  expect((await get('/drift')).body).not.toMatchObject({ items: [{ course }] });
});

describe('a poll on demand', () => {
  const terms = {
    kind: 'payout',
    rail: 'upstream',
    merchantId: 'demo',
    currency: 'KES',
    country: 'KEN',
    amount: 100n,
    railFee: 1n,
  } as const;
  const open = { terms, status: 'open', dueAtMs: Date.UTC(2030, 0, 1) } as const;
  const poll = async (payment: Partial<Tracked>, reference = 'po-1') => {
    const body = JSON.stringify({ reference });
    const headers = { 'content-type': 'application/json' };
    const response = await operator([], [wallet], payment).request('/polls', {
      method: 'POST',
      headers,
      body,
    });
    return { status: response.status, body: (await response.json()) as object };
  };

  it('makes an open payment due now', async () => {
    const { status, body } = await poll(open);
    expect([status, body]).toEqual([
      202,
      { reference: 'po-1', nextPollAt: expect.not.stringMatching(/^2030/) as unknown },
    ]);
  });

  it('leaves one alone that is being polled, and says until when', async () => {
    expect(await poll({ ...open, claim: 'another' })).toEqual({
      status: 202,
      body: { reference: 'po-1', nextPollAt: '2030-01-01T00:00:00.000Z' },
    });
  });

  it('refuses one that is not known, was only mentioned by a callback, or has ended', async () => {
    expect(await poll(open, 'po-2')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await poll({})).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await poll({ ...open, status: 'completed' })).toMatchObject({
      status: 409,
      body: { code: 'ended', message: 'the payment is completed: there is nothing to ask the rail' },
    });
  });
});

describe('the operator routes', () => {
  it.each([
    ['/drift', undefined, null],
    ['/runs', undefined, 'rn-1'],
    ['/compare', { method: 'POST' }, null],
  ])('answers %s with runs', async (path, init, next) => {
    const { body } = await get(path, init);
    expect(body).toMatchObject({
      items: [
        {
          rail: 'upstream',
          configured: true,
          currency: 'KES',
          railBalance: '999.5',
          float: '1000',
          drift: '-0.5',
          withinRange: false,
          finding: 'out_of_range',
          explainedBy: [],
          unexplainedSince: null,
          unexplained: '-0.5',
          candidates: [{ reference: 'po-1', why: 'in flight' }],
        },
      ],
      next,
    });
  });

  it('refuses what it does not understand, and does not know every reference', async () => {
    expect(await get('/breaks?limit=0')).toMatchObject({ status: 400, body: { code: 'invalid' } });
    expect(await get('/timeline?reference=po-2')).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await get('/timeline?reference=po-1')).toMatchObject({
      status: 200,
      body: { status: 'awaited', items: [] },
    });
  });
});
