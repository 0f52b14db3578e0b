import { openDatabase } from '@pesewa/messaging';
import { prepareTestEnvironment } from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { marksOf } from './marks.ts';

it('is as young as the database’s clock says', async () => {
  const { MONGODB_URL: url, DATABASE_PREFIX: prefix } = await prepareTestEnvironment();
  await using database = await openDatabase({ url, database: `${prefix}payouts`, appName: 'test' });
  const mark = marksOf(database.db);
  expect(await mark.isCurrentSince(30_000)).toBe(false);
  await mark.setCurrent();
  await mark.setCurrent();
  expect(await mark.isCurrentSince(30_000)).toBe(true);
  const aMinuteAgo = { $set: { at: { $subtract: ['$at', 60_000] } } };
  await database.db.collection('marks').updateMany({}, [aMinuteAgo]);
  expect(await mark.isCurrentSince(30_000)).toBe(false);
  expect(await mark.isCurrentSince(90_000)).toBe(true);
});
