import { systemClock } from '@pesewa/kernel';
import { openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';
import { leasesOf, openMessaging } from '../index.ts';
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

it('ends a process that runs unseen', async () => {
  await using unseen = openTestScope(config);
  const { db } = await start(unseen);
  await leasesOf(db).updateMany({}, { $set: { until: new Date(Date.now() - 60_000) } });
  const ends = async () => {
    await unseen.aborted;
    await unseen[Symbol.asyncDispose]();
  };
  expect(await recover(begins, ends)).toContain('recovered');
  expect((await unseen.aborted).message).toContain('a repair of this database is in progress');
});

it('ends a process that slept through it, or whose database was replaced: its lease is gone', async () => {
  await using sleeping = openTestScope(config);
  const { db } = await start(sleeping);
  await leasesOf(db).deleteMany({});
  expect((await sleeping.aborted).message).toContain('the database was repaired or replaced');
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
