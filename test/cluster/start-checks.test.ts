import { randomBytes } from 'node:crypto';
import { type Cluster, plainSettings } from '@pesewa/infrastructure';
import { databaseTasks, openMessaging, prepareTopics } from '@pesewa/messaging';
import { createLogger } from '@pesewa/runtime';
import { createTestKafka, openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { beforeAll, expect, it } from 'vitest';
import { sharedCluster } from './shared-cluster.ts';

const prefix = `s${randomBytes(3).toString('hex')}`;
const databaseSchema = [{ name: 'payments', indexes: [{ key: { reference: 1 }, unique: true }] }];
const topic = `${prefix}.ledger.events.v1`;
const TOPIC_RESOURCE = 2;

let cluster: Cluster;
let config: TestConfig;

beforeAll(async () => {
  cluster = await sharedCluster();
  const names = await prepareTestEnvironment((name) => cluster.env[name]);
  config = { ...names, TOPIC_PREFIX: `${prefix}.`, NODE_ENV: 'production' };
  const settings = plainSettings(cluster.env);
  await prepareTopics({
    settings,
    topicPrefix: config.TOPIC_PREFIX,
    isProduction: true,
    log: () => undefined,
  });
  await databaseTasks('ledger', databaseSchema).prepare(config);
});

/** The reasons for which a start in production is refused; empty if it is not. */
async function refusals(): Promise<readonly string[]> {
  const problems: string[] = [];
  const logger = createLogger(
    { name: 'test', level: 'error' },
    {
      write: (line: string) => void problems.push((JSON.parse(line) as { readonly msg: string }).msg),
    },
  );
  await using scope = openTestScope(config, { logger });
  await openMessaging(scope, { service: 'ledger', databaseSchema }).catch((error: unknown) => {
    if (!(error instanceof Error) || error.name !== 'UnsafeError') throw error;
  });
  return problems;
}

async function setOfTopic(name: string, value: string): Promise<void> {
  const admin = createTestKafka(config).admin();
  await admin.connect();
  const settings = { 'min.insync.replicas': '2', 'unclean.leader.election.enable': 'false', [name]: value };
  const configEntries = Object.entries(settings).map(([entry, text]) => ({ name: entry, value: text }));
  await admin.alterConfigs({
    validateOnly: false,
    resources: [{ type: TOPIC_RESOURCE, name: topic, configEntries }],
  });
  await admin.disconnect();
}

it('three brokers and three members that were prepared are accepted', async () => {
  expect(await refusals()).toEqual([]);
});

it('a topic that one broker alone may confirm, or whose leader may lack messages, is refused', async () => {
  await setOfTopic('min.insync.replicas', '1');
  await expect
    .poll(refusals, { timeout: 20_000 })
    .toEqual([expect.stringMatching(/min\.insync\.replicas=1/)]);
  await setOfTopic('unclean.leader.election.enable', 'true');
  await expect.poll(refusals, { timeout: 20_000 }).toEqual([expect.stringMatching(/elects unclean leaders/)]);
  await setOfTopic('min.insync.replicas', '2');
  await expect.poll(refusals, { timeout: 20_000 }).toEqual([]);
});

it('a server that lets transactions live for a minute is refused', async () => {
  await using client = new MongoClient(cluster.env.MONGODB_URL);
  const set = (transactionLifetimeLimitSeconds: number) =>
    client.db('admin').command({ setParameter: 1, transactionLifetimeLimitSeconds });
  await set(60);
  try {
    expect(await refusals()).toEqual([expect.stringMatching(/transactionLifetimeLimitSeconds is 60/)]);
  } finally {
    await set(5);
  }
});
