import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { createDirectoryAdmin } from '../admin.ts';
import { hashPublicKey } from '../keys.ts';
import { CHANGES, type ChangeRequest, type Settings } from './change.ts';
import { createSettings } from './changes.ts';

const url = process.env['MONGODB_URL'];
if (url === undefined) throw new Error('MONGODB_URL is missing: run this through the test runner');
const client = new MongoClient(url, { useBigInt64: true });
const clock = { now: Date.UTC(2026, 0, 2), nowMs: () => clock.now, sleep: systemClock.sleep };
const fee = { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 0n };
const KEY = 'public-key-of-demo';
let db: Db;
let settings: Settings;

beforeAll(async () => {
  await client.connect();
  db = client.db(`settings-test-${process.pid}`);
});

beforeEach(async () => {
  await db.dropDatabase();
  const admin = createDirectoryAdmin(db);
  await admin.ensureIndexes();
  await admin.createMerchant({
    id: 'demo',
    name: 'Demo',
    publicKey: KEY,
    wallets: [{ currency: 'GHS', country: 'GHA', payoutFee: fee, collectionFee: fee }],
    limits: { requestsPerSecond: 50 },
  });
  settings = openSettings();
});

afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

function openSettings(afterWork: () => void = () => undefined): Settings {
  return createSettings({
    db,
    transact: (work) =>
      client.withSession((session) =>
        session.withTransaction(async () => {
          const value = await work(session);
          afterWork();
          return value;
        }),
      ),
    whyNoAddress: (text) => (text.startsWith('https:') ? undefined : 'must begin with https://'),
    clock,
    ids: createIds(clock, systemRandom),
    random: systemRandom,
  });
}

const limit = (requestsPerSecond: number): ChangeRequest => ({
  kind: 'limits',
  merchantId: 'demo',
  wanted: { requestsPerSecond } as unknown as ChangeRequest['wanted'],
  by: 'ama',
});
const ask = (
  kind: ChangeRequest['kind'],
  wanted: object,
  by = 'ama',
  merchantId = 'demo',
): ChangeRequest => ({
  kind,
  merchantId,
  wanted: wanted as ChangeRequest['wanted'],
  by,
});

async function proposed(request: ChangeRequest) {
  const taken = await settings.take(request);
  if (!taken.ok) throw new Error(taken.refusal.message);
  clock.now += 1_000;
  return taken.value;
}

const approve = (id: string, by = 'kofi') => settings.decide(id, { kind: 'approve' }, by);
const requestsPerSecond = async () => (await settings.merchant('demo'))?.limits.requestsPerSecond;

it('nothing changes before another operator approves; then it does, with who and when', async () => {
  const { change } = await proposed({ ...limit(75), reason: 'contract' });
  expect(await requestsPerSecond()).toBe(50);
  expect(await approve(change.id, 'ama')).toMatchObject({ refusal: { code: 'same_operator' } });
  expect(await requestsPerSecond()).toBe(50);
  expect((await approve(change.id)).ok).toBe(true);
  expect(await requestsPerSecond()).toBe(75);
  expect((await settings.list({ merchantId: 'demo', limit: 10 })).items).toEqual([
    {
      ...change,
      status: 'applied',
      fields: [{ field: 'limits.requestsPerSecond', from: '50', to: '75', currency: null }],
      reason: 'contract',
      decidedBy: 'kofi',
      decidedAt: new Date(clock.now),
    },
  ]);
});

it('approved by many at once it is applied once, and rotates one secret', async () => {
  const { change, made } = await proposed(ask('webhooks', { rotateSecret: true }));
  const answers = await Promise.all(['kofi', 'esi', 'kofi', 'yaw'].map((by) => approve(change.id, by)));
  expect(answers.every(({ ok }) => ok)).toBe(true);
  const secrets = (await settings.merchant('demo'))?.webhooks.secrets;
  expect([secrets?.length, secrets?.[0]]).toEqual([2, made.webhookSecret]);
  expect(new Set(answers.map((one) => one.ok && one.value.decidedBy)).size).toBe(1);
});

it('a rotation says its grace time, and one proposed within an earlier one holds after that has ended', async () => {
  const first = await proposed(ask('webhooks', { rotateSecret: true, graceHours: 1 }));
  expect(first.change.fields.at(-1)).toMatchObject({ field: 'webhooks.graceHours', from: null, to: '1' });
  await approve(first.change.id);
  clock.now += 1_000;
  const second = await proposed(ask('webhooks', { rotateSecret: true, graceHours: 2 }));
  clock.now += 3_600_000;
  expect(await approve(second.change.id)).toMatchObject({ ok: true });
  const { secrets, previousUntil } = (await settings.merchant('demo'))?.webhooks ?? {};
  expect(secrets).toEqual([second.made.webhookSecret, first.made.webhookSecret]);
  // It counts from the approval.
  expect(previousUntil).toEqual(new Date(clock.now + 2 * 3_600_000));
});

