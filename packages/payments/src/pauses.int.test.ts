import { createHash } from 'node:crypto';
import { systemClock } from '@pesewa/kernel';
import { createLogger, createOperators, guardOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addPauseRoutes } from './pause-routes.ts';
import { openPauses, type Pauses } from './pauses.ts';

const client = new MongoClient(process.env['MONGODB_URL'] ?? '', { useBigInt64: true });
const logger = createLogger({ name: 'test', level: 'silent' });
const operators = ['ama', 'kofi'].map((name) => ({
  name,
  role: 'approver' as const,
  tokenHash: createHash('sha256').update(`token-of-${name}`).digest(),
}));
let db: Db;

beforeAll(async () => {
  await client.connect();
  db = client.db(`pauses-test-${process.pid}`);
});
beforeEach(() => db.dropDatabase());
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

const openReplica = () => openPauses({ db, clock: systemClock, logger });

/** A replica's operator API, called by a named operator. */
function api(pauses: Pauses) {
  const routes = new Hono();
  const findMerchant = async (id: string) => (id === 'demo' ? { id } : undefined);
  addPauseRoutes(routes, { pauses, rails: [{ name: 'upstream' }], findMerchant });
  const app = guardOperator(routes, createOperators('the-shared-token', operators));
  return async (by: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer token-of-${by}`, 'content-type': 'application/json' };
    const init = body === undefined ? { headers } : { method: 'POST', headers, body: JSON.stringify(body) };
    const answer = await app.request(path, init);
    return [answer.status, await answer.json()];
  };
}

/** Pauses the rail; gives what names this pause. */
async function pauseUpstream(call: ReturnType<typeof api>, reason: string) {
  const [, body] = await call('ama', '/pauses', { ...upstream, reason });
  return { ...upstream, pausedAt: (body as { readonly pausedAt: string }).pausedAt };
}

const SOON = { timeout: 30_000 };
const upstream = { scope: 'rail', name: 'upstream' };
const payment = { rail: 'upstream', merchantId: 'demo' };

describe('a pause', () => {
  it('holds at once here, soon on every replica, and after a restart from the first moment on', async () => {
    await using one = await openReplica();
    await using other = await openReplica();
    expect(await api(one)('ama', '/pauses', { ...upstream, reason: 'they pay twice' })).toMatchObject([
      200,
      { ...upstream, reason: 'they pay twice', pausedBy: 'ama', resumeProposedBy: null },
    ]);
    expect(one.isPaused(payment)).toBe(true);
    await expect.poll(() => other.isPaused(payment), SOON).toBe(true);
    await using restarted = await openReplica();
    expect(restarted.isPaused(payment)).toBe(true);
    expect(restarted.isPaused({ ...payment, rail: 'another' })).toBe(false);
  });

  it.each([
    [{ scope: 'all' }, [true, true, true]],
    [upstream, [true, true, false]],
    [{ scope: 'merchant', name: 'demo' }, [true, false, true]],
  ])('is of what it names: %j', async (subject, paused) => {
    await using replica = await openReplica();
    await api(replica)('ama', '/pauses', { ...subject, reason: 'why' });
    const payments = [payment, { ...payment, merchantId: 'other' }, { ...payment, rail: 'other' }];
    expect(payments.map(replica.isPaused)).toEqual(paused);
  });

  it('ends once an approver resumes it as another operator proposed, however often', async () => {
    await using one = await openReplica();
    await using other = await openReplica();
    const [here, there] = [api(one), api(other)];
    const seen = await pauseUpstream(here, 'why');
    for (const _ of [1, 2])
      expect(await there('kofi', '/pauses/resume', seen)).toMatchObject([202, { resumeProposedBy: 'kofi' }]);
    expect(one.isPaused(payment)).toBe(true);
    expect(await here('ama', '/pauses/resume', seen)).toMatchObject([409, { code: 'proposed_already' }]);
    expect(await there('kofi', '/pauses/resume', { ...seen, approves: 'kofi' })).toMatchObject([
      403,
      { code: 'same_operator' },
    ]);
    expect(await here('ama', '/pauses/resume', { ...seen, approves: 'esi' })).toMatchObject([
      409,
      { code: 'not_proposed' },
    ]);
    expect(one.isPaused(payment)).toBe(true);
    const approval = { ...seen, approves: 'kofi' };
    expect(await here('ama', '/pauses/resume', approval)).toEqual([200, { resumed: true }]);
    expect([one.isPaused(payment), await here('ama', '/pauses')]).toEqual([
      false,
      [200, { items: [], next: null }],
    ]);
    await expect.poll(() => other.isPaused(payment), SOON).toBe(false);
    for (const body of [seen, approval])
      expect(await here('ama', '/pauses/resume', body)).toMatchObject([404, { code: 'not_found' }]);
  });

  it('stays where both propose at the same moment', async () => {
    await using one = await openReplica();
    await using other = await openReplica();
    const seen = await pauseUpstream(api(one), 'why');
    const both = await Promise.all([
      api(one)('ama', '/pauses/resume', seen),
      api(other)('kofi', '/pauses/resume', seen),
    ]);
    expect(both.map(([status]) => Number(status)).toSorted((one, other) => one - other)).toEqual([202, 409]);
    expect(one.isPaused(payment)).toBe(true);
  });

  it('that is made again asks both operators again, whatever they saw of the one before', async () => {
    await using replica = await openReplica();
    const call = api(replica);
    const before = await pauseUpstream(call, 'why');
    await call('kofi', '/pauses/resume', before);
    const seen = await pauseUpstream(call, 'not yet');
    expect(await call('kofi', '/pauses/resume', before)).toMatchObject([409, { code: 'changed' }]);
    expect(await call('kofi', '/pauses/resume', seen)).toMatchObject([
      202,
      { reason: 'not yet', resumeProposedBy: 'kofi' },
    ]);
    expect(await call('ama', '/pauses/resume', { ...before, approves: 'kofi' })).toMatchObject([
      409,
      { code: 'changed' },
    ]);
    expect(replica.isPaused(payment)).toBe(true);
  });

  it.each<[object, number, RegExp]>([
    [{ scope: 'rail', name: 'nowhere', reason: 'why' }, 404, /no rail nowhere here, but upstream/],
    [{ scope: 'merchant', name: 'nobody', reason: 'why' }, 404, /no merchant nobody/],
    [{ scope: 'all', name: 'x', reason: 'why' }, 400, /^name: all has none/],
    [{ scope: 'rail', reason: 'why' }, 400, /^name: which rail/],
    [{ scope: 'country', reason: 'why' }, 400, /^scope must be one of all, rail, merchant/],
    [{ scope: 'all' }, 400, /^reason is required/],
    [{ scope: 'all', reason: 'why', by: 'kofi' }, 400, /^by is no field/],
  ])('of %j is refused', async (body, status, message) => {
    await using replica = await openReplica();
    expect(await api(replica)('ama', '/pauses', body)).toMatchObject([
      status,
      { message: expect.stringMatching(message) as unknown },
    ]);
    expect(replica.list()).toEqual([]);
  });
});
