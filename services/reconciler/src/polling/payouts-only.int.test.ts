import { systemClock } from '@pesewa/kernel';
import { eventually, openPayoutsOnlyRail } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at, closeSteps, type Until } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, completed, ids, initiated } from '../fixtures/owners.ts';
import { directRail } from '../fixtures/rail.ts';

const rail = openPayoutsOnlyRail('upstream', systemClock);
const harness = createHarness(
  'alone',
  { ...process.env, POLLS_BEFORE_BREAK: '2', CLOSE_LAG_MS: '0', CLOSE_POLLS_PER_SECOND: '1000' },
  (config) => ({ ...directRail(config), rails: rail.rails }),
);
const until: Until = (what, met) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const { about, breaksOf, publish } = harness;
const { closed, ended, nextDay, recordOf } = closeSteps(harness, until);
/** The rail has been asked to pay 100 KES. */
const askToPay = (id: string) =>
  void rail.payments.set(id, { id, state: 'waiting', amount: '100.00', cost: '0.50', note: '' });

let owners: Awaited<ReturnType<typeof harness.joinOwners>>;
beforeAll(async () => {
  await harness.open();
  owners = await harness.joinOwners();
});
afterAll(async () => {
  await owners.close();
  await harness.close();
});

describe('a rail that has payouts and nothing else', () => {
  it('is asked about a payout until it has decided', async () => {
    const reference = ids.next('po');
    askToPay(reference);
    await publish(accepted(reference));
    const question = `GET /payments/${reference}`;
    await until('a question', () => rail.requests.includes(question));
    expect(about(reference, 'RailStatusObserved')).toEqual([]);
    rail.decide(reference, 'paid');
    await until('the fact', () => about(reference, 'RailStatusObserved').length === 1);
    expect(about(reference, 'RailStatusObserved')[0]?.payload).toMatchObject({
      rail: 'upstream',
      status: 'completed',
      amount: 10_000n,
      fee: 50n,
    });
  });

  it('is closed by its own answers, since it sends no statement', async () => {
    const day = nextDay();
    const reference = ids.next('po');
    askToPay(reference);
    rail.decide(reference, 'paid');
    await publish(at(accepted(reference), day.startMs), at(completed(reference), day.startMs + 1));
    await ended([reference]);
    const done = await closed(day);
    expect(done).toMatchObject({ payments: 1, results: { matched: 1, pending: 0 } });
    expect(await recordOf(done.id, reference)).toMatchObject({ theirs: { amount: 10_000n, fee: 50n } });
  });

  it('is not asked about a collection, which people are shown', async () => {
    const reference = ids.next('co');
    await publish(initiated(reference));
    await until('a break', async () => (await breaksOf(reference)).length > 0);
    expect(rail.requests.filter((request) => request.includes(reference))).toEqual([]);
    expect(about(reference, 'RailStatusObserved')).toEqual([]);
  });
});
