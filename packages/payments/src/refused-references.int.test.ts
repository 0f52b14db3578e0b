import { type Document, MongoClient } from 'mongodb';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { openRefusedReferences } from './refused-references.ts';

const client = new MongoClient(process.env['MONGODB_URL'] ?? '', { useBigInt64: true });
const db = client.db(`refused-references-${process.pid}`);
const payments = db.collection<Document & { readonly _id: string }>('payments');
const refused = openRefusedReferences(payments);

beforeAll(async () => {
  await client.connect();
});

beforeEach(async () => {
  await db.dropDatabase();
  await client.withSession((session) => refused.mark(['demo/order-1'], session));
  // The mark's age is counted in milliseconds, and must be more than none.
  await db.admin().ping();
  await client.withSession((session) => session.withTransaction(() => refused.mark(['demo/other'], session)));
});

afterAll(async () => {
  await db.dropDatabase();
  await client.close();
});

/** Releases the reference for a request that arrived at 0, by a clock that gives these times in turn. */
async function release(times: readonly number[]) {
  const left = [...times];
  const nowMs = () => left.shift() ?? 0;
  const standing = await client.withSession((session) =>
    session.withTransaction(() => refused.release([{ id: 'demo/order-1', arrivedAtMs: 0 }], nowMs, session)),
  );
  const marks = await payments.countDocuments({ _id: 'demo/order-1' });
  return { standing: [...standing], marks, unused: left.length };
}

const HOUR_MS = 3_600_000;
const freed = { standing: [], marks: 0, unused: 0 };
const kept = { standing: ['demo/order-1'], marks: 1, unused: 0 };

describe('the mark of a refusal (invariant P16, ADR 87)', () => {
  it.each([
    ['frees the reference for a request that certainly came later', [0, 0], freed],
    [
      'stands for a request that certainly came earlier, whatever the answer takes',
      [HOUR_MS, HOUR_MS + 1],
      kept,
    ],
    ['is asked for again where a slow answer leaves it open', [0, HOUR_MS, 0, HOUR_MS, 0, 0], freed],
    ['stands where each of five answers leaves it open', Array(5).fill([0, HOUR_MS]).flat(), kept],
  ])('%s', async (_name, times, expected) => {
    expect(await release(times)).toEqual(expected);
  });
});
