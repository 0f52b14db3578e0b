import { connect, createServer, type Socket } from 'node:net';
import { openTestScope, prepareTestNames, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';
import { openDatabase, openMessaging } from './index.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestNames(['stalled']);
});

/** A way to the database on which, once it is stalled, nothing passes any more, and nothing closes. */
async function openWay(mongodbUrl: string) {
  const { hostname, port } = new URL(mongodbUrl);
  const sockets = new Set<Socket>();
  let stalled = false;
  const server = createServer((near) => {
    sockets.add(near);
    if (stalled) return;
    const far = connect(Number(port), hostname);
    sockets.add(far);
    near.pipe(far).pipe(near);
    for (const socket of [near, far]) socket.on('error', () => socket.destroy());
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return {
    url: `mongodb://127.0.0.1:${address.port}/?directConnection=true`,
    stall: () => {
      stalled = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    [Symbol.asyncDispose]: () =>
      new Promise<void>((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

it('work on a database that stalls without a word fails within twenty seconds', async () => {
  await using way = await openWay(config.MONGODB_URL);
  await using database = await openDatabase({ url: way.url, database: 'admin', appName: 'test' });
  way.stall();
  const startedMs = performance.now();
  await expect(database.db.collection('none').findOne({})).rejects.toThrow(/timed out|connect|server/i);
  expect(performance.now() - startedMs).toBeLessThan(22_000);
}, 40_000);

it('a database that stalls without a word makes a process not ready within seconds', async () => {
  await using way = await openWay(config.MONGODB_URL);
  await using scope = openTestScope({ ...config, MONGODB_URL: way.url });
  await openMessaging(scope, { service: 'stalled', database: 'stalled', produces: ['ledger'] });
  expect((await scope.health.readiness()).failures).not.toHaveProperty('mongodb');
  way.stall();
  const startedMs = performance.now();
  expect((await scope.health.readiness()).failures['mongodb']).toMatch(/no answer within/);
  expect(performance.now() - startedMs).toBeLessThan(6_000);
}, 40_000);
