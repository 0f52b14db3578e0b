import { auditLedger } from '@pesewa/audit';
import { formatAmount, systemClock } from '@pesewa/kernel';
import {
  type Messaging,
  type OutgoingEvent,
  openMessaging,
  openMessagingAs,
  outboxOf,
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
import { type Backup, BOOKS, copyDatabase, restoreDatabase } from './forward.fixture.ts';
import { createHandlers } from './handlers.ts';
import { CURRENCY, collected, payout, RAIL } from './ledger.fixture.ts';
import { anyTarget, openTestOperators } from './orders.fixture.ts';
import { createPostings } from './postings.ts';
import { createRollForward } from './roll-forward.ts';
import { createStatements } from './statements.ts';
import { openLedgerStore } from './store.ts';

const LOOK_AGAIN_MS = 15_000;
/** Shortens only the pause before a stopped partition is checked again. */
const clock: typeof systemClock = {
  ...systemClock,
  sleep: (durationMs, signal) => systemClock.sleep(durationMs === LOOK_AGAIN_MS ? 200 : durationMs, signal),
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
  const rollForward = createRollForward({ messaging, store, gaps: 'stop', logger });
  await messaging.consume(createHandlers({ postings, approvals: createApprovals(db), rollForward }));
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

/** Realigns the stopped partitions of a topic to where the database stands. */
async function realign(life: Life, topic: (typeof TOPICS)[number]): Promise<number> {
  const stopped = await eventually(async () => {
    const { items } = await life.call('/positions');
    const all = items.filter((item) => item['topic'] === topicNameOf(config, topic));
    expect(all).toHaveLength(8);
    return all.filter(({ state }) => state === 'stopped');
  });
  for (const { partition, mismatch } of stopped) {
    expect(mismatch).toBe('restored');
    const request = { topic: topicNameOf(config, topic), partition, to: 'stored' };
    await life.call('/positions/realign', { ...request, reason: 'restored from the backup of noon' });
  }
  return stopped.length;
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
  expect(await copyDatabase({ db }, BOOKS)).not.toEqual(truth.books);
  await between[Symbol.asyncDispose]();

  await using second = await openLedger();
  let realigned = 0;
  for (const topic of TOPICS) {
    realigned += await realign(second, topic);
    await eventually(async () => expect(await second.messaging.caughtUp([topic], 1_000)).toBe(true));
  }
  expect(realigned).toBeGreaterThan(2);
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
  const audit = await auditLedger({
    mongodbUrl,
    databasePrefix,
    clock: systemClock,
    allowedLagMs: 300,
    crossCheck: false,
  });
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
  await using third = await openLedger();
  const before = await copyDatabase(third.database, BOOKS);
  await eventually(async () =>
    expect((await third.details())['partitions of ledger']).toContain(
      'has cm-forged/fund, which our database lacks, though nothing says that it is an older one',
    ),
  );
  expect(await copyDatabase(third.database, BOOKS)).toEqual(before);
});
