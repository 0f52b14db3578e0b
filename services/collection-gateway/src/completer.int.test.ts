import { systemClock } from '@pesewa/kernel';
import type { CompletionResult } from '@pesewa/rails';
import {
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
  topicNameOf,
} from '@pesewa/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { createTestRail, merchantWith, openReplica, payin, type Replica } from './fixtures/replica.ts';

type Complete = (otpCode: string | undefined) => Promise<CompletionResult>;

let config: TestConfig;
let left: Replica;
let right: Replica;
const scopes: TestScope[] = [];
const demo = merchantWith('demo');
const wrong: CompletionResult = { kind: 'refused', reason: 'Incorrect OTP' };
const script: { complete: Complete } = { complete: async () => ({ kind: 'acknowledged' }) };
const rail = createTestRail({ complete: (otpCode) => script.complete(otpCode) });

const open = (
  options: Partial<Parameters<typeof openReplica>[1]> = {},
  overrides: Parameters<typeof openTestScope>[1] = {},
) => {
  const scope = openTestScope(config, overrides);
  scopes.push(scope);
  return openReplica(scope, { rail, ...options });
};
const later = (durationMs: number) => ({
  ...systemClock,
  nowMs: () => systemClock.nowMs() + durationMs,
});
const either = (index: number): Replica => (index % 2 === 0 ? left : right);

/** Initiates a collection; gives the function that completes it at a replica. */
async function initiated(reference: string, changes: Readonly<Record<string, unknown>> = {}) {
  const form = payin(reference, changes);
  const accepted = await left.collections.accept(demo, form);
  if (!accepted.ok) throw new Error(accepted.refusal.reason);
  await left.initiate(accepted.value);
  const complete = async (replica: Replica, otpCode?: string) => {
    const outcome = await replica.complete(demo, form, otpCode);
    return outcome.ok ? 'pending' : outcome.refusal.reason;
  };
  const stored = () => left.collections.find('demo', reference);
  return { complete, stored };
}

async function closedEvents(merchantReference: string) {
  await eventually(async () => expect(await left.db.collection('outbox').countDocuments()).toBe(0));
  const readTopic = await createTopicReader(config);
  const messages = await readTopic(topicNameOf(config, 'collections'));
  return messages.filter(
    ({ type, payload }) =>
      type.endsWith('CompletionClosed') && payload['merchantReference'] === merchantReference,
  );
}

beforeAll(async () => {
  config = await prepareTestEnvironment();
  // A long deadline, so that waiting for the lock does not fail because the machine is slow.
  left = await open({ deadlineMs: 30_000 });
  right = await open({ deadlineMs: 30_000 });
});

beforeEach(() => {
  rail.completions.length = 0;
  script.complete = async () => ({ kind: 'acknowledged' });
});

afterAll(async () => {
  await left.db.dropDatabase();
  for (const scope of scopes.reverse()) await scope[Symbol.asyncDispose]();
});

