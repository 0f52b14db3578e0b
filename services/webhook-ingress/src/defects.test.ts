import { describe, expect, test } from 'vitest';
import type { Faults } from './ingress.fixture.ts';
import { openIngress, payoutBody, START_MS } from './ingress.fixture.ts';

const path = '/rails/upstream/payouts';
const body = payoutBody();

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

  test('is driven again by hand once it is fixed', async () => {
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

  test.each(['by its redelivery', 'by hand'])(
    'is dismissed where %s it turns out to be none',
    async (way) => {
      const faults: Faults = { translation: new TypeError('broken') };
      const ingress = openIngress({ faults });
      await ingress.post(path, body);
      const id = [...ingress.stored.values()][0]?.id ?? '';
      faults.translation = undefined;
      faults.malformed = true;
      const answer =
        way === 'by hand' ? await ingress.callbacks.redrive(id) : (await ingress.post(path, body)).status;
      expect([400, { ok: false, refusal: 'callback.dismissed' }]).toContainEqual(answer);
      const [record] = ingress.records.values();
      expect(record).toMatchObject({ state: 'dismissed', failure: 'body.malformed', timesPassedOn: 0 });
      expect(ingress.emitted).toEqual([]);
      faults.malformed = false;
      expect(await ingress.callbacks.redrive(id)).toEqual({ ok: true, value: 'passed_on' });
    },
  );

  test('is dismissed by hand, and then not asked for again', async () => {
    const faults: Faults = { translation: new TypeError('broken') };
    const ingress = openIngress({ faults });
    await ingress.post(path, body);
    const id = [...ingress.stored.values()][0]?.id ?? '';
    for (const _ of [1, 2])
      expect(await ingress.callbacks.dismiss(id)).toEqual({ ok: true, value: 'dismissed' });
    expect((await ingress.post(path, body)).status).toBe(200);
    expect([...ingress.records.values()]).toMatchObject([{ state: 'dismissed', deliveries: 2 }]);
    expect(await ingress.callbacks.dismiss('cb-2')).toEqual({ ok: false, refusal: 'callback.unknown' });
    faults.translation = undefined;
    expect((await ingress.post(path, body)).status).toBe(200);
    expect(ingress.emitted).toHaveLength(1);
    expect(await ingress.callbacks.dismiss(id)).toEqual({ ok: false, refusal: 'callback.not_failed' });
  });

  test('stays where its rail is no longer configured, and says so', async () => {
    const faults: Faults = { translation: new TypeError('broken') };
    const ingress = openIngress({ faults });
    await ingress.post(path, body);
    const id = [...ingress.stored.values()][0]?.id ?? '';
    faults.isGone = true;
    expect(await ingress.callbacks.redrive(id)).toEqual({ ok: false, refusal: 'rail.unknown' });
    expect((await ingress.callbacks.dismiss(id)).ok).toBe(true);
  });
});
