import { DAY_MS } from '@pesewa/kernel';
import { openMessaging } from '@pesewa/messaging';
import {
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
  type TopicReader,
  topicNameOf,
} from '@pesewa/testkit';
import { Hono } from 'hono';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createApprovals } from './approvals.ts';
import { addCommandRoutes } from './command-routes.ts';
import { createCommands } from './commands.ts';
import { ledgerDatabaseSchema } from './database-schema.ts';
import { createHandlers } from './handlers.ts';
import { createPublishedCheck } from './lacking-events.ts';
import { anyTarget, openTestOperators, type TestOperators } from './orders.fixture.ts';
import { createPostings } from './postings.ts';
import { openLedgerStore } from './store.ts';

let config: TestConfig;
let readTopic: TopicReader;
let db: Db;
/** Two replicas over one database, so that their transactions compete. */
let replicas: readonly TestOperators[];
const scopes: TestScope[] = [];
let aheadMs = 0;

beforeAll(async () => {
  config = await prepareTestEnvironment();
  replicas = [await openReplica(), await openReplica()];
  readTopic = await createTopicReader(config);
});

afterAll(async () => {
  await db.dropDatabase();
  for (const scope of scopes.reverse()) await scope[Symbol.asyncDispose]();
});

/** Only orders, without postings: nothing is applied, so that every status can be observed. */
async function openReplica(): Promise<TestOperators> {
  const scope = openTestScope(config);
  scopes.push(scope);
  const messaging = await openMessaging(scope, { service: 'ledger', databaseSchema: ledgerDatabaseSchema });
  ({ db } = messaging);
  const clock = { ...scope.clock, nowMs: () => scope.clock.nowMs() + aheadMs };
  const commands = createCommands({ db, messaging, ids: scope.ids, clock });
  const app = new Hono();
  addCommandRoutes(app, { commands, targets: anyTarget });
  return openTestOperators(app);
}

/** A ledger that applies approved orders, beside the replicas that only record them. */
async function openPostingLedger(): Promise<TestOperators> {
  const posting = openTestScope(config);
  scopes.push(posting);
  const { clock } = posting;
  const messaging = await openMessaging(posting, { service: 'ledger', databaseSchema: ledgerDatabaseSchema });
  const store = openLedgerStore(messaging.db);
  const postings = createPostings({ store, clock, policy: { refundFee: false } });
  const checkPublished = createPublishedCheck({ messaging, store });
  await messaging.consume(
    createHandlers({ postings, approvals: createApprovals(messaging.db), checkPublished }),
  );
  return replica(0);
}

const replica = (index: number): TestOperators => {
  const one = replicas[index % replicas.length];
  if (!one) throw new RangeError('no such replica');
  return one;
};

const order = (commandId: string) => ({ merchantId: 'demo', currency: 'KES', amount: '12.5', commandId });

async function propose(commandId: string): Promise<void> {
  const answer = await replica(0).as('operator', '/commands/fund', order(commandId));
  expect(answer.status).toBe(202);
}

const statusesOf = (answers: readonly Response[]) => answers.map(({ status }) => status);

async function eventsOf(commandId: string) {
  const messages = await readTopic(topicNameOf(config, 'ledgerCommands'));
  return messages.filter(({ payload }) => payload['eventId'] === commandId);
}

async function outboxRecords(): Promise<number> {
  return db.collection('outbox').countDocuments();
}

test('a proposal says nothing to anybody; an approval says it once, with both names', async () => {
  const before = await outboxRecords();
  await propose('cm-quiet');
  expect(await outboxRecords()).toBe(before);
  expect(await eventsOf('cm-quiet')).toEqual([]);
  for (const round of [0, 1, 2]) {
    const answer = await replica(round).as('checker', '/commands/cm-quiet/approve', {});
    expect(await answer.json()).toMatchObject({
      status: 'approved',
      requestedBy: 'operator',
      approvedBy: 'checker',
    });
  }
  await eventually(async () => {
    const events = await eventsOf('cm-quiet');
    expect(events).toHaveLength(1);
    expect(events[0]).toMatchObject({
      type: 'pesewa.ledger.FundWallet',
      payload: { merchantId: 'demo', amount: 1_250n, requestedBy: 'operator', approvedBy: 'checker' },
    });
  });
});

