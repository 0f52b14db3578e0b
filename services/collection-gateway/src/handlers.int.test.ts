import { randomUUID } from 'node:crypto';
import type { TopicEvent } from '@pesewa/contracts';
import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { type Messaging, openMessagingAs } from '@pesewa/messaging';
import type { InitiationResult } from '@pesewa/rails';
import {
  createTestKafka,
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
  topicNameOf,
} from '@pesewa/testkit';
import type { Db } from 'mongodb';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  createTestRail,
  GRACE_MS,
  merchantWith,
  openReplica,
  payin,
  type Replica,
} from './fixtures/replica.ts';

type Fact = Exclude<TopicEvent<'collectionFacts'>, { readonly type: 'pesewa.rails.RepublishRequested' }>;

const ids = createIds(systemClock, systemRandom);
const demo = merchantWith('demo');
const script: { initiate: (reference: string) => Promise<InitiationResult> } = {
  initiate: async () => ({ kind: 'acknowledged', redirectionUrl: '' }),
};
const rail = createTestRail({ initiate: (reference) => script.initiate(reference) });
let config: TestConfig;
let reconciler: Messaging;
let replicas: readonly Replica[] = [];
let running = new AsyncDisposableStack();
const scopes: TestScope[] = [];

async function startReplicas(): Promise<void> {
  running = new AsyncDisposableStack();
  replicas = await Promise.all(
    [0, 1].map(() => openReplica(running.use(openTestScope(config)), { rail, consumes: true })),
  );
}

beforeAll(async () => {
  config = await prepareTestEnvironment();
  const scope = openTestScope(config);
  scopes.push(scope);
  reconciler = await openMessagingAs(scope, {
    service: 'reconciler',
    database: 'reconciler',
    produces: ['collectionFacts'],
  });
  await startReplicas();
});

afterAll(async () => {
  await running.disposeAsync();
  for (const scope of scopes) await scope[Symbol.asyncDispose]();
});

const database = () => reconciler.database('collections');
const rowOf = (reference: string) => database().collection('collections').findOne({ reference });

function fact(
  reference: string,
  status: 'completed' | 'failed' | 'reversed' | 'notFound',
  changes: { readonly amount?: bigint; readonly polledAtMs?: number } = {},
): Fact {
  const { amount = null, polledAtMs = systemClock.nowMs() } = changes;
  const envelope = { eventId: `ev-${ids.next('rn')}`, occurredAt: BigInt(systemClock.nowMs()) };
  const said = { status, amount, fee: null, reason: status === 'failed' ? 'EXPIRED' : null } as const;
  const asked = { source: 'poll', polledAt: BigInt(polledAtMs) } as const;
  return {
    type: 'pesewa.rails.RailStatusObserved',
    payload: { ...envelope, rail: 'upstream', reference, ...said, ...asked },
  };
}

function decided(reference: string, amount: bigint): Fact {
  const envelope = { eventId: `ev-${ids.next('rn')}`, occurredAt: BigInt(systemClock.nowMs()) };
  const people = { breakId: ids.next('br'), decidedBy: 'esi', approvedBy: 'kofi' };
  const money = { currency: 'GMD', amount, railFee: 7n };
  return {
    type: 'pesewa.rails.CollectionAmountDecided',
    payload: { ...envelope, rail: 'upstream', reference, ...money, ...people },
  };
}

/** Publishes facts in this order. */
async function publish(...facts: readonly Fact[]): Promise<void> {
  const commit = reconciler.groupCommit<Fact, void>(`test-${randomUUID()}`, async (items, transaction) => {
    for (const event of items) {
      const address = { key: event.payload.reference, version: 0n, causationId: null };
      transaction.emit({ topic: 'collectionFacts', ...address, ...event });
    }
    return items.map(() => undefined);
  });
  await Promise.all(facts.map((event) => commit.submit(event)));
}

/** A collection that the rail was asked to initiate; gives our reference. */
async function initiated(merchantReference: string): Promise<string> {
  const [replica] = replicas;
  const accepted = await replica?.collections.accept(demo, payin(merchantReference));
  if (!accepted?.ok) throw new Error('not accepted');
  await replica?.initiate(accepted.value);
  return accepted.value.reference;
}

async function events(): Promise<
  readonly { readonly type: string; readonly payload: Record<string, unknown> }[]
> {
  await untilSent(database());
  const readTopic = await createTopicReader(config);
  const messages = await readTopic(topicNameOf(config, 'collections'));
  return messages.map(({ type, payload }) => ({ type: type.replace('pesewa.collections.', ''), payload }));
}

const endsOf = async (reference: string) =>
  (await events()).filter(
    ({ type, payload }) => payload['reference'] === reference && /^Collection(Completed|Failed)$/.test(type),
  );

async function untilSent(db: Db): Promise<void> {
  await eventually(async () => expect(await db.collection('outbox').countDocuments()).toBe(0));
}

