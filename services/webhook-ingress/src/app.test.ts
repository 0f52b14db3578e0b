import { createHash } from 'node:crypto';
import type { Clock } from '@pesewa/kernel';
import { createLogger } from '@pesewa/runtime';
import { describe, expect, test } from 'vitest';
import { createApp } from './app.ts';
import type { Faults } from './ingress.fixture.ts';
import { createTestClock, openIngress, payoutBody, REFERENCE, START_MS } from './ingress.fixture.ts';

const path = '/rails/upstream/payouts';
const body = payoutBody();

test('a callback is stored with its evidence and told of, then answered 200', async () => {
  const ingress = openIngress();
  const headers = { authorization: 'Bearer x', 'user-agent': 'rail/1', 'content-type': 'application/json' };
  const answer = await ingress.post(path, body, headers, '::ffff:203.0.113.7');
  expect([answer.status, await answer.json()]).toEqual([200, { received: true }]);
  const digest = createHash('sha256').update(body).digest('hex');
  const [callback] = ingress.stored.values();
  expect(callback).toMatchObject({
    rail: 'upstream',
    kind: 'payout',
    digest,
    verdict: { address: 'any', signature: 'not_required', proven: false },
    peerAddress: '::ffff:203.0.113.7',
    clientAddress: '203.0.113.7',
    receivedAtMs: START_MS,
  });
  expect(Buffer.from(callback?.body ?? []).toString()).toBe(body);
  expect(callback?.headers.map(({ name }) => name).toSorted()).toEqual(['content-type', 'user-agent']);
  expect(ingress.emitted).toEqual([
    {
      topic: 'railNotices',
      key: REFERENCE,
      version: 0n,
      causationId: null,
      type: 'pesewa.rails.CallbackReceived',
      payload: {
        eventId: expect.stringMatching(/^ev-/) as string,
        occurredAt: BigInt(START_MS),
        rail: 'upstream',
        reference: REFERENCE,
        kind: 'payout',
        digest,
        claimedStatus: 'COMPLETED',
        claimedAmount: '20.5',
        claimedFee: '0.1',
        claimedReason: 'Successful',
        proven: false,
      },
    },
  ]);
  expect(ingress.counted).toEqual([{ result: 'stored', reason: '' }]);
});

describe('the same bytes again', () => {
  test('are answered 200 and told of once while they are fresh', async () => {
    const ingress = openIngress();
    await ingress.post(path, body);
    ingress.clock.now += 59_999;
    expect((await ingress.post(path, body)).status).toBe(200);
    expect(ingress.emitted).toHaveLength(1);
    expect([...ingress.records.values()]).toMatchObject([{ deliveries: 2, timesPassedOn: 1 }]);
    expect(ingress.counted.at(-1)).toEqual({ result: 'repeated', reason: '' });
  });

  test('are told of again after a quiet time, which starts anew', async () => {
    const ingress = openIngress();
    await ingress.post(path, body);
    ingress.clock.now += 60_000;
    await ingress.post(path, body);
    expect(ingress.counted.at(-1)).toEqual({ result: 'repassed', reason: '' });
    ingress.clock.now += 59_999;
    await ingress.post(path, body);
    expect(ingress.emitted).toHaveLength(2);
    expect(ingress.emitted[1]?.payload).toMatchObject({ reference: REFERENCE, claimedStatus: 'COMPLETED' });
    expect(new Set(ingress.emitted.map(({ payload }) => payload.eventId)).size).toBe(2);
    expect([...ingress.records.values()]).toMatchObject([{ deliveries: 3, timesPassedOn: 2 }]);
  });

  test('are another callback for the other kind', async () => {
    const ingress = openIngress();
    await ingress.post(path, body);
    expect((await ingress.post('/rails/upstream/collections', body)).status).toBe(400);
  });
});

describe('a defect of ours', () => {
  test('keeps the callback as failed and asks for it again, which drives it', async () => {
    const faults: Faults = { translation: new TypeError('0712345678 is not a function') };
    const ingress = openIngress({ faults });
    const answer = await ingress.post(path, body);
    expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
    expect([...ingress.records.values()]).toMatchObject([
      { state: 'failed', claim: null, passedOnAtMs: null, timesPassedOn: 0 },
    ]);
    expect(Buffer.from([...ingress.stored.values()][0]?.body ?? []).toString()).toBe(body);
    expect(JSON.stringify(ingress.warned)).toContain('TypeError');
    expect(JSON.stringify(ingress.warned)).not.toContain('0712345678');
    expect((await ingress.post(path, body)).status).toBe(503);
    expect(ingress.emitted).toEqual([]);

    faults.translation = undefined;
    expect((await ingress.post(path, body)).status).toBe(200);
    expect([...ingress.records.values()]).toMatchObject([
      { state: 'passed_on', failure: null, passedOnAtMs: START_MS, timesPassedOn: 1, deliveries: 3 },
    ]);
    expect(ingress.emitted).toHaveLength(1);
    expect(ingress.counted.map(({ result }) => result)).toEqual(['failed', 'failed', 'recovered']);
  });

  test('does not touch a callback that was passed on before', async () => {
    const faults: Faults = {};
    const ingress = openIngress({ faults });
    await ingress.post(path, body);
    faults.translation = new TypeError('broken');
    expect((await ingress.post(path, body)).status).toBe(200);
    ingress.clock.now += 60_000;
    expect((await ingress.post(path, body)).status).toBe(200);
    expect(ingress.emitted).toHaveLength(2);
  });

  test('is driven again by hand once it is mended', async () => {
    const faults: Faults = { translation: new TypeError('broken') };
    const ingress = openIngress({ faults });
    await ingress.post(path, body);
    const id = [...ingress.stored.values()][0]?.id ?? '';
    expect(await ingress.callbacks.redrive(id)).toEqual({ ok: false, refusal: 'callback.unreadable' });
    faults.translation = undefined;
    expect(await ingress.callbacks.redrive(id)).toEqual({ ok: true, value: 'passed_on' });
    expect(await ingress.callbacks.redrive(id)).toEqual({ ok: true, value: 'passed_on' });
    expect(await ingress.callbacks.redrive('cb-2')).toEqual({ ok: false, refusal: 'callback.unknown' });
    expect(ingress.emitted).toHaveLength(2);
    expect([...ingress.records.values()]).toMatchObject([{ state: 'passed_on', timesPassedOn: 2 }]);
  });
});

