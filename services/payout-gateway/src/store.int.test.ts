import { openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { type CommandStartedEvent, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { merchantWith, openReplica, single, whole } from './acceptance.fixture.ts';
import { rebuildPayout } from './domain/rebuilt-payout.ts';
import { openPayoutStore, type PayoutStore } from './store.ts';

const resources = new AsyncDisposableStack();
const finds: CommandStartedEvent['command'][] = [];
const guarantee = z.object({ readConcern: z.object({ level: z.string() }).optional() });
const levelOf = (command: unknown) => guarantee.parse(command).readConcern?.level ?? 'as the client says';
let replica: Awaited<ReturnType<typeof openReplica>>;
let store: PayoutStore;

beforeAll(async () => {
  const config = await prepareTestEnvironment(['payout-gateway']);
  replica = await openReplica(resources.use(openTestScope(config)));
  const client = new MongoClient(config.MONGODB_URL, { useBigInt64: true, monitorCommands: true });
  resources.defer(() => client.close());
  client.on('commandStarted', ({ commandName, command }) => {
    if (commandName === 'find') finds.push(command);
  });
  store = openPayoutStore(client.db(replica.db.databaseName));
});

afterAll(async () => {
  await replica.db.dropDatabase();
  await resources.disposeAsync();
});

/** The result of a lookup, and the read concern of each read that it took. */
async function lookUp(merchantId: string, reference: string) {
  finds.length = 0;
  const found = await store.find(merchantId, reference);
  const levels = finds.map(levelOf);
  return { merchantReference: found && whole(found).order.merchantReference, levels };
}

test('a payout is found by its reference and by ours, by the usual reads', async () => {
  const accepted = await replica.payouts.submit(merchantWith('demo'), single('one'));
  const usual = 'as the client says';
  const ours = accepted.ok ? accepted.value.reference : 'refused';
  expect(await lookUp('demo', 'one')).toEqual({ merchantReference: 'one', levels: [usual] });
  expect(await lookUp('demo', ours)).toEqual({ merchantReference: 'one', levels: [usual, usual] });
});

test('that a reference is unused is answered after reads that a deposed primary can not answer', async () => {
  const { merchantReference, levels } = await lookUp('demo', 'nobody-has-it');
  expect(merchantReference).toBeUndefined();
  expect(levels.slice(-2)).toEqual(['linearizable', 'linearizable']);
  expect(finds.at(-2)).toMatchObject({ filter: { _id: expect.anything() as unknown }, maxTimeMS: 2_000 });
  expect(finds.at(-1)).toMatchObject({ filter: { reference: 'nobody-has-it' }, maxTimeMS: 2_000 });
});

test('payouts that have not ended are found, oldest first, by their index alone (ADR 27)', async () => {
  const plan = await replica.db
    .collection('payouts')
    .find({ status: 'INITIALIZED', acceptedAt: { $lt: new Date() } })
    .project({ _id: 0, reference: 1 })
    .sort({ acceptedAt: 1 })
    .explain('queryPlanner');
  const { winningPlan } = z.object({ winningPlan: z.unknown() }).parse(plan['queryPlanner']);
  const stages = JSON.stringify(winningPlan).match(/(?<="stage":")\w+/g);
  expect(stages).toEqual(['PROJECTION_COVERED', 'IXSCAN']);
});

test('what was brought back is in no queue, and not the newest that was sent to this database', async () => {
  await replica.payouts.submit(merchantWith('demo'), single('sent'));
  const newestMs = await store.newestAcceptedMs();
  const nowMs = Date.now();
  const payload = {
    eventId: 'ev',
    occurredAt: BigInt(nowMs + 60_000),
    reference: 'po-ffffffffffffffffffffffffffffffff',
    merchantReference: 'forgotten',
    merchantId: 'demo',
    currency: 'GHS',
    rail: 'upstream',
    amount: 10n,
    fee: 1n,
    country: 'GHA',
    channel: 'Mobile Money',
    bankCode: 'GHMTN',
    batchReference: null,
    contentCheck: 'q3Z',
  };
  const event = { type: 'pesewa.payouts.PayoutAccepted', version: 1n, causationId: '', payload } as const;
  const back = rebuildPayout([{ ...event, traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00` }], nowMs);
  if (!back) throw new Error('the events have no acceptance');
  await replica.messaging.inTransaction(({ session }) => replica.store.insert([back], session));
  expect(await store.find('demo', 'forgotten')).toEqual(back);
  expect(await store.collection.findOne({ reference: back.reference })).toMatchObject({ queue: 'none' });
  expect(await store.newestAcceptedMs()).toBe(newestMs);
  const both = new Set([back.reference, 'po-none']);
  expect(await store.findMissing(both)).toEqual(new Set(['po-none']));
});
