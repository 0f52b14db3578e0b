import { formatAmount, parseAmount } from '@pesewa/kernel';
import { type Messaging, type OutgoingEvent, openMessaging, openMessagingAs } from '@pesewa/messaging';
import {
  asOperator,
  createTestKafka,
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
  type TopicReader,
  topicNameOf,
} from '@pesewa/testkit';
import type { Hono } from 'hono';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApp } from './app.ts';
import { createApprovals } from './approvals.ts';
import { createCommands } from './commands.ts';
import { ledgerDatabaseSchema } from './database-schema.ts';
import { createHandlers } from './handlers.ts';
import { createPublishedCheck } from './lacking-events.ts';
import { CURRENCY, collected, payout, RAIL } from './ledger.fixture.ts';
import { anyTarget, openTestOperators } from './orders.fixture.ts';
import { createPostings } from './postings.ts';
import { createStatements } from './statements.ts';
import { openLedgerStore } from './store.ts';

let config: TestConfig;
let source: Messaging;
let ledger: Awaited<ReturnType<typeof openLedger>>;
let readTopic: TopicReader;
let publish: (...events: readonly OutgoingEvent[]) => Promise<void>;
const scopes: TestScope[] = [];

beforeAll(async () => {
  config = await prepareTestEnvironment();
  const scope = openTestScope(config);
  scopes.push(scope);
  source = await openMessagingAs(scope, {
    service: 'source',
    database: 'source',
    produces: ['payouts', 'collections'],
  });
  const publishing = source.groupCommit<readonly OutgoingEvent[], void>(
    'source',
    async (lists, transaction) => {
      for (const event of lists.flat()) transaction.emit(event);
      return lists.map(() => undefined);
    },
  );
  publish = (...events) => publishing.submit(events);
  readTopic = await createTopicReader(config);
  ledger = await openLedger();
});

afterAll(async () => {
  await source.client.db(`${config.DATABASE_PREFIX}ledger`).dropDatabase();
  await source.db.dropDatabase();
  for (const scope of scopes.reverse()) await scope[Symbol.asyncDispose]();
});

async function openLedger() {
  const scope = openTestScope(config);
  scopes.push(scope);
  const { clock, ids, logger } = scope;
  const messaging = await openMessaging(scope, { service: 'ledger', databaseSchema: ledgerDatabaseSchema });
  const store = openLedgerStore(messaging.db);
  const postings = createPostings({ store, clock, policy: { refundFee: false } });
  const checkPublished = createPublishedCheck({ messaging, store });
  await messaging.consume(
    createHandlers({ postings, approvals: createApprovals(messaging.db), checkPublished }),
  );
  const commands = createCommands({ db: messaging.db, messaging, ids, clock });
  const statements = createStatements(messaging.db);
  const orders = { commands, targets: anyTarget };
  const app: Hono = createApp({ store, statements, ...orders, clock, logger });
  return { app, db: messaging.db, scope };
}

function fund(merchantId: string, minor: bigint, commandId: string): Promise<Response> {
  const order = { merchantId, currency: CURRENCY, amount: formatAmount(minor, CURRENCY), commandId };
  return openTestOperators(ledger.app).order('fund', order);
}

async function becomes(merchantId: string, available: bigint, held: bigint, sequence: number): Promise<void> {
  await eventually(async () => {
    const answer = await asOperator(ledger.app).request(`/accounts/${merchantId}/${CURRENCY}`);
    expect(await answer.json()).toEqual({
      merchantId,
      currency: CURRENCY,
      sequence,
      available: formatAmount(available, CURRENCY),
      held: formatAmount(held, CURRENCY),
    });
  });
}

/** Makes Kafka forget the group's offsets, so that it starts again from the first message. */
async function forgetGroup(groupId: string): Promise<void> {
  const admin = createTestKafka(config).admin();
  await admin.connect();
  await admin.deleteGroups([groupId]);
  await admin.disconnect();
}

type Said = Pick<Awaited<ReturnType<typeof readTopic>>[number], 'type' | 'payload'>;

