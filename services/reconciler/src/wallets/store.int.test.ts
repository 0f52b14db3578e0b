import { openDatabase } from '@pesewa/messaging';
import { openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { type FloatMove, openWalletStore } from './store.ts';

it('adds up the movements of a partition, and those of an order once, also if its id is the number of a partition', async () => {
  const config = await prepareTestEnvironment();
  await using scope = openTestScope(config);
  const database = `${config.DATABASE_PREFIX}floats`;
  const { client, db } = await scope.open(
    'database',
    openDatabase({ url: config.MONGODB_URL, database, appName: 'test' }),
  );
  const store = openWalletStore(db);
  const at = { rail: 'upstream', currency: 'KES' };
  const paid = (minor: bigint): FloatMove => ({ ...at, minor, by: 3 });
  const funded: FloatMove = { ...at, minor: 1_000n, by: '3' };
  const move = (...moves: FloatMove[]) => client.withSession((session) => store.move(moves, session));
  await move(paid(-100n), paid(40n), funded, funded);
  await move(paid(-10n), funded);
  expect([...(await store.floats('upstream'))]).toEqual([['KES', { credits: 1_040n, debits: 110n }]]);
  expect(await db.collection('floats').countDocuments()).toBe(2);
  await db.dropDatabase();
});
