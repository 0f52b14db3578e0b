import { auditLedger } from '@pesewa/audit';
import { formatAmount, systemClock } from '@pesewa/kernel';
import {
  type Messaging,
  type OutgoingEvent,
  openMessaging,
  openMessagingAs,
  outboxOf,
  type Recovery,
} from '@pesewa/messaging';
import { createOperators, guardOperator } from '@pesewa/runtime';
import {
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
  topicNameOf,
} from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApp } from './app.ts';
import { createApprovals } from './approvals.ts';
import { createCommands } from './commands.ts';
import { ledgerDatabaseSchema } from './database-schema.ts';
import { REASON_LOST } from './events.ts';
import { type Backup, BOOKS, copyDatabase, recover as repair, restoreDatabase } from './forward.fixture.ts';
import { createHandlers } from './handlers.ts';
import { createPublishedCheck } from './lacking-events.ts';
import { CURRENCY, collected, payout, RAIL } from './ledger.fixture.ts';
import { anyTarget, openTestOperators } from './orders.fixture.ts';
import { createPostings } from './postings.ts';
import { recoverLedger } from './roll-forward.ts';
import { createStatements } from './statements.ts';
import { openLedgerStore } from './store.ts';

/** Shortens only the pause before a stopped partition is checked again, and that of a repair for whoever runs. */
const pauses: Readonly<Record<number, number>> = { 15000: 200, 7000: 20 };
const clock: typeof systemClock = {
  ...systemClock,
  sleep: (durationMs, signal) => systemClock.sleep(pauses[durationMs] ?? durationMs, signal),
};
const TOPICS = ['payouts', 'collections', 'ledgerCommands'] as const;

let config: TestConfig;
let source: TestScope;
let publish: (...events: readonly OutgoingEvent[]) => Promise<void>;

beforeAll(async () => {
  config = await prepareTestEnvironment();
  source = openTestScope(config);
  // Only the ledger may write to its topic; here somebody else has the right too.
  const produces = ['payouts', 'collections', 'ledger'] as const;
  const messaging = await openMessagingAs(source, { service: 'source', database: 'source', produces });
  const publishing = messaging.groupCommit<readonly OutgoingEvent[], void>(
    'source',
    async (lists, { emit }) => {
      for (const event of lists.flat()) emit(event);
      return lists.map(() => undefined);
    },
  );
  publish = async (...events) => {
    await publishing.submit(events);
    await untilSent(messaging);
  };
});

afterAll(() => source[Symbol.asyncDispose]());

async function untilSent({ db }: Messaging): Promise<void> {
  await eventually(async () => expect(await outboxOf(db).countDocuments()).toBe(0));
}

/** One run of the ledger, from its start to its end. */
async function openLedger() {
  const scope = openTestScope(config, { clock });
  const { ids, logger } = scope;
  const messaging = await openMessaging(scope, { service: 'ledger', databaseSchema: ledgerDatabaseSchema });
  const { db, client } = messaging;
  const store = openLedgerStore(db);
  const postings = createPostings({ store, clock, policy: { refundFee: true } });
  const checkPublished = createPublishedCheck({ messaging, store });
  await messaging.consume(createHandlers({ postings, approvals: createApprovals(db), checkPublished }));
  const commands = createCommands({ db, messaging, ids, clock });
  const orders = { commands, targets: anyTarget };
  const app = createApp({ store, statements: createStatements(db), ...orders, clock, logger });
  const guarded = guardOperator(scope.operator, createOperators('the-token-of-an-operator'));
  return {
    database: { db, client },
    operators: openTestOperators(app),
    messaging,
    details: async () => (await scope.health.readiness()).details ?? {},
    floats: async () => (await app.request('/floats')).json(),
    /** Waits until all published events are applied, and all that follow from them are published. */
    caughtUp: () => untilCaughtUp(messaging),
    call: async (path: string, body?: object) => {
      const headers = {
        authorization: 'Bearer the-token-of-an-operator',
        'content-type': 'application/json',
      };
      const method = body ? 'POST' : 'GET';
      const answer = await guarded.request(path, {
        method,
        headers,
        ...(body && { body: JSON.stringify(body) }),
      });
      return (await answer.json()) as { readonly items: readonly Record<string, unknown>[] };
    },
    [Symbol.asyncDispose]: () => scope[Symbol.asyncDispose](),
  };
}

