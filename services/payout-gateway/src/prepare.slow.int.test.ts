import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { upstreamRail } from '@pesewa/rails';
import { prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { beforeAll, expect, test } from 'vitest';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

/** Runs the service's process until it ends. */
function run(given: readonly string[], changes: Readonly<Record<string, string>> = {}) {
  return spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), ...given], {
    encoding: 'utf8',
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'production',
      ALLOW_INSECURE: 'kafka,registry,mongodb',
      OPERATOR_TOKEN: 'a-token-of-these-tests',
      RAILS: JSON.stringify([
        upstreamRail({ name: 'upstream', url: 'http://127.0.0.1:1', publicKey: 'key' }),
      ]),
      MONGODB_URL: config.MONGODB_URL,
      KAFKA_BROKERS: config.KAFKA_BROKERS.join(),
      SCHEMA_REGISTRY_URL: config.SCHEMA_REGISTRY_URL,
      DATABASE_PREFIX: config.DATABASE_PREFIX,
      TOPIC_PREFIX: config.TOPIC_PREFIX,
      PORT: '0',
      OPERATIONS_PORT: '0',
      ...changes,
    },
  });
}

test('prepare makes the database and says so; in production the service makes nothing, and refuses to run without', async () => {
  await using client = new MongoClient(config.MONGODB_URL);
  const db = client.db(`${config.DATABASE_PREFIX}payouts`);

  const refused = run([]);
  expect(refused.status).toBe(1);
  expect(refused.stdout).toContain(`MongoDB: ${db.databaseName}.payouts does not exist`);
  expect(refused.stdout).toContain('Kafka: the topic ');
  expect(await db.listCollections().toArray()).toEqual([]);

  const prepared = run(['prepare']);
  expect(prepared).toMatchObject({ status: 0, stderr: '' });
  expect(prepared.stdout).toMatch(
    /^payout-gateway: the database \S+ is prepared: \d+ collections, \d+ indexes\n$/,
  );
  expect(await db.collection('payouts').indexExists('reference_1')).toBe(true);
  expect(run(['prepare'])).toMatchObject({ status: 0, stdout: prepared.stdout });
  expect(run([]).stdout).not.toContain(`MongoDB: ${db.databaseName}`);

  expect(run(['prepare'], { OPERATOR_TOKEN: '' })).toMatchObject({ status: 2, stdout: '' });
  const unknown = run(['repair']);
  expect(unknown.status).toBe(2);
  expect(unknown.stderr).toContain('unknown argument');
  const unreachable = `${config.MONGODB_URL.replace(/\/\/[^/]+/, '//127.0.0.1:1')}&serverSelectionTimeoutMS=200`;
  expect(run(['prepare'], { MONGODB_URL: unreachable }).status).toBe(1);
});