/** Waits until every fact is published and applied. */
async function untilApplied(): Promise<void> {
  await untilSent(reconciler.db);
  const topic = topicNameOf(config, 'collectionFacts');
  const admin = createTestKafka(config).admin();
  await admin.connect();
  const ends = await admin.fetchTopicOffsets(topic);
  await admin.disconnect();
  const offsets = database().collection<{ _id: string; next: bigint }>('consumer_offsets');
  await eventually(async () => {
    const found = new Map((await offsets.find().toArray()).map(({ _id, next }) => [_id, next]));
    for (const { partition, high } of ends.filter((end) => end.high !== '0')) {
      const entry = [...found].find(([id]) => id.endsWith(`/${topic}/${partition}`));
      expect(entry?.[1] ?? 0n).toBeGreaterThanOrEqual(BigInt(high));
    }
  });
}

test('a decided amount completes a collection with its fee, once', async () => {
  const reference = await initiated('decided');
  await publish(fact(reference, 'completed', { amount: 9_000n }));
  await untilApplied();
  expect(await rowOf(reference)).toMatchObject({ status: 'PENDING' });
  await publish(decided(reference, 9_000n), decided(reference, 9_000n), decided(reference, 8_000n));
  await untilApplied();
  expect(await rowOf(reference)).toMatchObject({ status: 'COMPLETED', amountReceived: 9_000n, fee: 135n });
  const money = { amountReceived: 9_000n, fee: 135n, railFee: 7n };
  expect(await endsOf(reference)).toMatchObject([{ type: 'CollectionCompleted', payload: money }]);
  const refusals = replicas.flatMap((replica) => replica.refusals);
  expect(refusals).toEqual(
    expect.arrayContaining([
      'collection.amount_differs',
      'collection.already_there',
      'collection.contradiction',
    ]),
  );
});

test('an unclear initiation that the rail does not know goes out again under the same reference', async () => {
  script.initiate = async () => ({ kind: 'unknown', why: 'connection reset' });
  const reference = await initiated('unclear');
  const row = await rowOf(reference);
  expect(row).toMatchObject({ step: 'unknown', attempts: 1 });
  const graceEndsAtMs = Number(row?.['attemptedAt']) + GRACE_MS;
  await publish(fact(reference, 'notFound', { polledAtMs: graceEndsAtMs - 1 }));
  await untilApplied();
  expect(await rowOf(reference)).toMatchObject({ step: 'unknown' });
  script.initiate = async () => ({ kind: 'acknowledged', redirectionUrl: '' });
  await publish(fact(reference, 'notFound', { polledAtMs: graceEndsAtMs }));
  await eventually(async () =>
    expect(await rowOf(reference)).toMatchObject({ step: 'awaitingOtp', attempts: 2 }),
  );
  expect(rail.initiations.filter((asked) => asked === reference)).toHaveLength(2);
});

describe('facts in any order, however often', () => {
  const orders = Array.from({ length: 24 }, (_, index) => index);
  /** The n-th permutation of the facts, each of them twice. */
  const shuffled = (facts: readonly Fact[], order: number): readonly Fact[] => {
    const left = [...facts, ...facts];
    const taken: Fact[] = [];
    for (let seed = order + 7; left.length > 0; seed = (seed * 31 + 17) % 1_009)
      taken.push(...left.splice(seed % left.length, 1));
    return taken;
  };

  test('end each collection exactly once, and a replay of the whole topic changes nothing', async () => {
    const references = await Promise.all(orders.map((order) => initiated(`shuffled-${order}`)));
    await Promise.all(
      references.map((reference, order) =>
        publish(
          ...shuffled(
            [
              fact(reference, 'completed'),
              fact(reference, 'completed', { amount: 9_999n }),
              fact(reference, 'failed'),
              fact(reference, 'reversed'),
              fact(reference, 'notFound', { polledAtMs: systemClock.nowMs() + 1_000 }),
              decided(reference, 5_000n),
            ],
            order,
          ),
        ),
      ),
    );
    await untilApplied();
    const before = await events();
    const ends = before.filter(({ type }) => /^Collection(Completed|Failed)$/.test(type));
    for (const reference of references)
      expect(ends.filter(({ payload }) => payload['reference'] === reference)).toHaveLength(1);
    expect(new Set(ends.map(({ type }) => type))).toEqual(
      new Set(['CollectionCompleted', 'CollectionFailed']),
    );

    const rows = await database().collection('collections').find().sort({ _id: 1 }).toArray();
    const calls = rail.initiations.length;
    await running.disposeAsync();
    const admin = createTestKafka(config).admin();
    await admin.connect();
    await admin.deleteGroups([`${config.TOPIC_PREFIX}collection-gateway`]);
    await admin.disconnect();
    await database().collection('consumer_offsets').deleteMany({});
    await startReplicas();
    await untilApplied();
    expect(replicas.flatMap((replica) => replica.refusals).length).toBeGreaterThan(orders.length * 11);
    expect(await database().collection('collections').find().sort({ _id: 1 }).toArray()).toEqual(rows);
    expect(await events()).toHaveLength(before.length);
    expect(rail.initiations).toHaveLength(calls);
  });
});