type Life = Awaited<ReturnType<typeof openLedger>>;

async function untilCaughtUp(messaging: Messaging): Promise<void> {
  await eventually(async () => {
    expect(await outboxOf(messaging.db).countDocuments()).toBe(0);
    expect(await messaging.caughtUp(TOPICS, 2_000)).toBe(true);
    expect(await outboxOf(messaging.db).countDocuments()).toBe(0);
  });
}

const order = (
  { operators }: Life,
  kind: string,
  commandId: string,
  minor: bigint,
  about: Record<string, string>,
) =>
  operators.order(kind, { commandId, currency: CURRENCY, amount: formatAmount(minor, CURRENCY), ...about });

async function recover(options?: Parameters<typeof repair>[1]): Promise<string> {
  await using scope = openTestScope(config, { clock });
  return await repair(scope, options);
}

/** Waits until partitions are stopped for a reason; operators can't let them go on. */
async function expectStopped(life: Life, reason: string): Promise<void> {
  await eventually(async () => expect((await life.details())['partitions of ledger']).toContain(reason));
  const { items } = await life.call('/positions');
  const restored = items.filter(({ mismatch }) => mismatch === 'restored');
  expect(restored.length).toBeGreaterThan(2);
  for (const { topic, partition } of restored)
    expect(await life.call('/positions/realign', { topic, partition, reason: 'noon' })).toMatchObject({
      code: 'restored',
    });
}

async function live(ledger: Life): Promise<void> {
  // The money for the hold comes by another topic: only the ledger's own events show the order of the two.
  await publish(collected('demo', 'co-1', 5_000n));
  await ledger.caughtUp();
  await publish(payout('accepted', 'demo', 'po-2', 4_000n), payout('completed', 'demo', 'po-1', 100n));
  await ledger.caughtUp();
  await order(ledger, 'withdraw', 'cm-much', 50_000n, { merchantId: 'demo' });
  await order(ledger, 'adjust', 'cm-adjust', 300n, {
    merchantId: 'demo',
    direction: 'debit',
    reason: 'twice',
  });
  await order(ledger, 'suspense', 'cm-odd', 7n, { rail: RAIL, direction: 'surplus', reason: 'found' });
  await ledger.operators.as('operator', '/commands/fund', {
    commandId: 'cm-later',
    merchantId: 'demo',
    currency: CURRENCY,
    amount: '1',
  });
  await ledger.operators.as('checker', '/commands/cm-asked/reject', { reason: 'not now' });
  await publish(
    payout('completed', 'demo', 'po-2', 4_000n),
    payout('accepted', 'demo', 'po-3', 90_000n),
    payout('failed', 'demo', 'po-3', 90_000n),
    payout('accepted', 'other', 'po-4', 50n),
    payout('failed', 'other', 'po-4', 50n),
    payout('reversed', 'demo', 'po-1', 100n),
  );
  await ledger.caughtUp();
}

/** What a restored ledger knows of its orders: proposals since the backup are lost, and so are reasons. */
function asRemembered(books: Backup, proposedSince: string): Backup {
  const commands = (books.get('commands') ?? []) as readonly Readonly<Record<string, unknown>>[];
  const left = commands.filter(({ _id }) => _id !== proposedSince);
  expect(left).toHaveLength(commands.length - 1);
  return new Map([...books, ['commands', left.map(withoutReasons)]]);
}

function withoutReasons(order: object): Readonly<Record<string, unknown>> {
  const {
    reason: _reason,
    decisionReason: _decisionReason,
    ...rest
  } = order as Readonly<Record<string, unknown>>;
  return rest;
}