test('every kind of order reaches the topic as its own event', async () => {
  const wallet = { merchantId: 'demo', currency: 'KES', amount: '1' };
  const float = { rail: 'upstream', currency: 'KES', amount: '1' };
  const orders = [
    ['fund-float', float, 'FundFloat', { rail: 'upstream' }],
    ['withdraw', wallet, 'WithdrawWallet', { merchantId: 'demo' }],
    ['withdraw-float', float, 'WithdrawFloat', { rail: 'upstream' }],
    [
      'adjust',
      { ...wallet, direction: 'debit', reason: 'twice', breakId: 'po-1/fee' },
      'AdjustWallet',
      { direction: 'debit', breakId: 'po-1/fee' },
    ],
    [
      'suspense',
      { ...float, direction: 'surplus', reason: 'br-1' },
      'BookSuspense',
      { direction: 'surplus', breakId: null },
    ],
  ] as const;
  for (const [kind, body] of orders) {
    expect((await replica(0).order(kind, { ...body, commandId: `cm-${kind}` })).status).toBe(202);
  }
  await eventually(async () => {
    for (const [kind, , name, payload] of orders) {
      expect(await eventsOf(`cm-${kind}`)).toMatchObject([{ type: `pesewa.ledger.${name}`, payload }]);
    }
  });
});

test('one order at a time is proposed for a break, by whichever replica, and the break’s are listed', async () => {
  const breakId = 'po-2/amount';
  const correct = (commandId: string, index = 0) =>
    replica(index).as('operator', '/commands/adjust', {
      ...order(commandId),
      direction: 'debit',
      reason: 'the rail took less',
      breakId,
    });
  const ids = Array.from({ length: 10 }, (_, index) => `cm-for-break-${index}`);
  const answers = await Promise.all(ids.map(correct));
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(ids.length - 1);
  const taken = ids[answers.findIndex(({ status }) => status === 202)] ?? '';
  const refused = answers.find(({ status }) => status === 409);
  expect(await refused?.json()).toMatchObject({ code: 'pending' });
  expect((await correct(taken, 1)).status).toBe(202);
  const reject = await replica(1).as('checker', `/commands/${taken}/reject`, { reason: 'not so' });
  expect(reject.status).toBe(200);
  expect((await correct('cm-for-break-next')).status).toBe(202);
  const listed = await (await replica(0).as('checker', `/commands?breakId=${breakId}`)).json();
  expect(listed).toMatchObject({
    items: [
      { commandId: 'cm-for-break-next', status: 'proposed', breakId },
      { commandId: taken, status: 'rejected', breakId },
    ],
  });
});

test('an operator can’t approve their own order', async () => {
  await propose('cm-own');
  const answer = await replica(0).as('operator', '/commands/cm-own/approve', {});
  expect([answer.status, await answer.json()]).toMatchObject([403, { code: 'same_operator' }]);
  expect(await eventsOf('cm-own')).toEqual([]);
});

test('many approvals at once over two replicas are one', async () => {
  const ids = Array.from({ length: 10 }, (_, index) => `cm-crowd-${index}`);
  await Promise.all(ids.map(propose));
  const answers = await Promise.all(
    ids.flatMap((id) =>
      [0, 1, 2, 3].map((round) => replica(round).as('checker', `/commands/${id}/approve`, {})),
    ),
  );
  expect(new Set(statusesOf(answers))).toEqual(new Set([200]));
  await eventually(async () => {
    for (const id of ids) expect(await eventsOf(id)).toHaveLength(1);
  });
});

test('of an approval and a rejection at once exactly one wins, and its event goes out with it alone', async () => {
  const ids = Array.from({ length: 20 }, (_, index) => `cm-race-${index}`);
  await Promise.all(ids.map(propose));
  const results = await Promise.all(
    ids.map(async (id, index) => {
      const [approved, rejected] = await Promise.all([
        replica(index).as('checker', `/commands/${id}/approve`, {}),
        replica(index + 1).as('operator', `/commands/${id}/reject`, { reason: 'changed my mind' }),
      ]);
      expect(new Set(statusesOf([approved, rejected]))).toEqual(new Set([200, 409]));
      return { id, approved: approved.status === 200 };
    }),
  );
  await eventually(async () => {
    for (const { id, approved } of results) expect(await eventsOf(id)).toHaveLength(approved ? 1 : 0);
  });
});

