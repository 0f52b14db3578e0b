import { randomUUID } from 'node:crypto';
import { DAY_MS } from '@pesewa/kernel';
import { ensureDatabaseSchema, isDuplicateKey, openDatabase } from '@pesewa/messaging';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callbackDatabaseSchema } from './database-schema.ts';
import type { CallbackDocument } from './documents.ts';
import { type Callback, callbackKeys } from './domain/callback.ts';
import { type CallbackRecord, receive } from './domain/reception.ts';
import { type CallbackStore, openCallbackStore } from './store.ts';

const retention = { keepDays: 400, unverifiedKeepDays: 30 };
let database: Awaited<ReturnType<typeof openDatabase>>;
let store: CallbackStore;

beforeAll(async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  database = await openDatabase({ url, database: `test-${randomUUID()}`, appName: 'test' });
  await ensureDatabaseSchema(database.db, callbackDatabaseSchema);
  store = openCallbackStore(database.db, retention);
});
afterAll(async () => {
  await database.db.dropDatabase();
  await database[Symbol.asyncDispose]();
});

const callback = (changes: Partial<Callback> = {}): Callback => ({
  id: 'cb-1',
  rail: 'upstream',
  kind: 'payout',
  digest: 'd1',
  messageId: null,
  verdict: { address: 'allowed', signature: 'not_required', proven: false },
  receivedAtMs: 1_000,
  body: Buffer.from('{"raw":"body"}'),
  headers: [{ name: 'user-agent', value: 'rail/1' }],
  peerAddress: '10.0.0.1',
  clientAddress: '203.0.113.7',
  claim: {
    reference: 'po-1',
    claimedStatus: 'COMPLETED',
    claimedAmount: '20.5',
    claimedCurrency: null,
    claimedFee: null,
    claimedReason: 'Successful',
  },
  ...changes,
});

const unknown = { first: undefined, own: undefined };
const recordOf = (arrived: Callback): CallbackRecord => {
  const { own } = receive(unknown, arrived, 0);
  if (own === undefined) throw new Error('nothing to remember');
  return own;
};

/** Stores a callback as the service does: reads the records, decides, saves. */
const take = (arrived: Callback) =>
  database.client.withSession((session) =>
    session.withTransaction(async () => {
      const { key } = callbackKeys(arrived);
      const known = (await store.load([key], session)).get(key);
      const { outcome, own } = receive({ first: known, own: known }, arrived, 60_000);
      const fresh = new Map(known ? [] : [[key, arrived]]);
      await store.save({ fresh, records: new Map(own && [[key, own]]) }, session);
      return outcome;
    }),
  );
const remembered = (key: string): Promise<CallbackRecord | undefined> =>
  database.client.withSession(async (session) => (await store.load([key], session)).get(key));

test('what is remembered is what was decided, however often', async () => {
  const unread = callback({ id: 'cb-r1', digest: 'dr', claim: null });
  expect(await take(unread)).toBe('failed');
  expect(await remembered('upstream/payout/dr')).toEqual(recordOf(unread));
  const read = callback({ id: 'cb-r2', digest: 'dr', receivedAtMs: 2_000 });
  expect(await take(read)).toBe('recovered');
  expect(await take({ ...read, receivedAtMs: 3_000 })).toBe('repeated');
  expect(await remembered('upstream/payout/dr')).toEqual({
    digest: 'dr',
    state: 'passed_on',
    claim: read.claim,
    failure: null,
    passedOnAtMs: 2_000,
    timesPassedOn: 1,
    deliveries: 3,
    lastReceivedAtMs: 3_000,
    conflicts: 0,
    otherDigests: [],
    passedOnDigest: 'dr',
  });
});

test('a key that was taken meanwhile breaks the transaction', async () => {
  const taken = callback({ id: 'cb-t1', digest: 'dt' });
  await take(taken);
  const record = recordOf(taken);
  const { key } = callbackKeys(taken);
  const again = database.client.withSession((session) =>
    session.withTransaction(() =>
      store.save({ fresh: new Map([[key, taken]]), records: new Map([[key, record]]) }, session),
    ),
  );
  await expect(again).rejects.toSatisfy(isDuplicateKey);
});