describe('of one collection, over all replicas', () => {
  test('three wrong OTPs are passed on and no fourth, however many come at once', async () => {
    script.complete = async () => wrong;
    const { complete, stored } = await initiated('guessed');
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) => complete(either(index), `${100_000 + index}`)),
    );
    expect(rail.completions).toHaveLength(3);
    expect(answers.filter((answer) => answer === 'INCORRECT OTP')).toHaveLength(3);
    expect(answers.filter((answer) => answer === 'OTP ATTEMPTS EXCEEDED')).toHaveLength(9);
    expect(await stored()).toMatchObject({ status: 'PENDING', completionAttempts: 3 });
    expect(await closedEvents('guessed')).toHaveLength(1);
  });

  test('two right OTPs at once make one call, and get the same answer', async () => {
    const called = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<CompletionResult>();
    script.complete = () => {
      called.resolve();
      return answered.promise;
    };
    const { complete, stored } = await initiated('twice');
    const first = complete(left, '123456');
    await called.promise;
    const others = [complete(right, '123456'), complete(left, '123456')];
    await eventually(() =>
      expect([...left.refusals, ...right.refusals]).toContain('collection.completion_under_way'),
    );
    answered.resolve({ kind: 'acknowledged' });
    expect(await Promise.all([first, ...others])).toEqual(['pending', 'pending', 'pending']);
    expect(rail.completions).toEqual(['123456']);
    expect(await stored()).toMatchObject({ step: 'completing', completionAttempts: 1 });
    expect(await complete(right, '123456')).toBe('pending');
    expect(rail.completions).toHaveLength(1);
  });

  test('an OTP that waited for a wrong one is passed on as a try of its own', async () => {
    const answered = Promise.withResolvers<CompletionResult>();
    script.complete = async (otpCode) => (otpCode === '123456' ? { kind: 'acknowledged' } : answered.promise);
    const { complete, stored } = await initiated('second');
    const first = complete(left, '000000');
    await eventually(() => expect(rail.completions).toHaveLength(1));
    const second = complete(right, '123456');
    answered.resolve(wrong);
    expect(await Promise.all([first, second])).toEqual(['INCORRECT OTP', 'pending']);
    expect(rail.completions).toEqual(['000000', '123456']);
    expect(await stored()).toMatchObject({ step: 'completing', completionAttempts: 2 });
  });

  test('the try of a process that died stays counted, and the next waits for its lease', async () => {
    const dying = await open(
      {},
      {
        crashPoint: (point) => {
          if (point === 'collections.complete.before-call') throw new Error('the process is gone');
        },
      },
    );
    const hurried = await open({ deadlineMs: 300 });
    // The lease lasts for a call's deadline of one second plus twelve.
    const past = await open({ clock: later(13_000) });
    const { complete, stored } = await initiated('died');
    expect(await complete(dying, '123456')).toBe('pending');
    expect(await complete(hurried, '123456')).toBe('SERVICE UNAVAILABLE');
    expect(rail.completions).toEqual([]);
    expect(await stored()).toMatchObject({ completionAttempts: 1 });
    expect(await complete(past, '123456')).toBe('pending');
    expect(rail.completions).toEqual(['123456']);
    expect(await stored()).toMatchObject({ step: 'completing', completionAttempts: 2 });
  });

  test('a try whose commit takes so long that its lease might end before the call is made anew, and counted once', async () => {
    let aheadMs = 0;
    const slow = await open(
      { clock: { ...systemClock, nowMs: () => systemClock.nowMs() + aheadMs }, deadlineMs: 30_000 },
      {
        crashPoint: (point) => {
          if (point === 'collections.complete.after-commit' && aheadMs === 0) aheadMs = 3_000;
        },
      },
    );
    const { complete, stored } = await initiated('slow');
    expect(await complete(slow, '123456')).toBe('pending');
    expect(aheadMs).toBe(3_000);
    expect(rail.completions).toEqual(['123456']);
    expect(await stored()).toMatchObject({ step: 'completing', completionAttempts: 1 });
  });

  test('what is unclear holds the others back until its lease is over', async () => {
    script.complete = async () => ({ kind: 'unknown', why: 'HTTP 500' });
    const hurried = await open({ deadlineMs: 300 });
    const { complete, stored } = await initiated('unclear');
    expect(await complete(left, '123456')).toBe('pending');
    expect(await complete(hurried, '123456')).toBe('SERVICE UNAVAILABLE');
    expect(rail.completions).toHaveLength(1);
    script.complete = async () => ({ kind: 'acknowledged' });
    expect(await complete(right, '123456')).toBe('pending');
    expect(rail.completions).toHaveLength(2);
    expect(await stored()).toMatchObject({ step: 'completing', completionAttempts: 2 });
  });

  test('one is passed on at a time though two clocks are ten seconds apart', async () => {
    const answered = Promise.withResolvers<CompletionResult>();
    script.complete = () => answered.promise;
    const slow = await open({ clock: later(-5_000) });
    // Two seconds after the first one took the lock; its call may take one more.
    const fast = await open({ clock: later(5_000 + 2_000), deadlineMs: 300 });
    const { complete } = await initiated('apart');
    const first = complete(slow, '123456');
    await eventually(() => expect(rail.completions).toHaveLength(1));
    expect(await complete(fast, '123456')).toBe('SERVICE UNAVAILABLE');
    expect(rail.completions).toHaveLength(1);
    answered.resolve({ kind: 'acknowledged' });
    expect(await first).toBe('pending');
  });

  test('after five minutes nothing is passed on, and the event that has the rail asked is published once', async () => {
    const clock = later(5 * 60_000 + 1_000);
    const late = await Promise.all([open({ clock }), open({ clock })]);
    const { complete, stored } = await initiated('expired');
    const answers = await Promise.all(
      [0, 1, 2, 3].map((index) => complete(late[index % 2] ?? left, '123456')),
    );
    expect(answers).toEqual(Array(4).fill('OTP EXPIRED'));
    expect(rail.completions).toEqual([]);
    expect(await stored()).toMatchObject({ status: 'PENDING', completionClosed: true });
    expect(await closedEvents('expired')).toHaveLength(1);
  });
});