test('two proposals under one id at once are one order, or the second is refused', async () => {
  const same = await Promise.all(
    [0, 1].map((at) => replica(at).as('operator', '/commands/fund', order('cm-twin'))),
  );
  expect(statusesOf(same)).toEqual([202, 202]);
  const other = await replica(1).as('operator', '/commands/fund', { ...order('cm-twin'), amount: '13' });
  const borrowed = await replica(1).as('checker', '/commands/fund', order('cm-twin'));
  expect(statusesOf([other, borrowed])).toEqual([409, 409]);
  expect(await db.collection<{ _id: string }>('commands').countDocuments({ _id: 'cm-twin' })).toBe(1);
});

test('a rejected order stays rejected, with its reason', async () => {
  await propose('cm-no');
  for (const reason of ['not ours', 'another reason']) {
    const answer = await replica(0).as('checker', '/commands/cm-no/reject', { reason });
    expect(await answer.json()).toMatchObject({
      status: 'rejected',
      rejectedBy: 'checker',
      rejectedFor: 'not ours',
    });
  }
  const late = await replica(1).as('checker', '/commands/cm-no/approve', {});
  expect([late.status, await late.json()]).toMatchObject([409, { code: 'decided' }]);
});

test('a proposal of another week can only be rejected', async () => {
  await propose('cm-old');
  aheadMs = 7 * DAY_MS;
  try {
    const late = await replica(0).as('checker', '/commands/cm-old/approve', {});
    expect([late.status, await late.json()]).toMatchObject([409, { code: 'expired' }]);
    expect((await replica(0).as('operator', '/commands/cm-old/reject', { reason: 'too old' })).status).toBe(
      200,
    );
  } finally {
    aheadMs = 0;
  }
});

test('orders are listed by status, the newest first, over all pages', async () => {
  const ids = Array.from({ length: 103 }, (_, index) => `cm-list-${String(index).padStart(3, '0')}`);
  for (const id of ids.slice(0, 3)) await propose(id);
  await Promise.all(ids.slice(3).map(propose));
  const listed: string[] = [];
  let next: string | null = '';
  do {
    const answer = await replica(0).as('checker', `/commands?status=proposed&cursor=${next}`);
    const page = (await answer.json()) as {
      items: { commandId: string; status: string }[];
      next: string | null;
    };
    expect(page.items.every(({ status }) => status === 'proposed')).toBe(true);
    listed.push(...page.items.map(({ commandId }) => commandId));
    ({ next } = page);
  } while (next !== null);
  expect(listed.filter((id) => id.startsWith('cm-list-')).toSorted()).toEqual(ids);
  expect(listed.indexOf(ids[2] ?? '')).toBeLessThan(listed.indexOf(ids[0] ?? ''));
});

test('an approved order shows the ledger’s outcome: applied, or refused with the reason', async () => {
  const { as, order: orderBoth } = await openPostingLedger();
  const wallet = { merchantId: 'payer', currency: 'KES' };
  const becomes = (commandId: string, expected: object) =>
    eventually(async () => {
      expect(await (await as('operator', `/commands/${commandId}`)).json()).toMatchObject(expected);
    });
  await orderBoth('fund', { ...wallet, amount: '10', commandId: 'cm-ten' });
  await becomes('cm-ten', { status: 'applied', requestedBy: 'operator', approvedBy: 'checker' });
  await orderBoth('withdraw', { ...wallet, amount: '10.01', commandId: 'cm-more' });
  await becomes('cm-more', { status: 'refused', refusedFor: 'Insufficient funds' });
  await orderBoth('withdraw', { ...wallet, amount: '10', commandId: 'cm-all' });
  await becomes('cm-all', { status: 'applied' });
  const again = await as('checker', '/commands/cm-more/approve', {});
  expect(await again.json()).toMatchObject({ status: 'refused' });
  const listed = await (await as('operator', '/commands?status=refused')).json();
  expect(listed).toMatchObject({ items: [{ commandId: 'cm-more', status: 'refused' }] });
});
