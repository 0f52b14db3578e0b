import type { Clock } from '@pesewa/kernel';
import {
  type Collection,
  type Db,
  type Document,
  type FindOptions,
  MongoClient,
  MongoError,
  MongoServerError,
  type TransactionOptions,
} from 'mongodb';
import { assertClockSkew, measureClockSkewMs } from './clock-guard.ts';
import { hasTransactions, REPLICA_SET_REMEDY } from './database-checks.ts';

/** A MongoDB connection; disposing of it closes its pool. */
export interface Database extends AsyncDisposable {
  readonly client: MongoClient;
  readonly db: Db;
}

/**
 * How long we wait for a silent server. The driver ignores `timeoutMS`, so these timeouts are what notices a stalled
 * one: its monitor hears nothing for `heartbeat` and `connect` together, closes the connections and fails the
 * operations on them; after a change of topology `socket` does. Both are longer than any answer takes: a transaction's
 * command takes seconds at most, a cursor returns its documents in batches, and a majority write gives up after
 * `majority`. An operation is retried once, so it fails within about twenty seconds.
 */
const silenceMs = { heartbeat: 5_000, connect: 5_000, majority: 10_000, socket: 15_000 } as const;

const writeConcern = { w: 'majority', journal: true, wtimeoutMS: silenceMs.majority } as const;

/** The options of every transaction: committed data survives a failover (https://jepsen.io/analyses/mongodb-4.2.6). */
export const transactionOptions: TransactionOptions = {
  readConcern: { level: 'snapshot' },
  writeConcern,
  readPreference: 'primary',
};

/**
 * Makes a read reliable that others are judged by, at the cost of a round trip to a majority, during which it holds a
 * connection. A deposed primary that has not noticed it can't answer it. A new primary answers a majority read by what
 * it knows a majority to have, which right after its election may be less than was acknowledged; to this read it shows
 * everything acknowledged before.
 */
export const LATEST = {
  readConcern: { level: 'linearizable' },
  readPreference: 'primary',
  maxTimeMS: 2_000,
} as const satisfies FindOptions;

/** Connects with majority reads and writes, and reads 64-bit integers as bigint; the caller closes it. */
export function connectClient({
  url,
  appName,
}: {
  readonly url: string;
  readonly appName: string;
}): Promise<MongoClient> {
  const client = new MongoClient(url, {
    appName,
    useBigInt64: true,
    ignoreUndefined: true,
    readConcernLevel: 'majority',
    writeConcern,
    retryReads: true,
    retryWrites: true,
    maxPoolSize: 20,
    minPoolSize: 4,
    maxIdleTimeMS: 60_000,
    waitQueueTimeoutMS: 2_000,
    serverSelectionTimeoutMS: 5_000,
    heartbeatFrequencyMS: silenceMs.heartbeat,
    connectTimeoutMS: silenceMs.connect,
    socketTimeoutMS: silenceMs.socket,
  });
  return client.connect();
}

/** Connects as {@link connectClient} does, and refuses a server without transactions. */
export async function openDatabase(options: {
  readonly url: string;
  readonly database: string;
  readonly appName: string;
  /** For a process that writes times: it is refused if its clock is more than five seconds from the server's. */
  readonly clock?: Pick<Clock, 'nowMs'>;
}): Promise<Database> {
  const client = await connectClient(options);
  if (!hasTransactions(await client.db('admin').command({ hello: 1 }))) {
    await client.close();
    throw new Error(`MongoDB must be a replica set: transactions need one (${REPLICA_SET_REMEDY})`);
  }
  if (options.clock) {
    try {
      assertClockSkew(await measureClockSkewMs(client, options.clock));
    } catch (error) {
      await client.close();
      throw error;
    }
  }
  return { client, db: client.db(options.database), [Symbol.asyncDispose]: () => client.close() };
}

interface CollectionStats {
  readonly storageStats: { readonly size: number | bigint };
}

/**
 * How many bytes the documents of a collection have, by the database's own statistics: before compression, without
 * indexes. What is deleted no longer counts, whereas the file on the disk keeps its size and is filled again.
 */
export async function documentBytes<Schema extends Document>(
  collection: Collection<Schema>,
): Promise<number> {
  const shards = await collection
    .aggregate<CollectionStats>([{ $collStats: { storageStats: {} } }], { readConcern: { level: 'local' } })
    .toArray();
  return shards.reduce((sum, { storageStats }) => sum + Number(storageStats.size), 0);
}

const DUPLICATE_KEY = 11_000;

/** Whether the error says that a unique key is taken. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === DUPLICATE_KEY;
}

const WRITE_CONFLICT = 112;

/** Whether the error says that another transaction, in progress or newer, has written the same document. */
export function isWriteConflict(error: unknown): boolean {
  return error instanceof MongoError && error.code === WRITE_CONFLICT && error.hasErrorLabel(TRANSIENT);
}

const TRANSIENT = 'TransientTransactionError';
const COMMIT_UNKNOWN = 'UnknownTransactionCommitResult';

/** Whether a commit's outcome is unknown: the commit may be sent again, but the work must not be repeated. */
export function isCommitUnknown(error: unknown): boolean {
  return error instanceof MongoError && error.hasErrorLabel(COMMIT_UNKNOWN);
}

/**
 * Marks the error of a commit that no server has answered as {@link isCommitUnknown}. The driver marks only what it would
 * retry, which the lack of a primary is not.
 */
export function markUnanswered(error: unknown): void {
  if (error instanceof MongoError && !(error instanceof MongoServerError) && !error.hasErrorLabel(TRANSIENT))
    error.addErrorLabel(COMMIT_UNKNOWN);
}

/** Whether a transaction is known to have left nothing behind, so that all of it may be repeated. */
export function isRepeatable(error: unknown): boolean {
  return error instanceof MongoError && error.hasErrorLabel(TRANSIENT) && !isCommitUnknown(error);
}

const NO_SUCH_TRANSACTION = 251;
const LIFETIME_EXCEEDED = 290;

/**
 * Whether the server has ended a transaction because it took too long, or lost it in a failover. The same work may
 * succeed in several smaller transactions.
 */
export function isTransactionExpired(error: unknown): boolean {
  return (
    error instanceof MongoError && (error.code === NO_SUCH_TRANSACTION || error.code === LIFETIME_EXCEEDED)
  );
}

/** Whether the error comes from the connection or the cluster and not from the request: it is transient. */
export function isTransientMongoError(error: unknown): boolean {
  if (!(error instanceof MongoError)) return false;
  return (
    error.hasErrorLabel(TRANSIENT) ||
    error.hasErrorLabel(COMMIT_UNKNOWN) ||
    error.hasErrorLabel('RetryableWriteError') ||
    /Network|ServerSelection|WaitQueue|PoolCleared|NotConnected|Timeout/.test(error.name)
  );
}
