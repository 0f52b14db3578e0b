import { randomUUID } from 'node:crypto';
import { Binary, MongoClient } from 'mongodb';

const BATCH = 250;
const EVENT_BYTES = 160;

/**
 * The floor of the ledger: the same transactions in a bare loop, without Kafka, Avro or a domain.
 *
 * Each is {offset compare-and-set, 250 postings, one balance update per wallet, one outbox document}.
 */
export async function bareLedger(options: {
  readonly url: string;
  readonly postings: number;
  readonly wallets: number;
  readonly partitions: number;
}): Promise<number> {
  await using client = await new MongoClient(options.url, { useBigInt64: true, maxPoolSize: 20 }).connect();
  const db = client.db(`bare_${randomUUID().slice(0, 8)}`);
  const offsets = db.collection<{ _id: number; next: bigint }>('offsets');
  const wallets = db.collection<{ _id: string; available: bigint; held: bigint }>('wallets');
  const stored = db.collection<{ _id: string; wallet: string; walletSequence: bigint }>('postings');
  const outbox = db.collection<{ _id: string; messages: readonly object[] }>('outbox');
  await stored.createIndex({ wallet: 1, walletSequence: 1 });
  await db.createCollection('outbox');
  const names = Array.from({ length: options.wallets }, (_, index) => `bench${index}:KES`);
  await wallets.insertMany(names.map((_id) => ({ _id, available: 10n ** 12n, held: 0n })));
  await offsets.insertMany(Array.from({ length: options.partitions }, (_, _id) => ({ _id, next: 0n })));
  const batches = Math.ceil(options.postings / BATCH / options.partitions);

  async function post(partition: number, batch: number): Promise<void> {
    const mine = names.filter((_, index) => index % options.partitions === partition % options.wallets);
    const touched = mine.slice(0, BATCH);
    const postings = Array.from({ length: BATCH }, (_, index) => ({
      _id: `po-${partition}-${batch}-${index}/hold`,
      kind: 'hold',
      entries: [{ kind: 'hold', debit: 'available', credit: 'held', amount: 1_010n }],
      currency: 'KES',
      reference: `po-${partition}-${batch}-${index}`,
      causationId: `ev-${partition}-${batch}-${index}`,
      wallet: touched[index % touched.length] ?? '',
      walletSequence: BigInt(batch * BATCH + index),
      at: new Date(),
    }));
    const message = {
      topic: 'ledger.events.v1',
      key: 'bench0:KES',
      value: new Binary(Buffer.alloc(EVENT_BYTES)),
      headers: {
        'event-id': 'ev-0',
        'event-type': 'pesewa.ledger.HoldPlaced',
        'aggregate-version': '1',
        'causation-id': 'ev-0',
      },
    };
    await client.withSession((session) =>
      session.withTransaction(
        async () => {
          const next = BigInt(batch) * BigInt(BATCH);
          await offsets.updateOne(
            { _id: partition, next },
            { $set: { next: next + BigInt(BATCH) } },
            { session },
          );
          await stored.insertMany(postings, { session, ordered: false });
          await wallets.bulkWrite(
            touched.map((_id) => ({
              updateOne: { filter: { _id }, update: { $inc: { available: -1_010n, held: 1_010n } } },
            })),
            { session, ordered: false },
          );
          const messages = Array.from({ length: BATCH + touched.length }, () => message);
          await outbox.insertOne({ _id: `${partition}-${batch}`, messages }, { session });
        },
        { readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority', journal: true } },
      ),
    );
  }

  async function run(partition: number): Promise<void> {
    for (let batch = 0; batch < batches; batch += 1) await post(partition, batch);
  }

  const startedMs = performance.now();
  await Promise.all(Array.from({ length: options.partitions }, (_, partition) => run(partition)));
  const rate = (1_000 * batches * BATCH * options.partitions) / (performance.now() - startedMs);
  await db.dropDatabase();
  return rate;
}
