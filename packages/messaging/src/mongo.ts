import { type Db, MongoClient, type TransactionOptions } from 'mongodb';

/** A MongoDB connection; disposing of it closes the pool. */
export interface Database extends AsyncDisposable {
  readonly client: MongoClient;
  readonly db: Db;
}

/** The options of every transaction: what was committed survives a failover (research/reliability 3.1). */
export const transactionOptions: TransactionOptions = {
  readConcern: { level: 'snapshot' },
  writeConcern: { w: 'majority', journal: true, wtimeoutMS: 30_000 },
  readPreference: 'primary',
};

/** Connects with majority reads and writes, whole numbers as bigint, and a server that must be a replica set. */
export async function openDatabase(options: {
  readonly url: string;
  readonly database: string;
  readonly appName: string;
}): Promise<Database> {
  const client = new MongoClient(options.url, {
    appName: options.appName,
    useBigInt64: true,
    ignoreUndefined: true,
    readConcernLevel: 'majority',
    writeConcern: { w: 'majority', journal: true, wtimeoutMS: 30_000 },
    retryReads: true,
    retryWrites: true,
    maxPoolSize: 20,
    minPoolSize: 4,
    maxIdleTimeMS: 60_000,
    waitQueueTimeoutMS: 2_000,
    serverSelectionTimeoutMS: 5_000,
  });
  await client.connect();
  const hello = await client.db('admin').command({ hello: 1 });
  if (typeof hello['setName'] !== 'string') {
    await client.close();
    throw new Error('MongoDB must be a replica set: transactions need one (start mongod with --replSet)');
  }
  return { client, db: client.db(options.database), [Symbol.asyncDispose]: () => client.close() };
}

const DUPLICATE_KEY = 11_000;

/** Whether the error says that a unique key is taken. */
export function isDuplicateKey(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === DUPLICATE_KEY;
}