test.each([
  ['cut off', '{"data":'],
  ['no callback', '{}'],
  ['empty', ''],
  ['no JSON', 'plain text'],
  ['too deep', `${'['.repeat(33)}${']'.repeat(33)}`],
  ['one key twice', body.replace('"amount":20.5', '"amount":20.5,"amount":205')],
  ['a status that is none', payoutBody({ transactionStatus: 'DONE' })],
  ['no UTF-8', new Uint8Array([0x7b, 0xff, 0x7d])],
])('a body that is %s is kept as rejected, answered 400 and not told of', async (_, bytes) => {
  const ingress = openIngress();
  const answer = await ingress.post(path, bytes, { cookie: 'a=b' });
  expect(answer.status).toBe(400);
  expect(ingress.rejected).toMatchObject([{ reason: 'body.malformed' }]);
  expect(Buffer.from(ingress.rejected[0]?.body ?? [])).toEqual(Buffer.from(bytes));
  expect(ingress.rejected[0]?.headers.map(({ name }) => name)).not.toContain('cookie');
  expect([ingress.stored.size, ingress.emitted.length]).toEqual([0, 0]);
  expect(ingress.counted).toEqual([{ result: 'rejected', reason: 'body.malformed' }]);
});

test.each([
  '233240000000',
  'ama.mensah',
  'po-1',
  `PO-${'0'.repeat(32)}`,
  `co-${'0'.repeat(32)}`,
  `po-${'0'.repeat(33)}`,
])('%s is no reference of a payout of ours: it goes on no topic', async (merchantReference) => {
  const ingress = openIngress();
  expect((await ingress.post(path, payoutBody({ merchantReference }))).status).toBe(400);
  expect(ingress.rejected).toMatchObject([{ reason: 'reference.foreign' }]);
  expect(ingress.emitted).toEqual([]);
});

test('a reason travels as one bounded line without numbers of people', async () => {
  const ingress = openIngress();
  const statusReason = `no wallet\u0000 for\n+254 712-345 678 of ama@example.com ${'x'.repeat(1_000)}`;
  await ingress.post(path, payoutBody({ statusReason }));
  const [event] = ingress.emitted;
  const { claimedReason } = (event?.payload ?? {}) as { claimedReason?: string };
  expect(claimedReason).toMatch(/^no wallet {1,2}for \+\*\*\* of \*\*\* x+$/);
  expect(claimedReason?.length).toBeLessThanOrEqual(140);
});

test('a body beyond 64 kB is answered 413 and not kept', async () => {
  const ingress = openIngress();
  expect((await ingress.post(path, 'a'.repeat(65_537))).status).toBe(413);
  expect((await ingress.post(path, 'a'.repeat(65_536))).status).toBe(400);
  expect(ingress.rejected).toHaveLength(1);
  expect(ingress.counted[0]).toEqual({ result: 'rejected', reason: 'too_large' });
});

test('a compressed body is answered 415 and not read', async () => {
  const ingress = openIngress();
  expect((await ingress.post(path, body, { 'content-encoding': 'gzip' })).status).toBe(415);
  expect((await ingress.post(path, body, { 'content-encoding': 'identity' })).status).toBe(200);
  expect(ingress.rejected).toEqual([]);
});

test.each([
  '/rails/unknown/payouts',
  '/rails/upstream/refunds',
  '/rails/upstream/constructor',
  '/rails/constructor/payouts',
  '/rails/upstream',
  '/',
])('%s is answered 404', async (wrong) => {
  const ingress = openIngress();
  expect((await ingress.post(wrong, body)).status).toBe(404);
  expect([ingress.stored.size, ingress.rejected.length, ingress.counted.length]).toEqual([0, 0, 0]);
});

test.each([body, 'garbage'])('what cannot be stored is answered 503', async (bytes) => {
  const ingress = openIngress({ faults: { store: new Error('no primary') } });
  const answer = await ingress.post(path, bytes);
  expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '5']);
  expect(ingress.counted).toEqual([{ result: 'not_stored', reason: '' }]);
});

test('storing that takes too long is answered 503', async () => {
  const impatient: Clock = { ...createTestClock(), sleep: async () => undefined };
  const app = createApp({
    callbacks: { isRail: () => true, receive: () => new Promise(() => undefined) },
    clock: impatient,
    logger: createLogger({ name: 'test', level: 'silent' }),
    metrics: { answered: () => undefined, durableAfter: () => undefined },
    storeTimeoutMs: 1,
    trustedProxies: 0,
  });
  expect((await app.request(path, { method: 'POST', body })).status).toBe(503);
});