it('a grace time without a new secret is refused', async () => {
  const refused = await settings.take(ask('webhooks', { graceHours: 1 }));
  expect(refused).toMatchObject({ refusal: { code: 'invalid', message: 'graceHours needs rotateSecret' } });
});

it('a transaction that ends before its commit leaves the setting and the proposal as they were', async () => {
  const { change } = await proposed(limit(75));
  const dying = openSettings(() => {
    throw new Error('killed');
  });
  await expect(dying.decide(change.id, { kind: 'approve' }, 'kofi')).rejects.toThrow('killed');
  expect([await requestsPerSecond(), (await settings.find(change.id))?.status]).toEqual([50, 'proposed']);
  expect((await approve(change.id)).ok).toBe(true);
  expect(await requestsPerSecond()).toBe(75);
});

it('of two proposals about one setting the second is stale, and says of which', async () => {
  const [first, second] = [await proposed(limit(75)), await proposed(limit(60))];
  expect((await approve(first.change.id)).ok).toBe(true);
  const stale = await approve(second.change.id);
  expect(stale).toMatchObject({ refusal: { code: 'stale' } });
  expect(!stale.ok && stale.refusal.message).toContain('limits.requestsPerSecond was changed since');
  expect(await requestsPerSecond()).toBe(75);
});

it('both of two proposals about different settings are applied, also at once', async () => {
  const one = await proposed(limit(75));
  const other = await proposed(ask('limits', { nameEnquiriesPerMinute: 9 }, 'esi'));
  await Promise.all([approve(one.change.id), approve(other.change.id)]);
  expect((await settings.merchant('demo'))?.limits).toEqual({
    requestsPerSecond: 75,
    nameEnquiriesPerMinute: 9,
  });
});

it('a setting that was written by other means is not overwritten', async () => {
  const { change } = await proposed(limit(75));
  await createDirectoryAdmin(db).setLimits('demo', { requestsPerSecond: 5 });
  expect(await approve(change.id)).toMatchObject({ refusal: { code: 'stale' } });
  expect(await requestsPerSecond()).toBe(5);
});

it('one operator suspends, two resume; who suspends again is asked again', async () => {
  expect((await proposed(ask('suspend', {}))).change.status).toBe('applied');
  const early = await proposed(ask('resume', {}));
  const resumed = await proposed(ask('resume', {}));
  expect((await settings.merchant('demo'))?.status).toBe('suspended');
  expect((await approve(resumed.change.id)).ok).toBe(true);
  clock.now += 1_000;
  await proposed(ask('suspend', {}, 'esi'));
  expect(await approve(early.change.id)).toMatchObject({ refusal: { code: 'stale' } });
  expect((await settings.merchant('demo'))?.status).toBe('suspended');
});

const keyHashes = async () => (await settings.merchant('demo'))?.keys.map(({ hash }) => hash);

it('a key is added by two and removed by one, and is nowhere in the history', async () => {
  const { change, made } = await proposed(ask('add-key', { scopes: ['payouts'] }));
  const publicKey = made.publicKey ?? '';
  expect(await keyHashes()).toEqual([hashPublicKey(KEY)]);
  expect((await approve(change.id)).ok).toBe(true);
  clock.now += 1_000;
  expect(await keyHashes()).toContain(hashPublicKey(publicKey));
  expect(
    (await proposed(ask('remove-key', { keyHash: hashPublicKey(KEY).slice(0, 12) }))).change.status,
  ).toBe('applied');
  expect(await keyHashes()).toEqual([hashPublicKey(publicKey)]);
  const kept = JSON.stringify(await db.collection(CHANGES).find().toArray());
  for (const secret of [publicKey, hashPublicKey(publicKey)]) expect(kept).not.toContain(secret);
});

it('two keys may live for each scope, and a third is refused when it is asked for', async () => {
  expect((await approve((await proposed(ask('add-key', { scopes: ['payouts'] }))).change.id)).ok).toBe(true);
  clock.now += 1_000;
  expect(await settings.take(ask('add-key', { scopes: ['payouts'] }))).toMatchObject({
    refusal: { message: 'scopes: demo has two live keys for payouts: remove one of them first' },
  });
  expect(await settings.take(ask('add-key', { scopes: ['collections'] }))).toMatchObject({ ok: true });
});

