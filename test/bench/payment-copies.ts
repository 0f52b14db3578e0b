import { waitUntil } from '@pesewa/infrastructure';
import { Long, type MongoClient, type Document as Stored } from 'mongodb';

/** The databases of the services. */
const databases = ['payouts', 'reconciler', 'ledger', 'webhooks'] as const;
const BATCH = 10_000;
const IN_PARALLEL = 2;
/** Between one copy and the next. */
const APART_MS = 50;

/** An id of ours: a prefix, the time in twelve digits, and twenty more. */
const ID = /\b([a-z]{2})-([0-9a-f]{12})([0-9a-z]{8})[0-9a-z]{12}\b/g;

/**
 * Copies what the services keep of a payment, each copy somewhat earlier than the one before: documents as the services
 * wrote them, under ids and references of their own.
 */
export async function copyPayment(options: {
  readonly client: MongoClient;
  readonly reference: string;
  readonly merchantReference: string;
  readonly copies: number;
  readonly log: (line: string) => void;
}): Promise<void> {
  const { client, reference, merchantReference, copies, log } = options;
  await waitUntil('the webhook of the payment', 60_000, async () => {
    const told = await client
      .db('webhooks')
      .collection('deliveries')
      .findOne({ reference, state: 'delivered' });
    if (!told) throw new Error('it has not arrived');
  });
  for (const name of databases) {
    const db = client.db(name);
    for (const { name: collection } of await db.listCollections({ type: 'collection' }).toArray()) {
      const found = await db.collection(collection).find({}, { promoteLongs: false }).limit(1_000).toArray();
      const own = found.filter(
        (document) =>
          JSON.stringify(document).includes(reference) &&
          JSON.stringify(copyOf(document, 1, merchantReference)['_id']) !== JSON.stringify(document['_id']),
      );
      if (own.length === 0 || /outbox|inbox|lease|runs/i.test(collection)) continue;
      const startedMs = performance.now();
      let next = 1;
      const work = async () => {
        while (next <= copies) {
          const first = next;
          next += BATCH;
          const batch = Array.from({ length: Math.min(BATCH, copies - first + 1) }, (_, index) =>
            own.map((document) => copyOf(document, first + index, merchantReference)),
          );
          await db
            .collection(collection)
            .insertMany(batch.flat(), { ordered: false, writeConcern: { w: 1 } });
        }
      };
      await Promise.all(Array.from({ length: IN_PARALLEL }, work));
      const seconds = Math.round((performance.now() - startedMs) / 1_000);
      log(`${(own.length * copies).toLocaleString('en')} documents in ${name}.${collection}, ${seconds} s`);
    }
  }
  // What follows is measured, and the database would still be writing its checkpoint beside it.
  await client.db('admin').command({ fsync: 1 });
}

function copyOf(document: Stored, copy: number, merchantReference: string): Stored {
  const tail = copy.toString(16).padStart(12, '0');
  const byMs = copy * APART_MS;
  const text = (value: string) =>
    value
      .replaceAll(ID, (_, prefix: string, time: string, kept: string) => {
        const at = (Number.parseInt(time, 16) - byMs).toString(16).padStart(12, '0');
        return `${prefix}-${at}${kept}${tail}`;
      })
      .replaceAll(merchantReference, `${merchantReference}-${copy}`);
  const copied = (value: unknown): unknown => {
    if (typeof value === 'string') return text(value);
    if (value instanceof Date) return new Date(value.getTime() - byMs);
    if (Array.isArray(value)) return value.map(copied);
    const isPlain =
      value !== null && typeof value === 'object' && Object.getPrototypeOf(value) === Object.prototype;
    if (!isPlain || value instanceof Long) return value;
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, copied(one)]));
  };
  return copied(document) as Stored;
}
