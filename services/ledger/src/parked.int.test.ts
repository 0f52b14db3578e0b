import { type OutgoingEvent, openMessaging, openMessagingAs, outboxOf } from '@pesewa/messaging';
import { createOperators, guardOperator } from '@pesewa/runtime';
import {
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
} from '@pesewa/testkit';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createApprovals } from './approvals.ts';
import { type ApprovedOrder, commandEventOf } from './command-events.ts';
import { COMMANDS, type OrderDocument } from './commands.ts';
import { ledgerDatabaseSchema } from './database-schema.ts';
import { collectionNames, type PostingDocument } from './documents.ts';
import type { Order } from './domain/orders.ts';
import { createHandlers } from './handlers.ts';
import { createPublishedCheck } from './lacking-events.ts';
import { CURRENCY, collected } from './ledger.fixture.ts';
import { createPostings } from './postings.ts';
import { openLedgerStore } from './store.ts';

let config: TestConfig;
let db: Db;
let call: (method: 'GET' | 'POST', path: string) => Promise<Record<string, unknown>>;
let publish: (...events: readonly OutgoingEvent[]) => Promise<void>;
let parkedBefore = 0;
const scopes: TestScope[] = [];

beforeAll(async () => {
  config = await prepareTestEnvironment();
  const scope = openTestScope(config);
  scopes.push(scope);
  const produces = ['ledgerCommands', 'collections'] as const;
  const source = await openMessagingAs(scope, { service: 'source', database: 'source', produces });
  const publishing = source.groupCommit<readonly OutgoingEvent[], void>('source', async (lists, { emit }) => {
    for (const event of lists.flat()) emit(event);
    return lists.map(() => undefined);
  });
  publish = (...events) => publishing.submit(events);
  await openLedger();
});

beforeEach(async () => {
  parkedBefore = (await reasons()).length;
});

afterAll(async () => {
  await db.dropDatabase();
  await db.client.db(`${config.DATABASE_PREFIX}source`).dropDatabase();
  for (const scope of scopes.reverse()) await scope[Symbol.asyncDispose]();
});

/** Only the consuming ledger: its only input is its topics. */
async function openLedger(): Promise<void> {
  const scope = openTestScope(config);
  scopes.push(scope);
  const { clock } = scope;
  const messaging = await openMessaging(scope, { service: 'ledger', databaseSchema: ledgerDatabaseSchema });
  ({ db } = messaging);
  const store = openLedgerStore(db);
  const postings = createPostings({ store, clock, policy: { refundFee: false } });
  const checkPublished = createPublishedCheck({ messaging, store });
  await messaging.consume(createHandlers({ postings, approvals: createApprovals(db), checkPublished }));
  const app = guardOperator(scope.operator, createOperators('the-token-of-an-operator'));
  const headers = { authorization: 'Bearer the-token-of-an-operator' };
  call = async (method, path) =>
    (await (await app.request(path, { method, headers })).json()) as Record<string, unknown>;
}

async function reasons(): Promise<readonly unknown[]> {
  const found = await db.collection('parked').find().sort({ parkedAt: 1, _id: 1 }).toArray();
  return found.map(({ reason }): unknown => reason);
}

const parked = async () => (await reasons()).slice(parkedBefore);

async function postingIds(reference: string): Promise<readonly string[]> {
  const postings = db.collection<PostingDocument>(collectionNames.postings);
  const found = await postings.find({ reference }).sort({ _id: 1 }).toArray();
  return found.map(({ _id }) => _id);
}

/** An order after two operators have agreed. */
function approvedOrder(commandId: string): ApprovedOrder {
  return {
    commandId,
    kind: 'fund',
    target: 'demo',
    currency: CURRENCY,
    amount: 700n,
    requestedBy: 'ama',
    at: new Date(0),
    status: 'approved',
    decidedBy: 'kofi',
    decidedAt: new Date(0),
  };
}

async function store({ commandId, ...order }: Order): Promise<void> {
  await db.collection<OrderDocument>(COMMANDS).insertOne({ _id: commandId, ...order });
}

