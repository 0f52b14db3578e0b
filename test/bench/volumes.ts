import { randomUUID } from 'node:crypto';
import { topics } from '@pesewa/contracts';
import type { Infrastructure } from '@pesewa/infrastructure';
import { createKafka } from '@pesewa/kafka';
import { MongoClient } from 'mongodb';

/** What was written to MongoDB and Kafka so far. */
export interface Volumes {
  /** Documents inserted, changed and deleted. */
  readonly documentWrites: number;
  /** Commands that the server has run, of every kind. */
  readonly commands: number;
  /** Bytes of its write-ahead log: everything written, the indexes and the oplog included. */
  readonly journalBytes: number;
  /** Bytes of documents and indexes, uncompressed. */
  readonly storedBytes: number;
  /** The time that the server has spent in each collection, in milliseconds; commits are in none. */
  readonly collectionMs: ReadonlyMap<string, number>;
}

interface ServerStatus {
  readonly opcounters: Readonly<Record<string, number>>;
  readonly metrics: { readonly document: Readonly<Record<'inserted' | 'updated' | 'deleted', number>> };
  readonly wiredTiger: { readonly log: Readonly<Record<string, number>> };
}

/** The server's time by collection, in microseconds; its first entry is a note, which has none. */
interface Top {
  readonly totals: Readonly<Record<string, { readonly total?: { readonly time: unknown } }>>;
}

/** The databases of the services. */
const databases = ['payouts', 'collections', 'ingress', 'reconciler', 'ledger', 'webhooks'] as const;

const US_PER_MS = 1_000;

/** Reads the counters of MongoDB. */
export async function readVolumes({ env }: Infrastructure): Promise<Volumes> {
  await using client = await new MongoClient(env.MONGODB_URL).connect();
  const status = (await client.db('admin').command({ serverStatus: 1 })) as ServerStatus;
  const { totals } = (await client.db('admin').command({ top: 1 })) as Top;
  const { inserted, updated, deleted } = status.metrics.document;
  let storedBytes = 0;
  for (const name of databases) {
    const { dataSize = 0, indexSize = 0 } = await client.db(name).command({ dbStats: 1 });
    storedBytes += Number(dataSize) + Number(indexSize);
  }
  return {
    documentWrites: Number(inserted) + Number(updated) + Number(deleted),
    commands: Object.values(status.opcounters).reduce((sum, count) => sum + Number(count), 0),
    journalBytes: Number(status.wiredTiger.log['log bytes written'] ?? 0),
    storedBytes,
    collectionMs: new Map(
      Object.entries(totals).map(([name, { total }]) => [name, Number(total?.time ?? 0) / US_PER_MS]),
    ),
  };
}

/** Counts the messages of topics; cheap enough not to affect the measurement. */
export interface MessageCounter extends AsyncDisposable {
  readonly count: (topicName: string) => Promise<number>;
}

/** Opens a {@link MessageCounter}. */
export async function openMessageCounter({ env }: Infrastructure): Promise<MessageCounter> {
  const brokers = env.KAFKA_BROKERS.split(',');
  const admin = createKafka({ brokers, clientId: 'bench-counter', log: () => undefined }).admin();
  await admin.connect();
  return {
    count: async (topicName) => {
      const offsets = await admin.fetchTopicOffsets(topicName);
      return offsets.reduce((sum, { high }) => sum + Number(high), 0);
    },
    [Symbol.asyncDispose]: () => admin.disconnect(),
  };
}

const lengthOf = (bytes: unknown): number =>
  Buffer.isBuffer(bytes) || typeof bytes === 'string' ? Buffer.byteLength(bytes) : 0;

/** Reads every topic from its start up to what is there now; gives the bytes of keys, values and headers by topic. */
export async function countBytes({ env }: Infrastructure): Promise<ReadonlyMap<string, number>> {
  const brokers = env.KAFKA_BROKERS.split(',');
  const names = Object.values(topics).map(({ name }) => name);
  const kafka = createKafka({ brokers, clientId: 'bench-bytes', log: () => undefined });
  const unread = await endsOf(kafka, names);
  const bytes = new Map<string, number>();
  if (unread.size === 0) return bytes;
  // A new group each time: an existing one would begin where it ended.
  const groupId = `bench-bytes-${randomUUID()}`;
  const consumer = kafka.consumer({ groupId, maxWaitTimeInMs: 100 });
  const read = Promise.withResolvers<void>();
  await consumer.connect();
  await consumer.subscribe({ topics: names, fromBeginning: true });
  await consumer.run({
    autoCommit: false,
    eachBatch: ({ batch }) => {
      let sum = 0;
      for (const { key, value, headers = {} } of batch.messages) {
        sum += lengthOf(key) + lengthOf(value);
        for (const [name, header] of Object.entries(headers)) sum += lengthOf(name) + lengthOf(header);
      }
      bytes.set(batch.topic, (bytes.get(batch.topic) ?? 0) + sum);
      const partition = partitionName(batch.topic, batch.partition);
      if (Number(batch.lastOffset()) + 1 >= (unread.get(partition) ?? 0)) unread.delete(partition);
      if (unread.size === 0) read.resolve();
      return Promise.resolve();
    },
  });
  await read.promise;
  await consumer.disconnect();
  return bytes;
}

const partitionName = (topic: string, partition: number): string => `${topic}/${partition}`;

/** The ends of partitions with messages: a compacted topic has fewer messages than offsets. */
async function endsOf(
  kafka: ReturnType<typeof createKafka>,
  names: readonly string[],
): Promise<Map<string, number>> {
  const admin = kafka.admin();
  await admin.connect();
  const ends = new Map<string, number>();
  for (const name of names) {
    for (const { partition, low, high } of await admin.fetchTopicOffsets(name)) {
      if (Number(high) > Number(low)) ends.set(partitionName(name, partition), Number(high));
    }
  }
  await admin.disconnect();
  return ends;
}