/** The published events by event id; a repetition must be identical. */
async function said(): Promise<ReadonlyMap<unknown, Said>> {
  const events = new Map<unknown, Said>();
  for (const { type, payload } of await readTopic(topicNameOf(config, 'ledger'))) {
    const { eventId } = payload;
    expect({ type, payload }).toEqual(events.get(eventId) ?? { type, payload });
    events.set(eventId, { type, payload });
  }
  return events;
}

async function heard(merchantId: string): Promise<readonly string[]> {
  return [...(await said()).values()]
    .filter(({ payload }) => payload['merchantId'] === merchantId)
    .map((message) => message.type.replace('pesewa.ledger.', ''));
}

test('a wallet is funded once, whatever is sent again, and other content under one id is refused', async () => {
  expect((await fund('funded', 5_000n, 'cm-funded')).status).toBe(202);
  expect((await fund('funded', 5_000n, 'cm-funded')).status).toBe(202);
  expect((await fund('funded', 5_001n, 'cm-funded')).status).toBe(409);
  await becomes('funded', 5_000n, 0n, 1);
  const order = await openTestOperators(ledger.app).as('operator', '/commands/cm-funded');
  expect(await order.json()).toMatchObject({ commandId: 'cm-funded', status: 'applied' });
});

test('payouts are held, captured, released and refunded, and duplicates change nothing', async () => {
  await fund('payer', 10_000n, 'cm-payer');
  await becomes('payer', 10_000n, 0n, 1);
  await publish(payout('accepted', 'payer', 'po-a', 1_000n), payout('accepted', 'payer', 'po-b', 2_000n));
  await becomes('payer', 6_980n, 3_020n, 3);
  await publish(payout('completed', 'payer', 'po-a', 1_000n), payout('failed', 'payer', 'po-b', 2_000n));
  await becomes('payer', 8_990n, 0n, 6);
  for (const round of [1, 2]) {
    await publish(
      payout('accepted', 'payer', 'po-a', 1_000n, round),
      payout('completed', 'payer', 'po-a', 1_000n, round),
      payout('failed', 'payer', 'po-b', 2_000n, round),
      payout('reversed', 'payer', 'po-a', 1_000n, round),
    );
  }
  await becomes('payer', 9_990n, 0n, 7);
  const answer = await asOperator(ledger.app).request('/entries?reference=po-a');
  const page = (await answer.json()) as { items: { id: string }[]; next: string | null };
  expect(page.items.map(({ id }) => id)).toEqual([
    'po-a/capture',
    'po-a/fee',
    'po-a/railCost',
    'po-a/hold',
    'po-a/refund',
  ]);
  expect(await heard('payer')).toEqual([
    'WalletFunded',
    'HoldPlaced',
    'HoldPlaced',
    'HoldCaptured',
    'HoldReleased',
    'PayoutRefunded',
  ]);
});

test('of two holds that race for the same money one is refused, and stays so after a funding and a replay', async () => {
  await fund('racer', 1_500n, 'cm-racer');
  await becomes('racer', 1_500n, 0n, 1);
  await publish(payout('accepted', 'racer', 'po-c', 1_000n), payout('accepted', 'racer', 'po-d', 1_000n));
  await becomes('racer', 490n, 1_010n, 2);
  await fund('racer', 9_000n, 'cm-racer-2');
  await becomes('racer', 9_490n, 1_010n, 3);
  await publish(payout('accepted', 'racer', 'po-d', 1_000n, 2), payout('accepted', 'racer', 'po-e', 90n));
  await becomes('racer', 9_390n, 1_110n, 4);
  expect(await heard('racer')).toEqual([
    'WalletFunded',
    'HoldPlaced',
    'HoldRefused',
    'WalletFunded',
    'HoldPlaced',
  ]);
});

test('topics that move one new wallet at once lose nothing', async () => {
  const rounds = Array.from({ length: 40 }, (_, index) => index);
  await Promise.all(
    rounds.flatMap((round) => [
      fund('busy', 100n, `cm-busy-${round}`),
      publish(collected('busy', `co-busy-${round}`, 200n), collected('busy', `co-busy-${round}`, 200n, 2)),
    ]),
  );
  await becomes('busy', 40n * (100n + 180n), 0n, 80);
  await eventually(async () => {
    const balances = await readTopic(topicNameOf(config, 'wallets'));
    const sequences = balances
      .filter(({ payload }) => payload['merchantId'] === 'busy')
      .map(({ payload }) => payload['sequence']);
    expect(sequences).toContain(80n);
  });
});

