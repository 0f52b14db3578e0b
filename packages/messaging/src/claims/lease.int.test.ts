import { eventually, openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { leasesOf, openDatabase, takeLease } from '../index.ts';
import { endLease } from './lease.ts';

it('a lease has one owner until it runs out by the clock of the server (R2)', async () => {
  const config = await prepareTestEnvironment();
  await using scope = openTestScope(config);
  const database = await scope.open(
    'database',
    openDatabase({ url: config.MONGODB_URL, database: `${config.DATABASE_PREFIX}lease`, appName: 'test' }),
  );
  const leases = leasesOf(database.db);
  const take = async (owner: string, durationMs: number) =>
    (await takeLease(leases, { name: 'job', owner, durationMs })) !== undefined;
  expect(await take('first', 60_000)).toBe(true);
  expect(await take('second', 60_000)).toBe(false);
  expect(await take('first', -1_000)).toBe(true);
  expect(await take('second', 60_000)).toBe(true);
  expect(await take('first', 60_000)).toBe(false);
  await endLease(leases, { name: 'job', owner: 'first' });
  expect(await take('first', 60_000)).toBe(false);
  await endLease(leases, { name: 'job', owner: 'second' });
  await eventually(async () => expect(await take('first', 60_000)).toBe(true), 5_000);
});

it('a lease is renewed where the database has it for as long as it was given, and nowhere else', async () => {
  const config = await prepareTestEnvironment();
  await using scope = openTestScope(config);
  const url = config.MONGODB_URL;
  const database = `${config.DATABASE_PREFIX}renewal`;
  const { db } = await scope.open('database', openDatabase({ url, database, appName: 'test' }));
  const leases = leasesOf(db);
  const renew = (renewedUntil?: Date) =>
    takeLease(leases, { name: 'job', owner: 'me', durationMs: 60_000, renewedUntil });
  const first = await renew();
  const second = await renew(first?.until);
  // The answer to the second renewal may be lost.
  const third = await renew(first?.until);
  expect(third?.until.getTime()).toBeGreaterThanOrEqual(second?.until.getTime() ?? Infinity);
  // The server's clock may be set back: as if it had been ahead by a minute before.
  await leases.updateOne({ _id: 'job' }, [{ $set: { until: { $add: ['$until', 60_000] } } }]);
  const ahead = await leases.findOne({ _id: 'job' });
  expect((await renew(third?.until))?.until).toEqual(ahead?.until);
  expect((await renew(ahead?.until))?.until).toEqual(ahead?.until);
  await leases.updateOne({ _id: 'job' }, [{ $set: { until: { $subtract: ['$until', 60_001] } } }]);
  expect(await renew(third?.until)).toBeUndefined();
  await leases.deleteOne({ _id: 'job' });
  expect(await renew(third?.until)).toBeUndefined();
  expect(await leases.countDocuments()).toBe(0);
});
