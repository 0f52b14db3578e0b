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
  const take = (owner: string, durationMs: number) => takeLease(leases, { name: 'job', owner, durationMs });
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
