import { createHash } from 'node:crypto';
import { accept, refuse } from '@pesewa/kernel';
import { createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { describe, expect, it } from 'vitest';
import type { Closes } from './closes.ts';
import { addCloseRoutes, type CloseRouteDeps } from './routes.ts';
import type { CloseDocument, CloseRecord } from './store.ts';

const at = new Date('2026-11-20T12:00:00Z');
const document = (rail: string | null): CloseDocument => ({
  _id: rail === null ? '2026-11-20' : `2026-11-20.${rail}`,
  from: new Date('2026-11-20'),
  to: new Date('2026-11-21'),
  rail,
  requestedBy: 'ama',
  requestedAt: at,
  stage: 'asking',
  keepUntil: at,
});
const counts = { pending: 1, matched: 1, differs: 1, not_at_rail: 0, unclear: 0 };
const asking = document(null);
const done: CloseDocument = { ...asking, stage: 'done', counts };
const base = {
  run: '2026-11-20',
  rail: 'upstream',
  merchantId: 'demo',
  currency: 'KES',
  endedAt: at,
  tries: 2,
  keepUntil: at,
} as const;
const records: readonly CloseRecord[] = [
  {
    ...base,
    _id: '2026-11-20/co-1',
    reference: 'co-1',
    kind: 'collection',
    result: 'matched',
    askedAt: at,
    ours: { status: 'completed', amount: 9_007_199_254_740_991n, fee: null },
    theirs: { status: 'completed', amount: null, fee: null },
  },
  {
    ...base,
    _id: '2026-11-20/po-1',
    reference: 'po-1',
    kind: 'payout',
    result: 'differs',
    askedAt: at,
    correctionSent: true,
    merchantId: '=cmd|1',
    ours: { status: 'completed', amount: 10_000n, fee: 50n },
    theirs: { status: 'completed', amount: 10_000n, fee: 49n },
    differences: [{ field: 'fee', minor: -1n }],
  },
  { ...base, _id: '2026-11-20/po-2', reference: 'po-2', kind: 'payout', result: 'pending', tries: 0 },
];

function open({
  found = asking,
  sharedMayAct = true,
}: {
  readonly found?: CloseDocument;
  readonly sharedMayAct?: boolean;
} = {}) {
  const asked: unknown[] = [];
  let reading = 0;
  const closes: Pick<Closes, 'open'> = {
    open: async (day, rail, by) => {
      if (day > asking.from) return refuse('date: it can be closed later');
      asked.push([document(rail)._id, by]);
      return accept({ run: document(rail), isNew: rail === null });
    },
  };
  const store: CloseRouteDeps['store'] = {
    count: async () => counts,
    find: async (id) => (id === '2026-11-20' ? found : undefined),
    list: async () => [asking],
    readRecords: ({ result, after = '' }) =>
      (async function* () {
        reading += 1;
        try {
          yield* records.filter((one) => one.reference > after && (!result || one.result === result));
        } finally {
          reading -= 1;
        }
      })(),
  };
  const operator = new Hono();
  addCloseRoutes(operator, { closes, store, railNames: ['upstream', 'other'] });
  const tokenHash = createHash('sha256').update('token-of-ama').digest();
  const named = [{ name: 'ama', role: 'operator', tokenHash }] as const;
  const guarded = guardOperator(operator, createOperators('a-token', named, sharedMayAct));
  const request = (path: string, init: RequestInit = {}, token = 'a-token') => {
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
    return guarded.request(path, { ...init, headers });
  };
  const post = async (body: object, token = 'a-token') => {
    const response = await request('/closes', { method: 'POST', body: JSON.stringify(body) }, token);
    return { status: response.status, body: await response.json() };
  };
  return { asked, post, request, reading: () => reading };
}

describe('a close is asked for', () => {
  it.each([
    [{ date: '2026-11-20' }, 202, '2026-11-20'],
    [{ date: '2026-11-20', rail: 'upstream' }, 200, '2026-11-20.upstream'],
  ])('by its day: %j', async (body, status, id) => {
    const { asked, post } = open();
    expect(await post(body)).toMatchObject({
      status,
      body: { id, status: 'asking', payments: 3, done: 2, requestedBy: 'ama' },
    });
    expect(asked).toEqual([[id, 'operator']]);
  });

  it.each([
    [{}, 400, 'date must be a date such as 2026-11-20'],
    [{ date: '2026-11-20', to: '2026-11-21T00:00:00Z' }, 400, 'to is no field of a close'],
    [{ date: '20.11.2026' }, 400, 'date must be a date such as 2026-11-20'],
    [{ date: '2026-02-30' }, 400, 'date must be a date such as 2026-11-20'],
    [{ date: '2026-11-20', day: 1 }, 400, 'day is no field of a close'],
    [
      { date: '2026-11-20', rail: 'nowhere' },
      400,
      'rail: there is none of this name here, but upstream, other',
    ],
    [{ date: '2026-11-21' }, 409, 'date: it can be closed later'],
  ])('and refused by the field: %j', async (body, status, message) => {
    const { asked, post } = open();
    expect(await post(body)).toMatchObject({ status, body: { message } });
    expect(asked).toEqual([]);
  });

  it('by named operators alone where the shared token may not order; all may look', async () => {
    const { asked, post, request } = open({ sharedMayAct: false });
    const lacking = { status: 403, body: { code: 'role_required' } };
    expect(await post({ date: '2026-11-20' })).toMatchObject(lacking);
    expect(asked).toEqual([]);
    expect(await post({ date: '2026-11-20' }, 'token-of-ama')).toMatchObject({ status: 202 });
    expect(asked).toEqual([['2026-11-20', 'ama']]);
    expect((await request('/closes')).status).toBe(200);
  });
});

describe('a close is shown', () => {
  it('with its progress, its records page by page, and 404 where there is none', async () => {
    const { request, reading } = open();
    const json = async (path: string) => (await request(path)).json();
    expect(await json('/closes')).toMatchObject({ items: [{ id: '2026-11-20' }], next: null });
    expect(await json('/closes/2026-11-20')).toMatchObject({ results: counts, finishedAt: null });
    const first = await json('/closes/2026-11-20/records?limit=2');
    expect(first).toMatchObject({ items: [{ reference: 'co-1' }, { reference: 'po-1' }], next: 'po-1' });
    const next = await json('/closes/2026-11-20/records?limit=2&cursor=po-1');
    expect(next).toMatchObject({ items: [{ reference: 'po-2', ours: { status: null } }], next: null });
    expect(await json('/closes/2026-11-20/records?limit=3')).toMatchObject({ next: null });
    const differing = await json('/closes/2026-11-20/records?result=differs');
    expect(differing).toMatchObject({
      items: [
        { differences: [{ field: 'fee', amount: '-0.01' }], theirs: { fee: '0.49' }, correctionSent: true },
      ],
    });
    expect(reading()).toBe(0);
    for (const path of ['', '/records', '/export'])
      expect((await request(`/closes/x${path}`)).status).toBe(404);
    for (const query of ['records?result=lost', 'records?limit=501', 'export?format=xml'])
      expect((await request(`/closes/2026-11-20/${query}`)).status).toBe(400);
  });

  it('as CSV without formulas, which marks what was not reported', async () => {
    const response = await open({ found: done }).request('/closes/2026-11-20/export?format=csv');
    expect(response.headers.get('content-disposition')).toBe('attachment; filename="close-2026-11-20.csv"');
    expect(response.headers.get('x-total-rows')).toBe('3');
    const [heading, collection, payout, pending] = (await response.text()).split('\r\n');
    expect(heading).toContain('amount_ours,amount_theirs,amount_difference,fee_ours');
    expect(collection).toContain(
      'completed,completed,,90071992547409.91,not reported,,not reported,not reported,,',
    );
    expect(payout).toContain("'=cmd|1");
    expect(payout).toContain('100,100,,0.5,0.49,-0.01,,po-1/fee,yes,');
    expect(pending).toContain('pending,not reported,not reported,');
  });

  it('in an export only once it is done', async () => {
    const response = await open().request('/closes/2026-11-20/export');
    expect(response.status).toBe(409);
    expect(await response.json()).toMatchObject({
      code: 'not_done',
      message: 'id: the close is not done, so not all is known: export it once its status is done',
    });
  });

  it('as done while it is read once more', async () => {
    const { request } = open({ found: { ...done, running: true } });
    const exported = await request('/closes/2026-11-20/export');
    expect(exported.status).toBe(200);
    expect(exported.headers.get('x-total-rows')).toBeNull();
    const shown = await request('/closes/2026-11-20');
    expect(await shown.json()).toMatchObject({ status: 'done', running: true });
  });

  it('as JSON, streamed, and releases its records when the reader stops', async () => {
    const { request, reading } = open({ found: done });
    const differing = await request('/closes/2026-11-20/export?format=json&result=differs');
    expect(differing.headers.get('x-total-rows')).toBe('1');
    expect(await differing.json()).toMatchObject({
      close: { id: '2026-11-20' },
      records: [{ reference: 'po-1' }],
    });
    expect(
      await (await request('/closes/2026-11-20/export?format=json&result=unclear')).json(),
    ).toMatchObject({ records: [] });
    const reader = (await request('/closes/2026-11-20/export?format=json')).body?.getReader();
    await reader?.read();
    await reader?.read();
    await reader?.cancel();
    expect(reading()).toBe(0);
  });
});
