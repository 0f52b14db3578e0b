import { openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { type CommandStartedEvent, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestRail, merchantWith, openReplica, payin } from './fixtures/replica.ts';
import { type CollectionStore, openCollectionStore } from './store.ts';

const resources = new AsyncDisposableStack();
const finds: CommandStartedEvent['command'][] = [];
let replica: Awaited<ReturnType<typeof openReplica>>;
let store: CollectionStore;

beforeAll(async () => {
  const config = await prepareTestEnvironment();
  replica = await openReplica(resources.use(openTestScope(config)), { rail: createTestRail() });
  const client = new MongoClient(config.MONGODB_URL, { useBigInt64: true, monitorCommands: true });
  resources.defer(() => client.close());
  client.on('commandStarted', ({ commandName, command }) => {
    if (commandName === 'find') finds.push(command);
  });
  store = openCollectionStore(client.db(replica.db.databaseName));
});

afterAll(async () => {
  await replica.db.dropDatabase();
  await resources.disposeAsync();
});

test('NOT FOUND is answered after a read that a deposed primary can not answer (contract 4.9)', async () => {
  expect(await store.find('demo', 'nobody-has-it')).toBeUndefined();
  expect(finds.at(-1)).toMatchObject({
    readConcern: { level: 'linearizable' },
    maxTimeMS: 2_000,
    filter: { $or: [{ _id: 'demo:nobody-has-it' }] },
  });
});

test('a collection is found by its reference and by ours, by the usual reads', async () => {
  const accepted = await replica.collections.accept(merchantWith('demo'), payin('one'));
  if (!accepted.ok) throw new Error('the payin was refused');
  finds.length = 0;
  for (const reference of ['one', accepted.value.reference])
    expect(await store.find('demo', reference)).toMatchObject({ order: { merchantReference: 'one' } });
  expect(finds).not.toContainEqual(expect.objectContaining({ readConcern: { level: 'linearizable' } }));
});

test('collections are listed of one mobile operator alone', async () => {
  await replica.collections.accept(merchantWith('by-operator'), payin('gambia'));
  const list = async (operatorCode?: string) =>
    (await store.list({ merchantId: 'by-operator', operatorCode, limit: 9 }))?.map(
      ({ order }) => order.operatorCode,
    );
  const [operatorCode = ''] = (await list()) ?? [];
  expect(await list(operatorCode)).toEqual([operatorCode]);
  expect(await list('another')).toEqual([]);
});
