import { systemClock } from '@pesewa/kernel';
import { openTestScope, prepareTestEnvironment } from '@pesewa/testkit';
import { type CommandStartedEvent, MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import { batch, merchantWith, openReplica, single } from './acceptance.fixture.ts';
import { rebuildPayout } from './domain/rebuilt-payout.ts';
import { marksOf } from './marks.ts';
import { recoverPayouts } from './recovery.ts';
import { openPayoutStore, type PayoutStore } from './store.ts';

const resources = new AsyncDisposableStack();
const finds: CommandStartedEvent['command'][] = [];
const guarantee = z.object({ readConcern: z.object({ level: z.string() }).optional() });
const levelOf = (command: unknown) => guarantee.parse(command).readConcern?.level ?? 'as the client says';
let replica: Awaited<ReturnType<typeof openReplica>>;
let store: PayoutStore;

beforeAll(async () => {
  const config = await prepareTestEnvironment();
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
  return { merchantReference: found?.order.merchantReference, levels };
}

test('a payout is found by its reference and by ours, by the usual reads', async () => {
  const accepted = await replica.payouts.request(merchantWith('demo'), single('one'));
  const usual = 'as the client says';
  const ours = accepted.ok ? accepted.value.reference : 'refused';
  expect(await lookUp('demo', 'one')).toEqual({ merchantReference: 'one', levels: [usual] });
  expect(await lookUp('demo', ours)).toEqual({ merchantReference: 'one', levels: [usual, usual] });
});

test('that a reference is unused is answered after a read that a deposed primary can not answer', async () => {
  const { merchantReference, levels } = await lookUp('demo', 'nobody-has-it');
  expect(merchantReference).toBeUndefined();
  expect(levels.slice(2)).toEqual(['linearizable']);
  expect(finds.at(-1)).toMatchObject({ maxTimeMS: 2_000 });
});

test('however many ask for what is not there, one read at a time makes it certain, and each gets its own answer', async () => {
  const hidden = await replica.payouts.request(merchantWith('demo'), single('hidden'));
  const ours = hidden.ok ? hidden.value.reference : 'refused';
  const { find } = store.collection;
  const nothing = { limit: () => ({ toArray: async () => [] }) };
  // As a deposed primary would answer that does not know the payout.
  Object.assign(store.collection, {
    find: (filter: object, options?: object) =>
      options === undefined ? nothing : find.call(store.collection, filter, options),
  });
  finds.length = 0;
  const references = [
    'hidden',
    ours,
    'po-none',
    ...Array.from({ length: 100 }, (_, index) => `none-${index}`),
  ];
  const found = await Promise.all(references.map((reference) => store.find('demo', reference)));
  Object.assign(store.collection, { find });
  expect(finds.map(levelOf)).toEqual(['linearizable', 'linearizable']);
  const merchantReferences = found.map((one) => one?.order.merchantReference);
  expect(merchantReferences).toEqual(['hidden', 'hidden', ...Array.from({ length: 101 }, () => undefined)]);
  expect(await store.find('other', ours)).toBeUndefined();
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
  await replica.payouts.request(merchantWith('demo'), single('sent'));
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
  const back = rebuildPayout([{ ...event, traceparent: `00-${'1'.repeat(32)}-${'2'.repeat(16)}-00` }]);
  if (!back) throw new Error('the events have no acceptance');
  await replica.messaging.inTransaction(({ session }) => replica.store.insert([back], session));
  expect(await store.find('demo', 'forgotten')).toEqual(back);
  expect(await store.collection.findOne({ reference: back.reference })).toMatchObject({ queue: 'none' });
  expect(await store.newestAcceptedMs()).toBe(newestMs);
  expect(await store.findVersions([back.reference, 'po-none'])).toEqual(new Map([[back.reference, 1n]]));
});

test('payouts are listed by merchant, status and time, the newest first, page by page, and no batch among them', async () => {
  const listing = merchantWith('listing');
  const sinceMs = Date.now();
  for (const reference of ['first', 'second', 'third'])
    await replica.payouts.request(listing, single(reference));
  await replica.batches.request(listing, batch('all', [['fourth', 5]]));
  await replica.payouts.request(merchantWith('another'), single('other'));
  const list = async (query: object) => {
    const found = await store.list({ merchantId: 'listing', limit: 10, ...query });
    return (found ?? []).map(({ order }) => order.merchantReference);
  };
  expect(await list({})).toEqual(['fourth', 'third', 'second', 'first']);
  expect(await list({ fromMs: sinceMs, toMs: Date.now() + 1 })).toHaveLength(4);
  for (const none of [{ toMs: sinceMs }, { fromMs: Date.now() + 60_000 }, { status: 'COMPLETED' }])
    expect(await list(none)).toEqual([]);
  const [, second] = (await store.list({ merchantId: 'listing', limit: 2 })) ?? [];
  expect(await list({ before: second?.reference })).toEqual(['second', 'first']);
  expect(await list({ merchantId: undefined, fromMs: sinceMs, toMs: Date.now() + 1 })).toContain('other');
  const ids = ['another:other', 'another:all', 'listing:all', 'listing:second', 'listing:none'];
  expect(await list({ merchantId: undefined, ids })).toEqual(['other', 'second']);
  const unended = { ids, merchantId: undefined, status: 'INITIALIZED' };
  expect(await list({ ...unended, rail: 'upstream' })).toEqual(['other', 'second']);
  expect(await list({ ...unended, rail: 'nowhere' })).toEqual([]);
});

const seen = (found: readonly { readonly merchantReference: string }[] | undefined) =>
  (found ?? []).map(({ merchantReference }) => merchantReference);

test('the ends of a time are those of when payouts were accepted, the first one included', async () => {
  const lister = merchantWith('times');
  await replica.payouts.request(lister, single('edge'));
  const [edge] = (await store.list({ merchantId: 'times', limit: 2 })) ?? [];
  const atMs = edge?.acceptedAtMs ?? 0;
  const count = async (query: object) =>
    (await store.list({ merchantId: 'times', limit: 2, ...query }))?.length;
  expect(await count({ fromMs: atMs, toMs: atMs + 1 })).toBe(1);
  expect(await count({ toMs: atMs })).toBe(0);
  expect(await count({ fromMs: atMs + 1 })).toBe(0);
});

test('batches are listed with what they have in all, and their items alone', async () => {
  const lister = merchantWith('lister');
  await replica.batches.request(
    lister,
    batch('june', [
      ['june-1', 5],
      ['june-2', 6],
      ['june-3', 7],
    ]),
  );
  await replica.payouts.request(lister, single('between'));
  await replica.batches.request(lister, batch('july', [['july-1', 8]]));
  await replica.batches.request(merchantWith('stranger'), batch('july', [['july-1', 9]]));
  const listed = await store.listBatches({ merchantId: 'lister', limit: 10 });
  expect(seen(listed)).toEqual(['july', 'june']);
  expect(listed?.[1]).toMatchObject({ itemCount: 3, total: { minor: 1_800n, currency: 'GHS' } });
  const [july, june] = listed ?? [];
  expect(
    seen(await store.listBatches({ merchantId: 'lister', before: july?.batchReference, limit: 1 })),
  ).toEqual(['june']);
  const items = await store.list({ merchantId: 'lister', batch: june, limit: 10 });
  expect(seen(items?.map(({ order }) => order)).toSorted()).toEqual(['june-1', 'june-2', 'june-3']);
  expect(await store.findBatch('lister', 'june')).toEqual(june);
  expect(await store.findBatch('lister', june?.batchReference ?? '')).toEqual(june);
  for (const [merchantId, reference] of [
    ['stranger', 'june'],
    ['stranger', june?.batchReference ?? ''],
    ['lister', 'june-1'],
  ] as const)
    expect(await store.findBatch(merchantId, reference)).toBeUndefined();
});

test('a merchant with few payouts among many is found without reading the many', async () => {
  const [{ document } = { document: undefined }] = await store.collection
    .aggregate<{ document: object }>([
      { $match: { merchantId: 'lister' } },
      { $limit: 1 },
      { $project: { _id: 0, document: '$$ROOT' } },
    ])
    .toArray();
  const many = Array.from({ length: 5_000 }, (_, index) => ({
    ...document,
    _id: `crowd:${index}`,
    merchantId: 'crowd',
    reference: `po-${(0xffff_ffff_0000 + index).toString(16)}`,
  }));
  await replica.db.collection<{ _id: string }>('payouts').insertMany(many);
  finds.length = 0;
  expect(await store.list({ merchantId: 'lister', limit: 3 })).toHaveLength(3);
  const [find] = finds;
  const { filter, sort, limit } = z
    .object({ filter: z.record(z.string(), z.unknown()), sort: z.unknown(), limit: z.unknown() })
    .parse(find);
  const explained = await replica.db
    .collection('payouts')
    .find(filter)
    .sort(sort as { reference: -1 })
    .limit(Number(limit))
    .explain('executionStats');
  const { totalDocsExamined } = z
    .object({ totalDocsExamined: z.coerce.number() })
    .parse(explained['executionStats']);
  expect(totalDocsExamined).toBeLessThan(20);
});

test('payouts that may have been sent wait for what their rail says; those at their rail, and ended ones, stay', async () => {
  const [waiting, due, taken, caughtUp, over] = ['waiting', 'due', 'taken', 'caught-up', 'over'];
  for (const reference of [waiting, due, taken, caughtUp, over])
    await replica.payouts.request(merchantWith('doubted'), single(reference ?? ''));
  const find = (reference = '') => store.collection.findOne({ _id: `doubted:${reference}` });
  const set = (reference: string, fields: object) =>
    store.collection.updateOne({ _id: `doubted:${reference}` }, { $set: fields });
  await set('due', { step: 'held', dueAt: new Date(), claim: 'cl-1', attempts: 1 });
  await set('taken', { step: 'submitted', attemptedAt: new Date() });
  await set('caught-up', { step: 'submitted' });
  await set('over', { status: 'FAILED', step: 'ended' });
  const kept = [await find(taken), await find(over)];
  const reported: string[] = [];
  for (const isDryRun of [true, false])
    await recoverPayouts({
      messaging: replica.messaging,
      store: replica.store,
      marks: marksOf(replica.db),
      clock: systemClock,
      isDryRun,
      isRestored: true,
      passesGaps: false,
      begin: async () => undefined,
      report: (line) => void reported.push(line),
    });
  expect(reported[0]).toMatch(/^the rails are asked about \d+ payouts before any of them is sent$/);
  expect(reported).toEqual([reported[0], reported[0]]);
  const anyDate: unknown = expect.any(Date);
  const doubted = { status: 'INITIALIZED', version: 2n, earlierUnclear: true, attempts: 1 };
  expect(await find(waiting)).toMatchObject({ ...doubted, step: 'awaitingHold', attemptedAt: anyDate });
  const asked = await find(due);
  expect(asked).toMatchObject({ ...doubted, step: 'unknown', attempts: 2, attemptedAt: anyDate });
  expect(asked).not.toHaveProperty('dueAt');
  expect(asked).not.toHaveProperty('claim');
  expect([await find(taken), await find(over)]).toEqual(kept);
  // The rail's word about it would be refused otherwise.
  expect(await find(caughtUp)).toMatchObject({ step: 'submitted', version: 1n, attemptedAt: anyDate });
});
