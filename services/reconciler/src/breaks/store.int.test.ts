import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, callback, ids, payoutFailed, submitted } from '../fixtures/owners.ts';
import { recordsOf } from '../fixtures/records.ts';

const harness = createHarness('brk', process.env);
const { about, answers, breaksOf, publish, rowOf } = harness;
const insertRecord = recordsOf(harness.gateway);
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });

beforeAll(harness.open);
afterAll(harness.close);

describe('a discrepancy that moves nothing', () => {
  it('opens one break where the rail does not find what it took on, and takes its later word (ADR 5)', async () => {
    const [lost, unclear, refused] = [ids.next('po'), ids.next('po'), ids.next('po')];
    for (const reference of [lost, unclear, refused]) answers.set(reference, { kind: 'notFound' });
    await insertRecord('payouts', lost, 'INITIALIZED', { acknowledgedByRail: true, attemptedAt: new Date() });
    await publish(accepted(lost), submitted(lost, 'acknowledged'));
    await publish(accepted(unclear), submitted(unclear, 'unknown'));
    await publish(accepted(refused), submitted(refused, 'unknown', { refused: true }));
    await until('the breaks', () => [lost, refused].every((one) => about(one, 'BreakOpened').length > 0));
    const polled = (await rowOf(lost))?.polls ?? 0;
    await until('more polls', async () => ((await rowOf(lost))?.polls ?? 0) > polled + 3);
    expect(await breaksOf(lost)).toEqual(['payout.not_found']);
    expect(await breaksOf(refused)).toEqual(['payout.refused_again']);
    expect(await breaksOf(unclear)).toEqual([]);
    expect(about(lost, 'BreakOpened')).toHaveLength(1);
    expect(about(lost, 'BreakOpened')[0]?.payload).toMatchObject({ amount: 10_000n, currency: 'KES' });
    expect(await rowOf(lost)).toMatchObject({ status: 'open' });
    const facts = about(lost, 'RailStatusObserved').map(({ payload }) => payload['status']);
    expect(new Set(facts)).toEqual(new Set(['notFound']));
    answers.set(lost, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
    await until('the end', () => about(lost, 'RailStatusObserved').at(-1)?.payload['status'] === 'completed');
    expect(await breaksOf(lost)).toEqual(['payout.not_found']);
  });

  it('opens one break where the rail contradicts an end, and moves nothing (invariant P13)', async () => {
    const [hinted, raced] = [ids.next('po'), ids.next('po')];
    const paid = { kind: 'completed', amount: 10_000n, fee: 50n, reason: null } as const;
    await publish(accepted(hinted), payoutFailed(hinted));
    await until('the end', async () => (await rowOf(hinted))?.status === 'failed');
    answers.set(hinted, paid);
    await publish(callback(hinted, 'COMPLETED'), callback(hinted, 'COMPLETED', '100.00'));
    // Here the rail reported one end before the owner applied another; there is no callback.
    answers.set(raced, paid);
    await publish(accepted(raced));
    await until('the fact', () => about(raced, 'RailStatusObserved').length > 0);
    await publish(payoutFailed(raced));
    for (const reference of [hinted, raced]) {
      await until('the break', () => about(reference, 'BreakOpened').length > 0);
      const { polls: before = 0 } = (await rowOf(reference)) ?? {};
      await publish(callback(reference, 'COMPLETED', '100.000'));
      await until('another poll', async () => ((await rowOf(reference))?.polls ?? 0) > before);
      expect(await breaksOf(reference)).toEqual(['payment.contradiction']);
      expect(about(reference, 'BreakOpened')).toHaveLength(1);
      expect(await rowOf(reference)).toMatchObject({ status: 'failed' });
    }
    expect(about(hinted, 'RailStatusObserved')).toEqual([]);
  });
});
