import { createLogger, createOperators, guardOperator } from '@pesewa/runtime';
import {
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
  topicNameOf,
} from '@pesewa/testkit';
import { Hono } from 'hono';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { merchantWith, openReplica, single } from './acceptance.fixture.ts';
import { addCancellationRoutes } from './cancellations.ts';
import { startDecisionApplier } from './decision-applier.ts';
import type { PayoutCommand } from './domain/payout.ts';
import { startSubmitter } from './submitter.ts';

const TOKEN = 'operator-token-of-tests';
const demo = merchantWith('demo');
const logger = createLogger({ name: 'test', level: 'silent' });
const asked = new Set<string>();
let config: TestConfig;
let open: Awaited<ReturnType<typeof openAll>>;
const scopes: TestScope[] = [];
const loops: AsyncDisposable[] = [];

/** A replica with its loops and its operator API; its rail acknowledges everything. */
async function openAll() {
  const scope = openTestScope(config);
  scopes.push(scope);
  const replica = await openReplica(scope);
  const { clock, ids } = scope;
  const decisions = startDecisionApplier({
    ...replica,
    clock,
    ids,
    logger,
    resubmitGraceMs: 0,
    pauseMs: 20,
  });
  const submit = async ({ reference }: { readonly reference: string }) => {
    asked.add(reference);
    return { kind: 'acknowledged' } as const;
  };
  const submitter = startSubmitter({
    ...replica,
    rails: [{ name: 'upstream', isAvailable: () => true, payouts: { submit } }],
    concurrencyMax: 4,
    isPaused: () => false,
    pauseMs: 5,
    clock,
    ids,
    logger,
    crashPoint: () => undefined,
  });
  loops.push(decisions, submitter);
  const routes = new Hono();
  addCancellationRoutes(routes, {
    ...replica,
    apply: decisions.apply,
    logger,
  });
  const app = guardOperator(routes, createOperators(TOKEN));
  const post = (body: object) =>
    app.request('/payments/cancel', {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  const apply = (reference: string, command: PayoutCommand) =>
    decisions.apply({ reference, causationId: null, command });
  const accepted = async (name: string) => {
    const taken = await replica.payouts.request(demo, single(name));
    return taken.ok ? taken.value.reference : '';
  };
  const recordOf = (reference: string) => replica.store.collection.findOne({ reference });
  return { ...replica, post, apply, accepted, recordOf };
}

async function endsOf(references: readonly string[]) {
  await eventually(async () => expect(await open.db.collection('outbox').countDocuments()).toBe(0));
  const readTopic = await createTopicReader(config);
  const messages = await readTopic(topicNameOf(config, 'payouts'));
  return messages
    .filter(({ payload }) => payload['statusReason'] !== undefined)
    .map(({ payload }) => String(payload['reference']))
    .filter((reference) => references.includes(reference));
}

beforeAll(async () => {
  config = await prepareTestEnvironment();
  open = await openAll();
});

afterAll(async () => {
  for (const loop of loops) await loop[Symbol.asyncDispose]();
  await open.db.dropDatabase();
  for (const scope of scopes.reverse()) await scope[Symbol.asyncDispose]();
});

describe('a payout is cancelled or sent, never both (invariant P15)', () => {
  it('whatever races: claims, and two operators at once', async () => {
    const answers: { readonly reference: string; readonly codes: readonly number[] }[] = [];
    for (let index = 0; index < 16; index += 1) {
      const reference = await open.accepted(`race-${index}`);
      const held = open.apply(reference, { kind: 'confirmHold', nowMs: 0 });
      // Half of them are cancelled about when their hold comes, half about when they are claimed.
      if (index % 2 === 0) await held;
      const both = await Promise.all([open.post({ reference }), open.post({ reference })]);
      await held;
      answers.push({ reference, codes: both.map(({ status }) => status) });
    }
    const references = answers.map(({ reference }) => reference);
    await eventually(async () => {
      const step = { $in: ['awaitingHold', 'held', 'submitting'] as const };
      const unsettled = await open.store.collection.countDocuments({ reference: { $in: references }, step });
      expect(unsettled).toBe(0);
    });
    const cancelled = [];
    for (const { reference, codes } of answers) {
      const { status } = (await open.recordOf(reference)) ?? {};
      expect([reference, asked.has(reference), codes.includes(409)]).toEqual([
        reference,
        status === 'INITIALIZED',
        status === 'INITIALIZED',
      ]);
      if (status === 'FAILED') cancelled.push(reference);
    }
    expect((await endsOf(references)).toSorted()).toEqual(cancelled.toSorted());
  });

  it('before its hold it waits for the answer of the ledger, and then ends without being sent', async () => {
    const reference = await open.accepted('early');
    const answered = await open.post({ merchant: 'demo', reference: 'early' });
    expect(answered.status).toBe(202);
    expect(await answered.json()).toMatchObject({ status: 'INITIALIZED', step: 'awaitingHold' });
    expect(await endsOf([reference])).toEqual([]);
    await open.apply(reference, { kind: 'confirmHold', nowMs: 0 });
    expect(await open.recordOf(reference)).toMatchObject({
      status: 'FAILED',
      statusReason: 'Cancelled before it was sent',
      attempts: 0,
    });
    expect(await endsOf([reference])).toEqual([reference]);
    const again = await open.post({ reference });
    expect([again.status, await again.json()]).toMatchObject([
      200,
      { status: 'FAILED', steps: [{}, { what: 'failed: cancelled by operator before it was sent' }] },
    ]);
    expect(asked).not.toContain(reference);
  });

  it('a dry run changes nothing, and neither does an operator while the database may be an older one', async () => {
    const reference = await open.accepted('kept');
    const before = await open.recordOf(reference);
    expect((await open.post({ reference, dryRun: true })).status).toBe(200);
    expect(await open.recordOf(reference)).toEqual(before);
    expect((await open.post({ reference: 'po-unknown' })).status).toBe(404);
  });
});