it('comes forward by its own events, then by its inputs, and nothing moves twice', async () => {
  const readTopic = await createTopicReader(config);
  const readPublished = async () => {
    const all = await readTopic(topicNameOf(config, 'ledger'));
    return new Map(all.map(({ type, payload }) => [payload['eventId'], { type, payload }]));
  };
  const first = await openLedger();
  await order(first, 'fund', 'cm-1', 1_000n, { merchantId: 'demo' });
  await order(first, 'fund', 'cm-2', 1_000n, { merchantId: 'other' });
  await order(first, 'fund-float', 'cm-3', 9_000n, { rail: RAIL });
  await first.operators.as('operator', '/commands/fund', {
    commandId: 'cm-asked',
    merchantId: 'demo',
    currency: CURRENCY,
    amount: '1',
  });
  await publish(payout('accepted', 'demo', 'po-1', 100n));
  await first.caughtUp();
  const backup = await copyDatabase(first.database);

  await live(first);
  const truth = { books: await copyDatabase(first.database, BOOKS), floats: await first.floats() };
  const publishedBefore = await readPublished();
  await first[Symbol.asyncDispose]();

  const between = openTestScope(config);
  const { db } = await openMessagingAs(between, { service: 'source', database: 'ledger', produces: [] });
  await restoreDatabase({ db }, backup);
  // A backup is older than the processes in it live without a sign.
  await db.collection('leases').deleteMany({});
  const older = await copyDatabase({ db }, BOOKS);
  expect(older).not.toEqual(truth.books);
  await between[Symbol.asyncDispose]();
  const unrepaired = await openLedger();
  await expectStopped(unrepaired, 'run its program once with the argument recover');
  await expect(recover()).rejects.toThrow('is running');
  expect(await copyDatabase(unrepaired.database, BOOKS)).toEqual(older);
  await unrepaired[Symbol.asyncDispose]();

  expect(await recover({ isDryRun: true })).toContain('nothing was changed');
  const dies = async (recovery: Recovery) => {
    await recoverLedger(recovery);
    throw new Error('died');
  };
  await expect(recover({ repair: dies })).rejects.toThrow('died');
  {
    await using refused = openTestScope(config);
    const starting = openMessaging(refused, { service: 'ledger', databaseSchema: ledgerDatabaseSchema });
    await expect(starting).rejects.toThrow('run the program with the argument recover');
  }
  expect(await recover()).toContain('recovered');
  await using second = await openLedger();
  await second.caughtUp();
  const books = await copyDatabase(second.database, BOOKS);
  const commands = books.get('commands') ?? [];
  expect(commands).toContainEqual(expect.objectContaining({ _id: 'cm-adjust', reason: REASON_LOST }));
  expect(commands).toContainEqual(expect.objectContaining({ _id: 'cm-asked', decisionReason: REASON_LOST }));
  expect(new Map([...books, ['commands', commands.map(withoutReasons)]])).toEqual(
    asRemembered(truth.books, 'cm-later'),
  );
  expect(await second.floats()).toEqual(truth.floats);
  expect(await readPublished()).toEqual(publishedBefore);
  // Reasons are people's free text (ADR 17).
  expect([...publishedBefore.values()].flatMap(({ payload }) => Object.values(payload))).not.toContain(
    'twice',
  );
  const { DATABASE_PREFIX: databasePrefix, MONGODB_URL: mongodbUrl } = config;
  const names = { mongodbUrl, databasePrefix };
  const audit = await auditLedger({ ...names, clock: systemClock, allowedLagMs: 300, crossCheck: false });
  expect(audit.violations).toEqual([]);
  expect(await second.database.db.collection('coming_forward').countDocuments()).toBe(0);
});

it('books nothing that somebody else wrote to its topic, once it goes on from where it is', async () => {
  const address = {
    topic: 'ledger',
    key: `demo:${CURRENCY}`,
    version: 99n,
    causationId: 'ev-forged',
  } as const;
  const occurredAt = BigInt(systemClock.nowMs());
  const funded = {
    occurredAt,
    merchantId: 'demo',
    currency: CURRENCY,
    amount: 1_000_000n,
    commandId: 'cm-forged',
  };
  await publish({ ...address, type: 'pesewa.ledger.WalletFunded', payload: funded });
  const third = await openLedger();
  const before = await copyDatabase(third.database, BOOKS);
  await eventually(async () =>
    expect((await third.details())['partitions of ledger']).toContain(
      'has cm-forged/fund, which our database lacks',
    ),
  );
  await third[Symbol.asyncDispose]();
  await expect(recover()).rejects.toThrow('Kafka shows nothing of an older database');
  await using fourth = await openLedger();
  expect(await copyDatabase(fourth.database, BOOKS)).toEqual(before);
});
