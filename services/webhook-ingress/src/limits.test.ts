import { describe, expect, test } from 'vitest';
import type { Faults } from './ingress.fixture.ts';
import { openIngress, payoutBody, secretOf, signed } from './ingress.fixture.ts';

const path = '/rails/upstream/payouts';
const body = payoutBody();

/** Makes a clock's sleepers without a signal wait until they are woken, and records how long they would sleep. */
function holdWaits(clock: ReturnType<typeof openIngress>['clock']) {
  const { sleep } = clock;
  const waits: number[] = [];
  const woken = Promise.withResolvers<void>();
  clock.sleep = (durationMs, signal) => {
    if (signal) return sleep(durationMs, signal);
    waits.push(durationMs);
    return woken.promise;
  };
  return { waits, wake: woken.resolve };
}

describe('more at once than may be', () => {
  test('is answered 429 where nothing verifies it, stored nowhere, and noted once', async () => {
    const ingress = openIngress({ perSecondMax: 2 });
    const answers = [];
    for (const amount of [1, 2, 3, 4]) answers.push(await ingress.post(path, payoutBody({ amount })));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 429, 429]);
    expect(answers[2]?.headers.get('retry-after')).toBe('1');
    expect([ingress.stored.size, ingress.rejected.length, ingress.warned.length]).toEqual([2, 0, 1]);
    expect(ingress.counted.at(-1)).toEqual({ result: 'rate_exceeded', reason: '' });
    ingress.clock.now += 1_000;
    expect((await ingress.post(path, payoutBody({ amount: 3 }))).status).toBe(200);
  });

  test('of strangers takes nothing from a rail with addresses', async () => {
    const ingress = openIngress({ perSecondMax: 1, rail: { callbackAddresses: ['203.0.113.7'] } });
    const strangers = [];
    for (const _ of [1, 2, 3]) strangers.push((await ingress.post(path, body, {}, '198.51.100.9')).status);
    expect([strangers, ingress.rejected.length]).toEqual([[403, 429, 429], 1]);
    for (const amount of [1, 2, 3])
      expect((await ingress.post(path, payoutBody({ amount }), {}, '203.0.113.7')).status).toBe(200);
  });

  test('of those who sign wrongly is stored no more often than the rate, and takes nothing from the rail', async () => {
    const ingress = openIngress({ perSecondMax: 2, rail: { callbackSecrets: [secretOf(1)] } });
    const forged = [];
    for (const id of ['a', 'b', 'c', 'd'])
      forged.push((await ingress.post(path, body, signed(body, { id, secrets: [secretOf(2)] }))).status);
    expect([forged, ingress.rejected.length]).toEqual([[401, 401, 429, 429], 2]);
    expect((await ingress.post(path, body, signed(body, { id: 'e' }))).status).toBe(200);
  });

  test.each([
    ['their address is that of the rail', '203.0.113.7'],
    ['they have another address', '198.51.100.9'],
  ])('of forgers shuts no signed callback out where %s', async (_, forger) => {
    const ingress = openIngress({ perSecondMax: 2, rail: { callbackSecrets: [secretOf(1)] } });
    const forged = signed(body, { secrets: [secretOf(2)] });
    const statuses = [];
    for (let index = 0; index < 50; index += 1) {
      await ingress.post(path, body, forged, forger);
      const headers = signed(body, { id: `msg-${index}` });
      statuses.push((await ingress.post(path, body, headers, '203.0.113.7')).status);
    }
    expect([new Set(statuses), ingress.stored.size]).toEqual([new Set([200]), 50]);
  });

  test.each([
    ['the address', { callbackAddresses: ['203.0.113.7'] }, '203.0.113.7', secretOf(2), 401],
    ['the signature', { callbackAddresses: ['203.0.113.7'] }, '198.51.100.9', secretOf(1), 403],
  ])(
    'of those of whom only %s is right is kept no more often than the rate',
    async (_, addresses, from, secret, status) => {
      const rail = { ...addresses, callbackSecrets: [secretOf(1)] };
      const ingress = openIngress({ perSecondMax: 2, rail });
      const statuses = [];
      for (const id of ['a', 'b', 'c'])
        statuses.push((await ingress.post(path, body, signed(body, { id, secrets: [secret] }), from)).status);
      expect([statuses, ingress.rejected.length]).toEqual([[status, status, 429], 2]);
      expect((await ingress.post(path, body, signed(body, { id: 'd' }), '203.0.113.7')).status).toBe(200);
    },
  );

  test('of forgers is answered after a second, but at once where 256 wait, and genuine ones always at once', async () => {
    const ingress = openIngress({ perSecondMax: 1, rail: { callbackSecrets: [secretOf(1)] } });
    const { waits, wake } = holdWaits(ingress.clock);
    expect((await ingress.post(path, body)).status).toBe(401);
    const waiting = Array.from({ length: 256 }, () => ingress.post(path, body));
    await expect.poll(() => waits).toEqual(Array.from({ length: 256 }, () => 1_000));
    expect((await ingress.post(path, body)).status).toBe(429);
    expect((await ingress.post(path, body, signed(body))).status).toBe(200);
    wake();
    expect(new Set((await Promise.all(waiting)).map(({ status }) => status))).toEqual(new Set([429]));
    void ingress.post(path, body);
    await expect.poll(() => waits).toHaveLength(257);
  });

  test('is never answered late where the rail itself may have sent it', async () => {
    const ingress = openIngress({ perSecondMax: 1 });
    const { waits } = holdWaits(ingress.clock);
    for (const status of [200, 429]) expect((await ingress.post(path, body)).status).toBe(status);
    expect(waits).toEqual([]);
  });

  test('is nothing to a verified callback', async () => {
    const ingress = openIngress({ perSecondMax: 1, rail: { callbackSecrets: [secretOf(1)] } });
    for (const id of ['a', 'b', 'c'])
      expect((await ingress.post(path, body, signed(body, { id }))).status).toBe(200);
  });

  test('of one rail leaves room for what another one has signed', async () => {
    const stall = Promise.withResolvers<void>();
    const ingress = openIngress({ faults: { stall: stall.promise }, perSecondMax: 10_000 });
    const flood = Array.from({ length: 5_200 }, (_, amount) => ingress.post(path, payoutBody({ amount })));
    await expect.poll(() => ingress.counted).toContainEqual({ result: 'overloaded', reason: '' });
    const headers = signed(body, { secrets: [secretOf(9)] });
    expect((await ingress.post('/rails/other/payouts', body, headers)).status).toBe(200);
    stall.resolve();
    const statuses = (await Promise.all(flood)).map(({ status }) => status);
    const taken = statuses.filter((status) => status === 200).length;
    // At most 5,000 of them wait.
    expect([taken, new Set(statuses)]).toEqual([5_000, new Set([200, 503])]);
    expect(ingress.warned).toHaveLength(1);
  }, 30_000);

  test('of the disk is answered 503 where a callback is unauthenticated, and noted once', async () => {
    const faults: Faults = { room: 'none' };
    const ingress = openIngress({ faults });
    const refused = await ingress.post(path, body);
    await ingress.post(path, body);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect([ingress.stored.size, ingress.warned.length]).toEqual([0, 1]);
    expect(ingress.counted.at(-1)).toEqual({ result: 'no_room', reason: '' });
    faults.room = undefined;
    expect((await ingress.post(path, body)).status).toBe(200);
  });

  test('of the disk is nothing to what a signature or a listed address vouches for', async () => {
    const faults: Faults = { room: 'none' };
    const signing = openIngress({ faults, rail: { callbackSecrets: [secretOf(1)] } });
    expect((await signing.post(path, body, signed(body))).status).toBe(200);
    const listed = openIngress({ faults, rail: { callbackAddresses: ['203.0.113.7'] } });
    expect((await listed.post(path, body, {}, '203.0.113.7')).status).toBe(200);
  });

  test('of events that wait for Kafka is answered 503, and stored when it is sent again later', async () => {
    const faults: Faults = { outbox: 'full' };
    const ingress = openIngress({ faults });
    const refused = await ingress.post(path, body);
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '5']);
    expect([ingress.stored.size, ingress.emitted.length]).toEqual([0, 0]);
    faults.outbox = undefined;
    expect((await ingress.post(path, body)).status).toBe(200);
    expect([ingress.stored.size, ingress.emitted.length]).toEqual([1, 1]);
  });

  test('of rejected ones is answered 503, counted as not kept, and noted once', async () => {
    const faults: Faults = { rejections: 'full' };
    const ingress = openIngress({ faults });
    for (const _ of [1, 2, 3]) expect((await ingress.post(path, 'garbage')).status).toBe(503);
    expect(ingress.counted).toEqual(Array.from({ length: 3 }, () => ({ result: 'not_kept', reason: '' })));
    expect(ingress.warned).toHaveLength(1);
    ingress.clock.now += 10_000;
    await ingress.post(path, 'garbage');
    expect(ingress.warned.at(-1)).toEqual([{ leftOut: 2 }, expect.stringContaining('not kept')]);
  });
});
