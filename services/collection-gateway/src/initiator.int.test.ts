import { systemClock } from '@pesewa/kernel';
import type { InitiationResult } from '@pesewa/rails';
import {
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
} from '@pesewa/testkit';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { createTestRail, merchantWith, openReplica, payin, type Replica } from './fixtures/replica.ts';

let config: TestConfig;
const scopes: TestScope[] = [];
const demo = merchantWith('demo');
const outage: InitiationResult = { kind: 'notSent', why: 'circuit open', retryAfterMs: 20 };
const works: InitiationResult = { kind: 'acknowledged', redirectionUrl: '' };
const script: { answer: InitiationResult } = { answer: works };
const rail = createTestRail({ initiate: async () => script.answer });

const open = (options: Partial<Parameters<typeof openReplica>[1]> = {}) => {
  const scope = openTestScope(config);
  scopes.push(scope);
  return openReplica(scope, { rail, consumes: true, ...options });
};
const off = (durationMs: number) => ({ ...systemClock, nowMs: () => systemClock.nowMs() + durationMs });

/** Accepts a collection and initiates it once; gives our reference. */
async function submitted(replica: Replica, merchantReference: string): Promise<string> {
  const accepted = await replica.collections.accept(demo, payin(merchantReference));
  if (!accepted.ok) throw new Error(accepted.refusal.reason);
  await replica.initiate(accepted.value);
  return accepted.value.reference;
}

beforeAll(async () => {
  config = await prepareTestEnvironment();
});

beforeEach(() => {
  rail.initiations.length = 0;
});

afterAll(async () => {
  for (const scope of scopes.splice(0).reverse()) await scope[Symbol.asyncDispose]();
});

test.each([-4_000, 4_000])(
  'a queued collection goes out by a clock that is %i ms off the database’s',
  async (skewMs) => {
    const replica = await open({ clock: off(skewMs) });
    script.answer = outage;
    const reference = await submitted(replica, `skewed${skewMs}`);
    script.answer = works;
    await eventually(async () =>
      expect(await replica.collections.find('demo', reference)).toMatchObject({ step: 'awaitingOtp' }),
    );
    expect(rail.initiations.filter((asked) => asked === reference)).toHaveLength(2);
    await scopes.pop()?.[Symbol.asyncDispose]();
  },
);

test('a queued collection is not sent while its rail is paused (ADR 77)', async () => {
  const pauses = { isPaused: false };
  const replica = await open({ isPaused: () => pauses.isPaused });
  script.answer = works;
  const accepted = await replica.collections.accept(demo, payin('paused'));
  if (!accepted.ok) throw new Error(accepted.refusal.reason);
  pauses.isPaused = true;
  await replica.initiate(accepted.value);
  const { reference } = accepted.value;
  expect(rail.initiations.filter((asked) => asked === reference)).toEqual([]);
  expect(await replica.collections.find('demo', reference)).toMatchObject({ step: 'queued' });
  await scopes.pop()?.[Symbol.asyncDispose]();
});

test('a queued collection that has waited too long is not sent any more, and counts no attempt', async () => {
  const replica = await open({ initiateForMs: 1_000 });
  script.answer = outage;
  const reference = await submitted(replica, 'waited');
  await eventually(async () =>
    expect(await replica.collections.find('demo', reference)).toMatchObject({ step: 'abandoned' }),
  );
  script.answer = works;
  const abandoned = await replica.collections.find('demo', reference);
  expect(abandoned).toMatchObject({ status: 'PENDING', attempts: rail.initiations.length });
  const observed = await replica.collections.recordOutcome({
    reference,
    causationId: null,
    command: {
      kind: 'observe',
      resubmitGraceMs: 0,
      fact: {
        status: 'notFound',
        amount: null,
        fee: null,
        reason: '',
        polledAtMs: systemClock.nowMs(),
      },
    },
  });
  expect(observed?.collection).toMatchObject({ status: 'FAILED', failureReason: 'EXPIRED', step: 'ended' });
  expect(abandoned).toBeDefined();
  expect(rail.initiations).toHaveLength(abandoned?.attempts ?? 0);
});
