import { systemClock } from '@pesewa/kernel';
import { openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';
import { leasesOf, openDatabase, openMessaging } from '../index.ts';
import { type Recovery, recoverDatabase } from './recovery.ts';

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

/** It consumes nothing, so no position is a sign of an older database. */
const service = 'webhook-ingress';

const start = (scope: ReturnType<typeof openTestScope>) => openMessaging(scope, { service });

/** Repairs the database; `pause` takes the place of the time in which whoever runs must end. */
async function recover(
  repair: (recovery: Recovery) => Promise<void>,
  pause: () => Promise<unknown> = async () => undefined,
  isRestored = true,
): Promise<string> {
  const sleep: typeof systemClock.sleep = async (durationMs, signal) =>
    durationMs === 7_000 ? void (await pause()) : systemClock.sleep(durationMs, signal);
  await using scope = openTestScope(config, { clock: { ...systemClock, sleep } });
  const options = { service, isDryRun: false, passesGaps: false, isRestored } as const;
  return await recoverDatabase(scope, { ...options, report: () => undefined }, repair);
}

const begins = ({ begin }: Recovery) => begin();

it('is refused while the service runs, which goes on', async () => {
  await using running = openTestScope(config);
  const { db } = await start(running);
  await expect(recover(begins)).rejects.toThrow('is running: stop the service');
  expect(await leasesOf(db).findOne({ _id: 'recovery' })).toBeNull();
});

/** A clock by which a process has its heartbeats only once it was woken. */
function openFrozenClock() {
  const woken = Promise.withResolvers<void>();
  const sleep: typeof systemClock.sleep = async (durationMs, signal) =>
    durationMs === 1_250 ? woken.promise : systemClock.sleep(durationMs, signal);
  return { clock: { ...systemClock, sleep }, wake: woken.resolve };
}

it('ends a process that runs unseen', async () => {
  const { clock, wake } = openFrozenClock();
  await using unseen = openTestScope(config, { clock });
  const { db } = await start(unseen);
  await leasesOf(db).updateMany({}, { $set: { until: new Date(Date.now() - 60_000) } });
  const ends = async () => {
    wake();
    await unseen.aborted;
    await unseen[Symbol.asyncDispose]();
  };
  expect(await recover(begins, ends)).toContain('recovered');
  expect((await unseen.aborted).message).toContain('a repair of this database is in progress');
});

type Leases = ReturnType<typeof leasesOf>;

it.each([
  ['its lease is gone', (leases: Leases) => leases.deleteMany({})],
  [
    'a backup has an older one',
    (leases: Leases) => leases.updateMany({}, { $set: { until: new Date(Date.now() - 60_000) } }),
  ],
])('ends a process that slept through it, or whose database was replaced: %s', async (_name, replace) => {
  await using sleeping = openTestScope(config);
  const { db } = await start(sleeping);
  await replace(leasesOf(db));
  expect((await sleeping.aborted).message).toContain('the database was repaired or replaced');
});

it('leaves the lock of another repair, which may have written, if that one wakes in its pause', async () => {
  const shown = Promise.withResolvers<Leases>();
  // The other one has begun after this one has looked whether a repair is to be continued, and has been silent since.
  const meets = async ({ begin, messaging }: Recovery) => {
    const leases = leasesOf(messaging.db);
    const other = { owner: 'other', until: new Date(Date.now() - 60_000) };
    await leases.insertMany(['recovery', 'alive/other'].map((_id) => ({ _id, ...other })));
    shown.resolve(leases);
    await begin();
  };
  const until = new Date(Date.now() + 60_000);
  const wakes = async () => (await shown.promise).updateOne({ _id: 'alive/other' }, { $set: { until } });
  await expect(recover(meets, wakes)).rejects.toThrow('other is running');
  await using scope = openTestScope(config);
  await expect(start(scope)).rejects.toThrow('run the program with the argument recover');
  const open = openDatabase({
    url: config.MONGODB_URL,
    database: `${config.DATABASE_PREFIX}ingress`,
    appName: 'test',
  });
  const { db } = await scope.open('database', open);
  await leasesOf(db).deleteMany({});
});

it('keeps the service stopped until it is done, however often it is begun', async () => {
  const dies = async ({ begin }: Recovery) => {
    await begin();
    throw new Error('died');
  };
  const expectStopped = async () => {
    await using refused = openTestScope(config);
    await expect(start(refused)).rejects.toThrow('run the program with the argument recover');
  };
  for (let time = 0; time < 2; time += 1) {
    await expect(recover(dies)).rejects.toThrow('died');
    await expectStopped();
  }
  // What has begun was begun for a reason, even if nothing shows it any more.
  expect(await recover(async () => undefined, undefined, false)).toContain('recovered');
  await using scope = openTestScope(config);
  await start(scope);
});

it('is refused if nothing shows an older database and nobody says that it was restored', async () => {
  await expect(recover(begins, undefined, false)).rejects.toThrow('recover it with --restored');
  await using scope = openTestScope(config);
  await start(scope);
});

it('of two at once at most one goes on, and never both', async () => {
  const began: string[] = [];
  const both = await Promise.allSettled(
    ['one', 'other'].map((name) =>
      recover(
        async ({ begin }) => {
          await begin();
          began.push(name);
        },
        () => systemClock.sleep(1_000),
      ),
    ),
  );
  expect(began.length).toBeLessThan(2);
  expect(both.filter(({ status }) => status === 'rejected').length).toBeGreaterThan(0);
  expect(await recover(async () => undefined)).toContain('recovered');
});
