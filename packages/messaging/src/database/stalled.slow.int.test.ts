import { openStallableProxy, openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';
import { openDatabase, openMessagingAs } from '../index.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

it('work on a database that stalls without a word fails within twenty seconds', async () => {
  await using way = await openStallableProxy(config.MONGODB_URL);
  await using database = await openDatabase({ url: way.url, database: 'admin', appName: 'test' });
  way.stall();
  const startedMs = performance.now();
  await expect(database.db.collection('none').findOne({})).rejects.toThrow(/timed out|connect|server/i);
  expect(performance.now() - startedMs).toBeLessThan(22_000);
  way.letGo();
}, 40_000);

it('a database that stalls without a word makes a process not ready within seconds', async () => {
  await using way = await openStallableProxy(config.MONGODB_URL);
  await using scope = openTestScope({ ...config, MONGODB_URL: way.url });
  await openMessagingAs(scope, { service: 'stalled', database: 'stalled', produces: ['ledger'] });
  expect((await scope.health.readiness()).failures).not.toHaveProperty('mongodb');
  way.stall();
  const startedMs = performance.now();
  expect((await scope.health.readiness()).failures['mongodb']).toMatch(/no answer within/);
  expect(performance.now() - startedMs).toBeLessThan(6_000);
  way.letGo();
}, 40_000);