test('the OTPs of one number are counted over its collections and all replicas, exactly', async () => {
  script.complete = async () => wrong;
  const startMs = systemClock.nowMs();
  const clock = { ...systemClock, nowMs: () => startMs };
  const replicas = await Promise.all([0, 1].map(() => open({ otpTriesPerNumberPerHour: 4, clock })));
  const spellings = ['2203555555', '+2203555555', '3555555'];
  const collections = await Promise.all(
    spellings.map((customerNumber, index) => initiated(`budget-${index}`, { customerNumber })),
  );
  const answers = await Promise.all(
    collections.flatMap(({ complete }) =>
      replicas.map((replica, index) => complete(replica, `00000${index}`)),
    ),
  );
  expect(rail.completions).toHaveLength(4);
  expect(answers.filter((answer) => answer === 'TOO MANY REQUESTS')).toHaveLength(2);
  const tries = await Promise.all(collections.map(({ stored }) => stored()));
  for (const collection of tries) expect(collection).toBeDefined();
  expect(tries.reduce((sum, collection) => sum + (collection?.completionAttempts ?? 0), 0)).toBe(4);
});

test('a merchant has a limit of its own, before the one that all share', async () => {
  script.complete = async () => wrong;
  const startMs = systemClock.nowMs();
  const clock = { ...systemClock, nowMs: () => startMs };
  const limits = { otpTriesPerNumberPerHour: 3, merchantOtpTriesPerNumberPerHour: 2 };
  const replica = await open({ ...limits, clock });
  const guess = async (id: string) => {
    const form = payin('own', { customerNumber: '2203777777' });
    const accepted = await replica.collections.accept(merchantWith(id), form);
    if (!accepted.ok) throw new Error(accepted.refusal.reason);
    await replica.initiate(accepted.value);
    const answers = [];
    for (let round = 0; round < 3; round += 1) {
      const outcome = await replica.complete(merchantWith(id), form, '000000');
      answers.push(outcome.ok ? 'pending' : outcome.refusal.reason);
    }
    return answers;
  };
  expect(await guess('first')).toEqual(['INCORRECT OTP', 'INCORRECT OTP', 'TOO MANY REQUESTS']);
  expect(await guess('second')).toEqual(['INCORRECT OTP', 'TOO MANY REQUESTS', 'TOO MANY REQUESTS']);
});

test('an OTP that was certainly not sent is not counted for its number either', async () => {
  const startMs = systemClock.nowMs();
  const clock = { ...systemClock, nowMs: () => startMs };
  const replica = await open({ otpTriesPerNumberPerHour: 2, clock });
  const { complete, stored } = await initiated('outage', { customerNumber: '2203666666' });
  script.complete = async () => ({ kind: 'notSent', why: 'circuit open', retryAfterMs: 1 });
  for (let round = 0; round < 5; round += 1)
    expect(await complete(replica, '123456')).toBe('SERVICE UNAVAILABLE');
  script.complete = async () => wrong;
  const answers = [];
  for (let round = 0; round < 3; round += 1) answers.push(await complete(replica, '000000'));
  expect(answers).toEqual(['INCORRECT OTP', 'INCORRECT OTP', 'TOO MANY REQUESTS']);
  expect(await stored()).toMatchObject({ completionAttempts: 2 });
});

test('no OTP is found anywhere in the database', async () => {
  const { complete } = await initiated('secret');
  script.complete = async (otpCode) => ({ kind: 'refused', reason: `otp ${otpCode} is wrong` });
  expect(await complete(left, '918273')).toBe('OTP *** IS WRONG');
  script.complete = async () => ({ kind: 'acknowledged' });
  expect(await complete(right, '918274')).toBe('pending');
  const everything = await Promise.all(
    (await left.db.collections()).map((collection) => collection.find().toArray()),
  );
  const text = JSON.stringify(everything, (_key, value: unknown) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  expect(text).toContain('secret');
  expect(text).not.toContain('91827');
});