test('the raw body is kept byte for byte, with its verdict', async () => {
  const body = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
  await take(callback({ id: 'cb-b', digest: 'db', body, claim: null }));
  const stored = await database.db.collection<CallbackDocument>('callbacks').findOne({ id: 'cb-b' });
  expect(Buffer.from(stored?.body.buffer ?? [])).toEqual(body);
  expect(stored).toMatchObject({
    peerAddress: '10.0.0.1',
    clientAddress: '203.0.113.7',
    headers: [{ name: 'user-agent', value: 'rail/1' }],
    verdict: { address: 'allowed', signature: 'not_required', proven: false },
  });
  expect(await store.find('cb-b')).toMatchObject({ rail: 'upstream', kind: 'payout', digest: 'db' });
  expect(Buffer.from((await store.find('cb-b'))?.body ?? [])).toEqual(body);
  expect(await store.find('cb-none')).toBeUndefined();
});

describe('lists', () => {
  const ids = (items: readonly { readonly id: string }[]) => items.map(({ id }) => id);
  test('are by reference, by state, or both, and show no personal data', async () => {
    const claim = {
      reference: 'po-list',
      claimedStatus: 'FAILED',
      claimedAmount: null,
      claimedCurrency: null,
      claimedFee: null,
      claimedReason: 'no account',
    };
    await take(callback({ id: 'cb-l1', digest: 'dl1', claim }));
    await take(callback({ id: 'cb-l2', digest: 'dl2', claim, receivedAtMs: 2_000 }));
    await take(callback({ id: 'cb-l3', digest: 'dl3', claim: null }));
    const list = (query: object) => store.list({ ...query, limit: 10 });
    expect(await list({ reference: 'po-list' })).toEqual([
      {
        id: 'cb-l1',
        rail: 'upstream',
        kind: 'payout',
        digest: 'dl1',
        verdict: { address: 'allowed', signature: 'not_required', proven: false },
        reference: 'po-list',
        claimedStatus: 'FAILED',
        claimedAmount: null,
        claimedCurrency: null,
        claimedFee: null,
        state: 'passed_on',
        failure: null,
        passedOnAt: new Date(1_000),
        timesPassedOn: 1,
        deliveries: 1,
        conflicts: 0,
        otherDigests: [],
        passedOnDigest: 'dl1',
        messageId: null,
        forgetAt: new Date(1_000 + 400 * DAY_MS),
        receivedAt: new Date(1_000),
        lastReceivedAt: new Date(1_000),
      },
      expect.objectContaining({ id: 'cb-l2' }),
    ]);
    expect(ids(await list({ reference: 'po-list', after: 'cb-l1' }))).toEqual(['cb-l2']);
    expect(ids(await list({ reference: 'po-list', state: 'failed' }))).toEqual([]);
    expect(ids(await list({ state: 'failed' }))).toContain('cb-l3');
    expect(ids(await list({ state: 'failed' }))).not.toContain('cb-l1');
    expect(ids(await store.list({ state: 'passed_on', after: 'cb-l0', limit: 1 }))).toEqual(['cb-l1']);
  });

  test('read no more than they show', async () => {
    const plan = async (filter: object) => {
      const explained = await database.db.collection('callbacks').find(filter).sort({ id: 1 }).explain();
      const planner = explained['queryPlanner'] as Readonly<Record<string, unknown>>;
      return JSON.stringify(planner['winningPlan']);
    };
    for (const filter of [{ reference: 'po-1' }, { state: 'failed' }, { state: 'passed_on' }, { id: 'cb-1' }])
      expect(await plan(filter)).not.toMatch(/"stage":"(?:COLLSCAN|SORT)"/);
  });
});