/** Waits until the ledger has applied an order that follows everything published so far. */
async function expectApplied(commandId: string): Promise<void> {
  const order = approvedOrder(commandId);
  await store(order);
  await publish(commandEventOf(order));
  await eventually(async () => expect(await postingIds(commandId)).toEqual([`${commandId}/fund`]));
}

test('an order without a proposal, or without a second operator’s approval, moves nothing and is parked', async () => {
  const { decidedBy: _by, decidedAt: _at, ...open } = approvedOrder('cm-open');
  await store({ ...open, status: 'proposed' });
  await store({ ...approvedOrder('cm-own'), decidedBy: 'ama' });
  const forged = ['cm-none', 'cm-open', 'cm-own'];
  await publish(...forged.map((id) => commandEventOf(approvedOrder(id))));
  await expectApplied('cm-first');
  await eventually(async () =>
    expect(await parked()).toEqual([
      'no such order was proposed',
      'the order is proposed, not approved',
      'the order was approved by its maker',
    ]),
  );
  for (const id of forged) expect(await postingIds(id)).toEqual([]);
});

test('an approved order is applied once, and nothing else under its id', async () => {
  const order = approvedOrder('cm-twice');
  await store(order);
  const forgeries = [{ amount: 7_000n }, { target: 'rival' }, { kind: 'withdraw' }, { decidedBy: 'esi' }];
  const events = forgeries.map((change) => commandEventOf({ ...order, ...change } as ApprovedOrder));
  // Each is a message of its own, because parked messages are reported by their ids.
  for (const event of events) {
    await publish(event);
    await expectApplied(`cm-after-${events.indexOf(event)}`);
  }
  expect(await postingIds('cm-twice')).toEqual([]);
  await publish(commandEventOf(order), commandEventOf(order));
  await eventually(async () => expect(await postingIds('cm-twice')).toEqual(['cm-twice/fund']));
  await eventually(async () =>
    expect((await parked()).map(String).toSorted()).toEqual([
      'the approved order has another amount',
      'the approved order has another approvedBy',
      'the approved order has another kind',
      'the approved order has another target',
    ]),
  );
});

test('an order that came too early moves money once it is replayed, and what its wallet does next follows it', async () => {
  const order = approvedOrder('cm-hasty');
  await publish(commandEventOf(order));
  await expectApplied('cm-before');
  const { items } = await call('GET', '/parked?state=parked');
  const [hasty] = (items as readonly Record<string, unknown>[]).filter(
    ({ eventId }) => eventId === commandEventOf(order).payload.eventId,
  );
  const path = `/parked/${encodeURIComponent(String(hasty?.['id']))}`;
  expect(await call('POST', `${path}/replay`)).toMatchObject({
    message: 'the message stays parked: no such order was proposed',
  });
  await store(order);
  const replays = await Promise.all([call('POST', `${path}/replay`), call('POST', `${path}/replay`)]);
  expect(replays).toMatchObject([{ state: 'replayed' }, { state: 'replayed' }]);
  expect(await postingIds('cm-hasty')).toEqual(['cm-hasty/fund']);
  // The replay has written a page that the partition's owner does not know of.
  await expectApplied('cm-after-the-hasty');
});

test('what was applied before is known, whether or not its order can still be found', async () => {
  await expectApplied('cm-early');
  await db.collection<OrderDocument>(COMMANDS).deleteOne({ _id: 'cm-early' });
  await publish(commandEventOf(approvedOrder('cm-early')));
  await expectApplied('cm-later');
  await eventually(async () => expect(await outboxOf(db).countDocuments()).toBe(0));
  expect(await parked()).toEqual([]);
});

test('of two collections under one reference that contradict each other one counts, and the topic goes on', async () => {
  await publish(collected('shop', 'co-odd', 20n), collected('shop', 'co-odd', 500n, 2));
  await publish(collected('shop', 'co-next', 300n));
  await eventually(async () => expect(await postingIds('co-next')).toEqual(['co-next/collect']));
  expect(await postingIds('co-odd')).toEqual(['co-odd/collect']);
  await eventually(async () => expect(await parked()).toEqual(['credited before with other money']));
});
