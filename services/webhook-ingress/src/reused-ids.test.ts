import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { Callback } from './domain/callback.ts';
import type { Faults } from './ingress.fixture.ts';
import { openIngress, payoutBody, secretOf, signed } from './ingress.fixture.ts';

const path = '/rails/upstream/payouts';
const body = payoutBody();
const secret = secretOf(1);
const oneSecret = { callbackSecrets: [secret] };
const proven = { ...oneSecret, callbacks: 'proven' };
const failed = payoutBody({ transactionStatus: 'FAILED' });
const digestOf = (text: string) => createHash('sha256').update(text).digest('hex');

describe('an id', () => {
  test('that is signed makes a callback the same, whenever it was signed', async () => {
    const ingress = openIngress({ rail: oneSecret });
    await ingress.post(path, body, signed(body));
    await ingress.post(path, body, signed(body, { awaySeconds: 30 }));
    expect(ingress.emitted).toHaveLength(1);
    await ingress.post(path, body, signed(body, { id: 'msg-2' }));
    expect(ingress.emitted).toHaveLength(2);
    expect([...ingress.records.keys()]).toEqual(['upstream/payout/id:msg-1', 'upstream/payout/id:msg-2']);
  });

  test('that comes with other bytes is stored and published as a hint, once', async () => {
    const ingress = openIngress({ rail: proven, repassAfterMs: 3_600_000 });
    await ingress.post(path, body, signed(body));
    ingress.clock.now += 120_000;
    for (const _ of [1, 2]) expect((await ingress.post(path, failed, signed(failed))).status).toBe(200);
    expect(ingress.emitted).toMatchObject([
      { payload: { claimedStatus: 'COMPLETED', proven: true, digest: digestOf(body) } },
      { payload: { claimedStatus: 'FAILED', proven: false, digest: digestOf(failed) } },
    ]);
    expect([...ingress.stored.values()].map((one) => Buffer.from(one.body).toString())).toEqual([
      body,
      failed,
    ]);
    expect([...ingress.records.values()]).toMatchObject([
      {
        deliveries: 1,
        conflicts: 1,
        otherDigests: [digestOf(failed)],
        claim: { claimedStatus: 'COMPLETED' },
      },
      { deliveries: 2, conflicts: 0, claim: { claimedStatus: 'FAILED' } },
    ]);
    expect([ingress.rejected.length, ingress.warned.length]).toEqual([0, 1]);
    expect(ingress.counted.map(({ result }) => result)).toEqual(['stored', 'id_reused', 'repeated']);
  });

  test('whose other bytes are driven again by hand, or come again later, stay a hint', async () => {
    const ingress = openIngress({ rail: proven, repassAfterMs: 0 });
    await ingress.post(path, body, signed(body));
    await ingress.post(path, failed, signed(failed));
    await ingress.post(path, failed, signed(failed));
    const [first, other] = ingress.stored.values();
    await ingress.callbacks.redrive(other?.id ?? '');
    await ingress.callbacks.redrive(first?.id ?? '');
    expect(ingress.emitted.map(({ payload }) => (payload as { proven?: boolean }).proven)).toEqual([
      true,
      false,
      false,
      false,
      true,
    ]);
  });

  test.each(['a byte more', 'another claim'])(
    'whose first bytes could not be read gives its place to %s',
    async (change) => {
      const faults: Faults = { translation: new TypeError('broken') };
      const ingress = openIngress({ rail: proven, faults });
      expect((await ingress.post(path, body, signed(body))).status).toBe(503);
      faults.translation = undefined;
      const later = change === 'a byte more' ? `${body}\n` : failed;
      for (const _ of [1, 2]) expect((await ingress.post(path, later, signed(later))).status).toBe(200);
      expect(ingress.emitted).toMatchObject([{ payload: { proven: true, digest: digestOf(later) } }]);
      expect([...ingress.records.values()]).toMatchObject([
        { state: 'dismissed', digest: digestOf(body), otherDigests: [digestOf(later)] },
        { state: 'passed_on', digest: digestOf(later), deliveries: 2 },
      ]);
      expect(ingress.counted.map(({ result }) => result)).toEqual(['failed', 'recovered', 'repeated']);
      // The first bytes are readable at last, and contradict what was published, so they are a hint.
      expect((await ingress.post(path, body, signed(body))).status).toBe(200);
      expect(ingress.emitted[1]).toMatchObject({ payload: { proven: false, digest: digestOf(body) } });
    },
  );

  test('that is not signed counts for nothing', async () => {
    const ingress = openIngress();
    await ingress.post(path, body, { 'webhook-id': 'msg-1' });
    await ingress.post(path, failed, { 'webhook-id': 'msg-1' });
    expect(ingress.emitted).toMatchObject([
      { payload: { claimedStatus: 'COMPLETED' } },
      { payload: { claimedStatus: 'FAILED' } },
    ]);
  });

  test('is kept with so many different bytes; more of them are counted', async () => {
    const ingress = openIngress({ rail: proven });
    await ingress.post(path, body, signed(body));
    for (let amount = 1; amount <= 20; amount += 1) {
      const other = payoutBody({ amount });
      expect((await ingress.post(path, other, signed(other))).status).toBe(200);
    }
    const [record] = ingress.records.values();
    expect([record?.conflicts, record?.otherDigests.length]).toEqual([20, 7]);
    expect([ingress.stored.size, ingress.records.size, ingress.emitted.length]).toEqual([8, 8, 8]);
  });
});

describe('what is driven again by hand proves what it proves today', () => {
  const provenOf = (ingress: ReturnType<typeof openIngress>) =>
    ingress.emitted.map(({ payload }) => (payload as { proven?: boolean }).proven);

  test('nothing where its secret was taken out since', async () => {
    const rail = { callbacks: 'proven', callbackSecrets: [secret] };
    const ingress = openIngress({ rail });
    await ingress.post(path, body, signed(body));
    rail.callbackSecrets = [secretOf(2)];
    ingress.reopenRails();
    await ingress.callbacks.redrive([...ingress.stored.values()][0]?.id ?? '');
    expect(provenOf(ingress)).toEqual([true, false]);
  });

  test('the same however much later', async () => {
    const ingress = openIngress({ rail: proven });
    await ingress.post(path, body, signed(body));
    ingress.clock.now += 30 * 86_400_000;
    await ingress.callbacks.redrive([...ingress.stored.values()][0]?.id ?? '');
    expect(provenOf(ingress)).toEqual([true, true]);
  });

  test('nothing where the stored bytes are others than were signed', async () => {
    const ingress = openIngress({ rail: proven });
    await ingress.post(path, body, signed(body));
    const [[key, stored]] = [...ingress.stored] as [[string, Callback]];
    ingress.stored.set(key, { ...stored, body: Buffer.from(failed) });
    await ingress.callbacks.redrive(stored.id);
    expect(provenOf(ingress)).toEqual([true, false]);
  });
});
