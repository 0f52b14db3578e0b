import { openTestScope, prepareTestEnvironment, type TestConfig } from '@pesewa/testkit';
import { beforeAll, expect, it } from 'vitest';
import { openMessagingAs } from '../index.ts';

interface Written {
  readonly _id: string;
}

let config: TestConfig;

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

it('a key that another transaction is about to take delays only items with that key', async () => {
  await using scope = openTestScope(config);
  const options = { service: 'contender', database: 'contender', produces: ['ledger'] } as const;
  const { client, db, groupCommit } = await openMessagingAs(scope, options);
  const written = await db.createCollection<Written>('written');
  const { submit } = groupCommit<string, string>(
    'test.contend',
    async (ids, { session }, isRetry) => {
      const among = { _id: { $in: [...ids] } };
      const taken = isRetry ? (await written.find(among, { session }).toArray()).map(({ _id }) => _id) : [];
      const fresh = ids.filter((id) => !taken.includes(id)).map((_id) => ({ _id }));
      if (fresh.length > 0) await written.insertMany(fresh, { session });
      return ids.map((id) => (taken.includes(id) ? `${id} was taken` : id));
    },
    { ownerOf: (id) => id.slice(0, 1) },
  );
  let finished = false;
  await client.withSession(async (session) => {
    session.startTransaction();
    await written.insertOne({ _id: 'a1' }, { session });
    const contested = submit('a1').finally(() => {
      finished = true;
    });
    const others = ['b1', 'c1', 'a2', 'd1'].map(submit);
    expect(await Promise.all(others)).toEqual(['b1', 'c1', 'a2', 'd1']);
    expect(await submit('e1')).toBe('e1');
    expect(finished).toBe(false);
    await session.commitTransaction();
    expect(await contested).toBe('a1 was taken');
  });
});
