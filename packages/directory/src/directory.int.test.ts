import { systemClock } from '@pesewa/kernel';
import { type Db, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createDirectory, createDirectoryAdmin, hashPublicKey } from './index.ts';

const url = process.env['MONGODB_URL'];
if (url === undefined) throw new Error('MONGODB_URL is missing: run this through the test runner');
const client = new MongoClient(url, { useBigInt64: true });
const clock = { now: Date.UTC(2026, 0, 2), nowMs: () => clock.now, sleep: systemClock.sleep };
let db: Db;

const schedule = { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 0n };
const kes = {
  currency: 'KES',
  country: 'KEN',
  payoutFee: { ...schedule, maximumMinor: 9_007_199_254_740_991n },
  collectionFee: schedule,
};
const demo = { id: 'demo', name: 'Demo', wallets: [kes], limits: { requestsPerSecond: 50 } };
const header = (publicKey: string) => Buffer.from(publicKey).toString('base64');

beforeAll(async () => {
  await client.connect();
  db = client.db(`directory-test-${process.pid}`);
});

beforeEach(async () => {
  await db.dropDatabase();
  await createDirectoryAdmin(db).ensureIndexes();
});

afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

describe('the directory on a real database', () => {
  it('gives the ids of its merchants in order, at most so many', async () => {
    const admin = createDirectoryAdmin(db, { clock });
    for (const id of ['shop', 'demo', 'acme']) await admin.createMerchant({ ...demo, id });
    expect(await createDirectory({ db, clock }).ids(2)).toEqual(['acme', 'demo']);
  });

  it('identifies a merchant by each key it was created with, amounts exact', async () => {
    const created = await createDirectoryAdmin(db, { clock }).createMerchant(demo);
    if (!created.ok) throw new Error(created.refusal.message);
    const { payouts, collections } = created.value.publicKeys;
    const createdAt = new Date(clock.now);
    const keys = [
      { hash: hashPublicKey(payouts), scopes: ['payouts'], createdAt },
      { hash: hashPublicKey(collections), scopes: ['collections'], createdAt },
    ];
    const directory = createDirectory({ db, clock });
    expect((await directory.identify(header(collections)))?.key).toEqual(keys[1]);
    const holder = await directory.identify(header(payouts));
    expect(holder?.key).toEqual(keys[0]);
    expect(holder?.merchant).toEqual({
      id: 'demo',
      name: 'Demo',
      status: 'active',
      keys,
      allowedAddresses: [],
      signing: { isRequired: false, secrets: [] },
      wallets: [kes],
      webhooks: { payoutsUrl: null, collectionsUrl: null, secrets: [created.value.webhookSecret] },
      limits: { requestsPerSecond: 50 },
      createdAt,
    });
  });

  it('refuses a taken id, a taken key and a malformed merchant', async () => {
    const admin = createDirectoryAdmin(db);
    const publicKey = 'public-key-of-demo';
    await admin.createMerchant({ ...demo, publicKey });
    const again = (change: object) => admin.createMerchant({ ...demo, publicKey, id: 'other', ...change });
    expect(await again({ id: 'demo', publicKey: 'public-key-of-other' })).toMatchObject({
      refusal: { code: 'merchant.exists' },
    });
    expect(await again({})).toMatchObject({ refusal: { code: 'key.taken' } });
    expect(await again({ publicKey: 'short' })).toMatchObject({ refusal: { code: 'key.malformed' } });
    expect(await again({ name: '' })).toMatchObject({ refusal: { code: 'merchant.malformed' } });
    expect(await admin.list()).toHaveLength(1);
  });

  it('adds and removes keys, but never the last', async () => {
    const admin = createDirectoryAdmin(db);
    const directory = createDirectory({ db, clock, ttlMs: 0 });
    await admin.createMerchant({ ...demo, publicKey: 'public-key-number-1' });
    await admin.createMerchant({ ...demo, id: 'rival', publicKey: 'public-key-of-rival' });
    const scopes = ['payouts', 'collections'] as const;
    const add = (publicKey: string) => admin.addKey('demo', { publicKey, scopes });
    for (const taken of ['public-key-of-rival', 'public-key-number-1'])
      expect(await add(taken)).toMatchObject({ refusal: { code: 'key.taken' } });
    expect(await add('public-key-number-2')).toMatchObject({ ok: true });
    expect(await add('public-key-number-3')).toMatchObject({ refusal: { code: 'key.tooMany' } });
    expect(await admin.addKey('demo', { scopes: [] })).toMatchObject({
      refusal: { code: 'merchant.malformed' },
    });
    expect(await admin.addKey('nobody', { scopes })).toMatchObject({ refusal: { code: 'merchant.unknown' } });
    expect(await admin.removeKey('demo', hashPublicKey('public-key-number-1'))).toMatchObject({ ok: true });
    expect(await directory.identify(header('public-key-number-1'))).toBeUndefined();
    expect(await directory.identify(header('public-key-number-2'))).toMatchObject({
      merchant: { id: 'demo' },
    });
    expect(await admin.removeKey('demo', hashPublicKey('public-key-number-2'))).toMatchObject({
      refusal: { code: 'key.unknown' },
    });
  });

  it('adds a key that expires, and leaves it out once it has', async () => {
    const admin = createDirectoryAdmin(db, { clock });
    const directory = createDirectory({ db, clock, ttlMs: 0 });
    await admin.createMerchant({ ...demo, publicKey: 'public-key-number-1' });
    const expiresAt = new Date(clock.now + 1_000);
    await admin.addKey('demo', { publicKey: 'public-key-number-2', scopes: ['payouts'], expiresAt });
    expect(await directory.identify(header('public-key-number-2'))).toMatchObject({
      key: { scopes: ['payouts'], expiresAt },
    });
    clock.now += 1_000;
    expect(await directory.identify(header('public-key-number-2'))).toBeUndefined();
    await admin.addKey('demo', { publicKey: 'public-key-number-3', scopes: ['payouts'] });
    expect((await admin.list())[0]?.keys.map(({ hash }) => hash)).toEqual(
      ['public-key-number-1', 'public-key-number-3'].map((key) => hashPublicKey(key)),
    );
  });

  it('has at most two live keys for a scope, however many are added at once', async () => {
    const admin = createDirectoryAdmin(db);
    await admin.createMerchant(demo);
    await Promise.all(Array.from({ length: 8 }, () => admin.addKey('demo', { scopes: ['payouts'] })));
    const keys = (await admin.list())[0]?.keys ?? [];
    expect(keys.filter(({ scopes }) => scopes.includes('payouts'))).toHaveLength(2);
  });

  it('adds a wallet, and replaces the one of the same currency', async () => {
    const admin = createDirectoryAdmin(db);
    await admin.createMerchant(demo);
    const ghs = { ...kes, currency: 'GHS', country: 'GHA' };
    const cheaper = { ...kes, payoutFee: { ...schedule, basisPoints: 1n } };
    await admin.setWallet('demo', ghs);
    await admin.setWallet('demo', cheaper);
    const merchant = await createDirectory({ db, clock }).find('demo');
    expect(merchant?.wallets).toEqual([cheaper, ghs]);
    expect(await admin.setWallet('nobody', ghs)).toMatchObject({ refusal: { code: 'merchant.unknown' } });
    expect(await admin.setWallet('demo', { ...ghs, currency: 'ZZZ' })).toMatchObject({
      refusal: { code: 'merchant.malformed' },
    });
  });

  it('replaces the limits, amounts exact', async () => {
    const admin = createDirectoryAdmin(db);
    await admin.createMerchant(demo);
    const perDayMaxMinor = { GHS: 9_007_199_254_740_993n };
    expect(await admin.setLimits('demo', { requestsPerSecond: 7, perDayMaxMinor })).toMatchObject({
      ok: true,
    });
    const merchant = await createDirectory({ db, clock }).find('demo');
    expect(merchant?.limits).toEqual({ requestsPerSecond: 7, perDayMaxMinor });
    expect(await admin.setLimits('demo', { requestsPerSecond: 0 })).toMatchObject({
      refusal: { code: 'merchant.malformed' },
    });
  });

  it('sets addresses, and leaves the secrets as they are', async () => {
    const admin = createDirectoryAdmin(db);
    const created = await admin.createMerchant(demo);
    if (!created.ok) throw new Error(created.refusal.message);
    await admin.setWebhooks('demo', { payoutsUrl: 'https://shop.example/p', collectionsUrl: null });
    expect((await createDirectory({ db, clock }).find('demo'))?.webhooks).toEqual({
      payoutsUrl: 'https://shop.example/p',
      collectionsUrl: null,
      secrets: [created.value.webhookSecret],
    });
  });

  it('sets the addresses that requests may come from, and takes them back', async () => {
    const admin = createDirectoryAdmin(db);
    await admin.createMerchant(demo);
    const addresses = ['192.0.2.0/24', '2001:db8::1'];
    const allowed = async () => (await admin.list())[0]?.allowedAddresses;
    expect(await admin.setAllowedAddresses('demo', addresses)).toMatchObject({ ok: true });
    expect(await allowed()).toEqual(addresses);
    expect(await admin.setAllowedAddresses('demo', ['192.0.2.1/24'])).toMatchObject({
      refusal: { code: 'merchant.malformed' },
    });
    expect(await admin.setAllowedAddresses('nobody', [])).toMatchObject({
      refusal: { code: 'merchant.unknown' },
    });
    expect(await allowed()).toEqual(addresses);
    await admin.setAllowedAddresses('demo', []);
    expect(await allowed()).toEqual([]);
  });

  it('still finds a suspended merchant', async () => {
    const admin = createDirectoryAdmin(db);
    const directory = createDirectory({ db, clock, ttlMs: 0 });
    await admin.createMerchant(demo);
    await admin.suspend('demo');
    expect(await directory.find('demo')).toMatchObject({ status: 'suspended' });
    await admin.resume('demo');
    expect(await directory.find('demo')).toMatchObject({ status: 'active' });
  });
});
