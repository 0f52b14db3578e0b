import { createLogger } from '@pesewa/runtime';
import { openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';
import { type CollectionSchema, databaseTasks, openMessaging } from './index.ts';

const databaseSchema: readonly CollectionSchema[] = [
  { name: 'payments', indexes: [{ key: { reference: 1 }, unique: true }] },
];
const own = ['outbox', 'consumer_offsets', 'leases', 'realignments', 'parked', 'operator_actions'];
/** All topics that the ledger writes and consumes. */
const topics = [
  'ledger.events.v1',
  'wallets.balances.v1',
  'ledger.commands.v1',
  'payouts.events.v1',
  'collections.events.v1',
];

let config: TestConfig;

beforeAll(async () => {
  config = { ...(await prepareTestEnvironment()), NODE_ENV: 'production' };
});

/** A line of the log. */
interface Line {
  readonly level: number;
  readonly msg: string;
  readonly remedy?: string;
}

/** Starts as in production; gives the outcome and the log's lines of one level. */
async function start(changes: Partial<TestConfig> = {}) {
  const lines: Line[] = [];
  const logger = createLogger(
    { name: 'test', level: 'warn' },
    {
      write: (line: string) => void lines.push(JSON.parse(line) as Line),
    },
  );
  await using scope = openTestScope({ ...config, ...changes }, { logger });
  const ended = await openMessaging(scope, { service: 'ledger', databaseSchema }).then(
    () => 'started',
    (error: unknown) => (error instanceof Error ? error.name : ''),
  );
  return { ended, lines, problems: lines.filter(({ level }) => level === 50) };
}

test('a single broker and an unprepared database are refused, each reason with its remedy', async () => {
  const { ended, problems } = await start();
  expect(ended).toBe('UnsafeError');
  const messages = problems.map(({ msg }) => msg);
  for (const name of ['payments', ...own])
    expect(messages).toContain(`MongoDB: ${config.DATABASE_PREFIX}ledger.${name} does not exist`);
  for (const name of topics) {
    const topic = `Kafka: the topic ${config.TOPIC_PREFIX}${name}`;
    expect(messages).toContainEqual(expect.stringContaining(`${topic} has 1 replicas, and needs 3`));
    expect(messages).toContainEqual(
      expect.stringContaining(`${topic} has min.insync.replicas=1, and needs 2`),
    );
  }
  expect(problems.every(({ remedy = '' }) => remedy !== '')).toBe(true);
  expect(problems).toHaveLength(1 + own.length + 2 * topics.length);
});

test('topics that are not there are named, and not created by asking', async () => {
  const again = () => start({ TOPIC_PREFIX: `${config.TOPIC_PREFIX}none.` });
  for (const { problems } of [await again(), await again()])
    expect(problems.map(({ msg }) => msg).filter((msg) => msg.endsWith('does not exist')).length).toBe(
      1 + own.length + topics.length,
    );
});

test('what prepare has made is not refused, and prepare can be repeated; an index that is not unique is', async () => {
  const { prepare } = databaseTasks('ledger', databaseSchema);
  expect(await prepare(config)).toBe(
    `the database ${config.DATABASE_PREFIX}ledger is prepared: 7 collections, 10 indexes`,
  );
  await prepare(config);
  const ofMongodb = async () =>
    (await start()).problems.map(({ msg }) => msg).filter((msg) => msg.startsWith('MongoDB'));
  expect(await ofMongodb()).toEqual([]);

  await using client = new MongoClient(config.MONGODB_URL);
  const payments = client.db(`${config.DATABASE_PREFIX}ledger`).collection('payments');
  await payments.dropIndex('reference_1');
  expect(await ofMongodb()).toEqual([expect.stringMatching(/payments: the index reference:1 is missing/)]);
  await payments.createIndex({ reference: 1 });
  expect(await ofMongodb()).toEqual([expect.stringMatching(/payments: the index reference:1 is not unique/)]);
});

test('without Kafka the database alone is checked, and the topics once Kafka answers', async () => {
  const { lines, problems } = await start({ KAFKA_BROKERS: ['127.0.0.1:1'] });
  expect(problems.filter(({ msg }) => !msg.startsWith('MongoDB'))).toEqual([]);
  expect(lines.map(({ msg }) => msg)).toContain('Kafka does not answer: its topics are checked once it does');
});