test('what was rejected is kept with its reason in a bounded collection, and opening again leaves it', async () => {
  const body = Buffer.alloc(60_000, 'a');
  await store.insertRejected(callback({ id: 'cb-x1', body }), 'address.unlisted', []);
  const forwarded = [{ name: 'x-forwarded-for', value: '203.0.113.7' }];
  await ensureDatabaseSchema(database.db, callbackDatabaseSchema);
  const again = openCallbackStore(database.db, retention);
  await again.insertRejected(callback({ id: 'cb-x2', body, headers: forwarded }), 'signature.wrong', []);
  await again.insertRejected(callback({ id: 'cb-x3', rail: 'other', body }), 'body.malformed', []);
  const list = async (query: object) =>
    (await store.listRejected({ ...query, limit: 10 })).map(({ id }) => id);
  expect(await store.listRejected({ limit: 10 })).toMatchObject([
    { id: 'cb-x3', reason: 'body.malformed', bodyBytes: 60_000 },
    { id: 'cb-x2', reason: 'signature.wrong', forwardedFor: '203.0.113.7' },
    {
      id: 'cb-x1',
      reason: 'address.unlisted',
      clientAddress: '203.0.113.7',
      peerAddress: '10.0.0.1',
      forwardedFor: null,
      bodyBytes: 60_000,
    },
  ]);
  expect(await list({ after: 'cb-x2' })).toEqual(['cb-x1']);
  expect(await list({ rail: 'other' })).toEqual(['cb-x3']);
  expect(await list({ reason: 'signature.wrong' })).toEqual(['cb-x2']);
  const [first] = await store.listRejected({ limit: 1 });
  for (const hidden of ['body', 'headers', '_id']) expect(first).not.toHaveProperty(hidden);
  const kept = await database.db
    .collection<{ body: { length: () => number } }>('rejected_callbacks')
    .find()
    .toArray();
  expect(kept.map((one) => one.body.length())).toEqual([2_048, 2_048, 60_000]);

  const rejected = database.db.collection('rejected_callbacks');
  const flood = (round: number) =>
    Promise.all(
      Array.from({ length: 400 }, (_, index) =>
        store.insertRejected(callback({ id: `cb-y${round}-${index}`, body }), 'body.malformed', []),
      ),
    );
  for (const round of [1, 2, 3]) {
    const taken = (await flood(round)).filter(({ ok }) => ok);
    expect(taken.length).toBeGreaterThanOrEqual(256);
    expect(taken.length).toBeLessThan(400);
  }
  expect(await rejected.countDocuments()).toBeLessThan(600);
  expect(await rejected.findOne({ _id: 'cb-x1' as never })).toBeNull();
  expect(await database.db.listCollections({ name: 'rejected_callbacks' }).next()).toMatchObject({
    options: { capped: true, max: 10_000, size: 32 * 1024 * 1024 },
  });
});

test('a rejected collection without bounds is not taken for one that has them', async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  const name = `test-${randomUUID()}`;
  await using other = await openDatabase({ url, database: name, appName: 'test' });
  await other.db.createCollection('rejected_callbacks');
  await expect(ensureDatabaseSchema(other.db, callbackDatabaseSchema)).rejects.toThrow('no bounds');
  await other.db.dropCollection('rejected_callbacks');
  await other.db.createCollection('rejected_callbacks', { capped: true, size: 4_096, max: 10 });
  await ensureDatabaseSchema(other.db, callbackDatabaseSchema);
  expect(await other.db.listCollections({ name: 'rejected_callbacks' }).next()).toMatchObject({
    options: { capped: true, max: 10_000, size: 32 * 1024 * 1024 },
  });
  await other.db.dropDatabase();
});

test('what callbacks take shrinks as they are deleted, and so does the unauthenticated share', async () => {
  const url = process.env['MONGODB_URL'] ?? '';
  await using other = await openDatabase({ url, database: `test-${randomUUID()}`, appName: 'test' });
  await ensureDatabaseSchema(other.db, callbackDatabaseSchema);
  const measured = openCallbackStore(other.db, retention);
  expect([await measured.bytes(), await measured.unverifiedShare()]).toEqual([0, 0]);
  const callbacks = other.db.collection<{ verdict: Callback['verdict']; body: string }>('callbacks');
  const insert = (verdict: Callback['verdict'], length: number) =>
    callbacks.insertMany(Array.from({ length: 100 }, () => ({ verdict, body: 'x'.repeat(length) })));
  const stranger = { address: 'any', signature: 'not_required', proven: false } as const;
  await insert({ ...stranger, address: 'allowed' }, 2_000);
  await insert({ ...stranger, signature: 'verified' }, 2_000);
  const vouchedBytes = await measured.bytes();
  expect(await measured.unverifiedShare()).toBe(0);
  await insert(stranger, 4_000);
  const bytes = await measured.bytes();
  expect(bytes - vouchedBytes).toBeGreaterThan(400_000);
  expect((await measured.unverifiedShare()) * bytes).toBeCloseTo(bytes - vouchedBytes, 0);
  await callbacks.deleteMany({ verdict: stranger });
  expect([await measured.bytes(), await measured.unverifiedShare()]).toEqual([vouchedBytes, 0]);
  await other.db.dropDatabase();
});

test.each([
  ['allowed', 'not_required', 400],
  ['any', 'verified', 400],
  ['any', 'not_required', 30],
] as const)('a callback of address %s and signature %s is kept %i days', async (address, signature, days) => {
  const id = `cb-${address}-${signature}`;
  const verdict = { address, signature, proven: false };
  await take(callback({ id, digest: id, verdict }));
  const stored = await database.db.collection<CallbackDocument>('callbacks').findOne({ id });
  expect(stored?.forgetAt).toEqual(new Date(1_000 + days * DAY_MS));
  expect(await database.db.collection('callbacks').indexes()).toContainEqual(
    expect.objectContaining({ key: { forgetAt: 1 }, expireAfterSeconds: 0 }),
  );
});