it('a decided change keeps no secret', async () => {
  const { made, change } = await proposed(ask('webhooks', { rotateSecret: true }));
  await settings.decide(change.id, { kind: 'reject', reason: 'not now' }, 'ama');
  expect(JSON.stringify(await db.collection(CHANGES).find().toArray())).not.toContain(made.webhookSecret);
});

it('signatures are required, and required no more, by two; the secret is in its answer alone', async () => {
  const signing = async () => (await settings.merchant('demo'))?.signing;
  const { change, made } = await proposed(ask('signatures', { addSecret: true, required: true }));
  expect(await signing()).toEqual({ isRequired: false, secrets: [] });
  expect(await approve(change.id, 'ama')).toMatchObject({ refusal: { code: 'same_operator' } });
  expect((await approve(change.id)).ok).toBe(true);
  expect(await signing()).toEqual({ isRequired: true, secrets: [made.signingSecret] });
  expect(JSON.stringify(await db.collection(CHANGES).find().toArray())).not.toContain('rqsec_');
  clock.now += 1_000;
  const off = await proposed(ask('signatures', { required: false }));
  expect([off.change.status, (await signing())?.isRequired]).toEqual(['proposed', true]);
  expect((await approve(off.change.id)).ok).toBe(true);
  expect((await signing())?.isRequired).toBe(false);
});

it('a key that another merchant got meanwhile is refused, and the proposal stays', async () => {
  const { change } = await proposed(
    ask('add-key', { publicKey: 'a-key-that-two-want', scopes: ['payouts'] }),
  );
  const wanted = {
    merchantId: 'shop',
    name: 'Shop',
    wallets: [],
    limits: {},
    publicKey: 'a-key-that-two-want',
  };
  await proposed(ask('create', wanted, 'esi', 'shop'));
  expect(await approve(change.id)).toMatchObject({ refusal: { code: 'key_taken' } });
  expect((await settings.find(change.id))?.status).toBe('proposed');
  expect(await settings.take(ask('create', wanted, 'esi', 'shop'))).toMatchObject({
    refusal: { code: 'exists' },
  });
});

it.each([
  ['webhooks', { payoutsUrl: 'http://shop.example' }, 'demo', 'payoutsUrl must begin with https://'],
  ['limits', { requestsPerSecond: 50 }, 'demo', 'demo is set so already'],
  ['suspend', {}, 'nobody', 'there is no merchant nobody'],
  ['add-key', { publicKey: KEY, scopes: ['payouts'] }, 'demo', 'demo is set so already'],
  [
    'access',
    { allowedAddresses: ['192.0.2.256'] },
    'demo',
    expect.stringMatching(/^allowedAddresses\.0 /) as string,
  ],
] as const)('%s of %j for %s is refused, and foreseen to be', async (kind, wanted, merchantId, message) => {
  const request = ask(kind, wanted, 'ama', merchantId);
  for (const answer of [await settings.foresee(request), await settings.take(request)])
    expect(answer).toMatchObject({ ok: false, refusal: { message } });
  expect(await db.collection(CHANGES).countDocuments()).toBe(0);
});

it('what is foreseen is what would be proposed, and nothing is written', async () => {
  const foreseen = await settings.foresee(limit(75));
  expect(await db.collection(CHANGES).countDocuments()).toBe(0);
  expect(foreseen).toEqual({ ok: true, value: (await proposed(limit(75))).change.fields });
});

it('a proposal of a week ago is rejected, not approved', async () => {
  const { change } = await proposed(limit(75));
  clock.now += 7 * 86_400_000;
  expect(await approve(change.id)).toMatchObject({ refusal: { code: 'expired' } });
  expect((await settings.decide(change.id, { kind: 'reject', reason: 'too old' }, 'ama')).ok).toBe(true);
  expect(await approve(change.id)).toMatchObject({ refusal: { code: 'decided' } });
});

it('lists merchants by their ids, page by page, without their settings', async () => {
  for (const id of ['shop', 'acme'])
    await proposed(ask('create', { merchantId: id, name: id, wallets: [], limits: {} }, 'ama', id));
  await settings.take(ask('suspend', {}, 'ama', 'shop'));
  const first = await settings.merchants({ limit: 2 });
  expect(first).toEqual({
    items: [
      { id: 'acme', name: 'acme', status: 'active' },
      { id: 'demo', name: 'Demo', status: 'active' },
    ],
    next: 'demo',
  });
  expect(await settings.merchants({ after: 'demo', limit: 2 })).toEqual({
    items: [{ id: 'shop', name: 'shop', status: 'suspended' }],
    next: null,
  });
  for (const [search, ids] of Object.entries({ SH: ['shop'], em: ['demo'], m: ['acme', 'demo'], '.': [] }))
    expect((await settings.merchants({ search, limit: 9 })).items.map(({ id }) => id)).toEqual(ids);
});