test('a replay of every topic from the start changes nothing, and says nothing new', async () => {
  await publish(collected('replayed', 'co-r', 500n));
  await becomes('replayed', 480n, 0n, 1);
  const contents = async () => {
    const names = ['postings', 'wallets', 'refusals', 'accounts'];
    return Promise.all(names.map((name) => ledger.db.collection(name).find().sort({ _id: 1 }).toArray()));
  };
  const before = await contents();
  const saidBefore = await said();
  const sourceOffsets = await ledger.db
    .collection<{ _id: string; next: bigint }>('consumer_offsets')
    .find()
    .toArray();
  await ledger.scope[Symbol.asyncDispose]();
  scopes.pop();
  await forgetGroup(`${config.TOPIC_PREFIX}ledger`);
  await source.client.db(`${config.DATABASE_PREFIX}ledger`).collection('consumer_offsets').deleteMany({});
  ledger = await openLedger();
  await eventually(async () => {
    const now = await ledger.db
      .collection<{ _id: string; next: bigint }>('consumer_offsets')
      .find()
      .toArray();
    const wanted = sourceOffsets.filter(({ next }) => next > 0n).map(({ _id, next }) => ({ _id, next }));
    expect(now.map(({ _id, next }) => ({ _id, next }))).toEqual(expect.arrayContaining(wanted));
  });
  expect(await contents()).toEqual(before);
  expect((await readTopic(topicNameOf(config, 'ledger'))).length).toBeGreaterThan(saidBefore.size);
  expect(await said()).toEqual(saidBefore);
});

test('what every account was debited is what every other was credited', async () => {
  const postings = await ledger.db
    .collection<{ entries: readonly { debit: string; credit: string; amount: bigint }[] }>('postings')
    .find()
    .toArray();
  const balances = new Map<string, bigint>();
  for (const { debit, credit, amount } of postings.flatMap(({ entries }) => entries)) {
    balances.set(debit, (balances.get(debit) ?? 0n) + amount);
    balances.set(credit, (balances.get(credit) ?? 0n) - amount);
  }
  const floats = await asOperator(ledger.app).request('/floats');
  const balance = formatAmount(balances.get(`float:${RAIL}:${CURRENCY}`) ?? 0n, CURRENCY);
  expect(await floats.json()).toEqual({ items: [{ rail: RAIL, currency: CURRENCY, balance }], next: null });
  const wallets = await ledger.db
    .collection<{ _id: string; available: bigint; held: bigint }>('wallets')
    .find()
    .toArray();
  for (const { _id, available, held } of wallets) {
    expect(-(balances.get(`wallet:${_id}:available`) ?? 0n)).toBe(available);
    expect(-(balances.get(`wallet:${_id}:held`) ?? 0n)).toBe(held);
  }
});

test('the trial balance is that of all postings, and its debits are its credits', async () => {
  const answer = await asOperator(ledger.app).request('/trial-balance');
  const { items } = (await answer.json()) as {
    readonly items: readonly { account: string; debit: string; credit: string }[];
  };
  const sum = (side: 'debit' | 'credit') =>
    items.reduce((total, { [side]: text }) => {
      const amount = parseAmount(text, CURRENCY);
      return total + (amount.ok ? amount.value.minor : 0n);
    }, 0n);
  expect(sum('debit')).toBeGreaterThan(0n);
  expect(sum('debit')).toBe(sum('credit'));
  const wallets = await ledger.db.collection<{ available: bigint }>('wallets').find().toArray();
  const available = wallets.reduce((total, wallet) => total + wallet.available, 0n);
  expect(items).toContainEqual({
    currency: CURRENCY,
    account: `wallets:available:${CURRENCY}`,
    debit: '0',
    credit: formatAmount(available, CURRENCY),
  });
});
