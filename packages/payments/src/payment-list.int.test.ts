import { randomUUID } from 'node:crypto';
import { firstIdAt } from '@pesewa/kernel';
import { type Collection, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { listNewest, type PaymentQuery } from './payment-list.ts';
import { paymentIndexes } from './payment-store.ts';

interface Listed {
  readonly _id: string;
  readonly reference: string;
  readonly merchantId: string;
  readonly status: string;
  readonly acceptedAt: Date;
}

const EACH = 3_000;
const NOW_MS = Date.UTC(2026, 10, 1);
const client = new MongoClient(process.env['MONGODB_URL'] ?? '');
const db = client.db(`test-${randomUUID()}`);
const payouts: Collection<Listed> = db.collection('payouts');

/** Those of one merchant are all older than those of the other; nearly all are COMPLETED. */
const paymentsOf = (merchantId: string, since: number): Listed[] =>
  Array.from({ length: EACH }, (_, index) => {
    const atMs = NOW_MS + (since + index) * 1_000;
    const status =
      { 5: 'FAILED', 900: 'REVERSED', 2_000: 'FAILED', 2_990: 'INITIALIZED' }[index] ?? 'COMPLETED';
    const reference = firstIdAt('po', atMs);
    return { _id: `${merchantId}:${index}`, reference, merchantId, status, acceptedAt: new Date(atMs) };
  });

beforeAll(async () => {
  await payouts.createIndexes([...paymentIndexes({ due: 'held', unended: 'INITIALIZED' })]);
  await payouts.insertMany([...paymentsOf('early', 0), ...paymentsOf('late', EACH)]);
  await db.command({ profile: 2 });
});
afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

/** A page, with how many documents the database read for it. */
async function page(query: Omit<PaymentQuery, 'limit'>, limit = 50) {
  const found = (await listNewest(payouts, 'po', { ...query, limit })) ?? [];
  const profile = db.collection('system.profile');
  const [last] = await profile
    .find({ op: 'query', ns: payouts.namespace })
    .sort({ ts: -1 })
    .limit(1)
    .toArray();
  return { found: found.map(({ _id }) => _id), examined: Number(last?.['docsExamined']) };
}

it.each<[string, Omit<PaymentQuery, 'limit'>, number, string | undefined]>([
  ['all', {}, 50, 'early:2999'],
  ['completed', { status: 'COMPLETED' }, 50, 'early:2999'],
  ['failed', { status: 'FAILED' }, 2, 'early:2000'],
  ['reversed', { status: 'REVERSED' }, 1, 'early:900'],
  ['open', { status: 'INITIALIZED' }, 1, 'early:2990'],
  ['of a time', { toMs: NOW_MS + 1_500_000 }, 50, 'early:1499'],
  ['after a page', { before: firstIdAt('po', NOW_MS + 100_000) }, 50, 'early:99'],
  ['failed in a time without any', { status: 'FAILED', fromMs: NOW_MS + 2_500_000 }, 0, undefined],
])(
  'a merchant with older payments than another lists %s, and only those are read',
  async (_, query, count, first) => {
    const { found, examined } = await page({ ...query, merchantId: 'early' });
    expect([found.length, found[0]]).toEqual([count, first]);
    // A time and a reference may be apart by seconds, and the few that are open may be anybody's.
    expect(examined).toBeLessThanOrEqual(count + 12);
  },
);
