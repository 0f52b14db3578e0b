import { createLogger } from '@pesewa/runtime';
import {
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
  topicNameOf,
} from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merchantWith, openReplica, single } from './acceptance.fixture.ts';
import { startDecisionApplier } from './decision-applier.ts';
import type { PayoutCommand } from './domain/payout.ts';
import type { PayoutDocument } from './store.ts';

type Replica = Awaited<ReturnType<typeof openReplica>>;

const demo = merchantWith('demo');
const logger = createLogger({ name: 'test', level: 'silent' });
let config: TestConfig;
const scopes: TestScope[] = [];
const replicas: Replica[] = [];
const loops: AsyncDisposable[] = [];

/** A replica, with its loop. */
async function open(): Promise<Replica> {
  const scope = openTestScope(config);
  scopes.push(scope);
  const replica = await openReplica(scope);
  const { clock, ids } = scope;
  loops.push(startDecisionApplier({ ...replica, clock, ids, logger, resubmitGraceMs: 0, pauseMs: 20 }));
  return replica;
}

const apply = (replica: Replica, reference: string, command: PayoutCommand) =>
  replica.messaging
    .groupCommit<PayoutCommand, void>(`test.${reference}.${Date.now()}`, async (commands, transaction) => {
      const orders = commands.map((one) => ({ reference, causationId: null, command: one }));
      await replica.payouts.apply(orders, transaction);
      return commands.map(() => undefined);
    })
    .submit(command);

const decided = (outcome: 'failed' | 'completed'): PayoutCommand => ({
  kind: 'endByOperators',
  resubmitGraceMs: 0,
  decided: {
    outcome,
    railFee: outcome === 'completed' ? 5n : 0n,
    knownAtMs: Date.now(),
    decidedAtMs: Date.now(),
  },
});

/** A payout whose attempt was committed, with a lease of this length. */
async function submitting(replica: Replica, name: string, leaseMs: number): Promise<string> {
  const taken = await replica.payouts.request(demo, single(name));
  const reference = taken.ok ? taken.value.reference : '';
  const now = Date.now();
  const attempt: Partial<PayoutDocument> = {
    step: 'submitting',
    attempts: 1,
    version: 3n,
    attemptedAt: new Date(now - 60_000),
    dueAt: new Date(now + leaseMs),
  };
  await replica.store.collection.updateOne({ reference }, { $set: attempt });
  return reference;
}

const stepOf = async (replica: Replica, reference: string) =>
  (await replica.store.collection.findOne({ reference }))?.step;

async function endsOf(reference: string) {
  const readTopic = await createTopicReader(config);
  const messages = await readTopic(topicNameOf(config, 'payouts'));
  return messages.filter(
    ({ payload }) => payload['reference'] === reference && payload['statusReason'] !== undefined,
  );
}

beforeAll(async () => {
  config = await prepareTestEnvironment();
  replicas.push(await open(), await open());
});

afterAll(async () => {
  for (const loop of loops) await loop[Symbol.asyncDispose]();
  await replicas[0]?.db.dropDatabase();
  for (const scope of scopes.reverse()) await scope[Symbol.asyncDispose]();
});

describe('what people decide while an attempt is under way', () => {
  it.each(['failed', 'completed'] as const)(
    '%s ends it once, when the lease has run out',
    async (outcome) => {
      const [left] = replicas;
      if (!left) throw new Error('no replica');
      const reference = await submitting(left, `lost-${outcome}`, 1_500);
      await apply(left, reference, decided(outcome));
      const kept = await left.store.collection.findOne({ reference });
      expect(kept).toMatchObject({ step: 'submitting', decided: { outcome, isPending: true } });
      await eventually(async () => expect(await stepOf(left, reference)).toBe('ended'));
      const end = await left.store.collection.findOne({ reference });
      expect(end).toMatchObject({ status: outcome.toUpperCase(), decided: { isPending: false } });
      expect(end?.dueAt).toBeUndefined();
      await eventually(async () => expect(await left.db.collection('outbox').countDocuments()).toBe(0));
      expect(await endsOf(reference)).toHaveLength(1);
    },
  );

  it('waits for as long as the lease runs, and gives way to the answer', async () => {
    const [left] = replicas;
    if (!left) throw new Error('no replica');
    const reference = await submitting(left, 'answered', 600_000);
    await apply(left, reference, decided('failed'));
    const outcome = { kind: 'acknowledged' } as const;
    await apply(left, reference, { kind: 'recordAttempt', attempt: 1, outcome });
    const recordOf = () => left.store.collection.findOne({ reference });
    // The reconciler reads it, also after the end.
    expect(await recordOf()).toMatchObject({ step: 'submitted', acknowledgedByRail: true });
    expect(await endsOf(reference)).toEqual([]);
    await apply(left, reference, decided('completed'));
    expect(await recordOf()).toMatchObject({ status: 'COMPLETED', acknowledgedByRail: true });
  });
});
