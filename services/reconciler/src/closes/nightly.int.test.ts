import { DAY_MS } from '@pesewa/kernel';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agreed, closeSteps, type Until } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';
import { openWindowPayments } from '../matching/payments.ts';
import { createCloses } from './closes.ts';
import { openCloseStore } from './store.ts';

const harness = createHarness('nightly', {
  ...process.env,
  CLOSE_LAG_MS: '0',
  CLOSE_POLLS_PER_SECOND: '1000',
});
const until: Until = (what, met) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const { answers, asked, breaksOf } = harness;
const { close, closed, finished, nextDay, paidAt, recordOf } = closeSteps(harness, until);

beforeAll(harness.open);
afterAll(harness.close);

/** Opens the closes that the clock opens each night; the running replica does the rest. */
async function night(): Promise<void> {
  const closeStore = openCloseStore(harness.database());
  const clock = { nowMs: () => Date.now() };
  const payments = openWindowPayments(harness.polls());
  const deps = { closeStore, payments, clock, lagMs: 0, keepDays: 400, byStatement: [] };
  await createCloses({ ...deps, opened: () => undefined }).openDue();
}

describe('the nightly close on real daemons', () => {
  it('adds payments that were reported after their day was done, and asks about no others again', async () => {
    const nowMs = Date.now();
    const midnightMs = nowMs - (nowMs % DAY_MS) - DAY_MS;
    const day = new Date(midnightMs).toISOString().slice(0, 10);
    const [first = ''] = await paidAt(midnightMs + 1);
    await night();
    expect(await finished(day)).toMatchObject({ payments: 1, late: 0, results: { matched: 1 } });
    expect(await harness.metrics()).toContain('oldest_uncompared_payment_seconds{rail="upstream"} 0');
    const [late = ''] = await paidAt(midnightMs);
    expect(await recordOf(day, late)).toBeNull();
    await night();
    await until('the late one', async () => (await recordOf(day, late))?.result === 'matched');
    expect(await finished(day)).toMatchObject({ payments: 2, late: 1, results: { matched: 2, pending: 0 } });
    await night();
    expect(await harness.operator(`/closes/${day}`)).toMatchObject({ status: 'done', payments: 2, late: 1 });
    expect(await finished(day)).toMatchObject({ payments: 2, late: 1, results: { matched: 2, pending: 0 } });
    for (const reference of [first, late]) {
      expect(asked.filter((one) => one === reference)).toHaveLength(1);
    }
  });
});

describe('a close that is asked for again', () => {
  it('asks once about each payment that stayed unclear, whatever its result is meanwhile', async () => {
    const day = nextDay();
    const [silent = '', answered = ''] = await paidAt(day.startMs, 2);
    for (const reference of [silent, answered]) answers.set(reference, { kind: 'unknown', why: 'timeout' });
    const { id } = await closed(day);
    const before = asked.filter((one) => one === silent).length;
    expect(await closed(day)).toMatchObject({ late: 0, results: { unclear: 2 } });
    expect(asked.filter((one) => one === silent)).toHaveLength(before + 1);
    expect(await recordOf(id, silent)).toMatchObject({ result: 'unclear', tries: before + 1 });
    answers.set(answered, agreed);
    expect(await closed(day)).toMatchObject({ late: 0, results: { unclear: 1, matched: 1 } });
    expect(asked.filter((one) => one === silent)).toHaveLength(before + 2);
  });
});

describe('a payment that stayed unclear and is asked about again', () => {
  it('opens no break for a difference that the rail reports once', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    answers.set(reference, { kind: 'unknown', why: 'timeout' });
    const { id } = await closed(day);
    expect(await recordOf(id, reference)).toMatchObject({ result: 'unclear' });
    const [first, second] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    const before = asked.length;
    harness.slow.set(reference, first.promise);
    answers.set(reference, { ...agreed, fee: 49n });
    await close(day);
    await until('the question', () => asked.length > before);
    harness.slow.set(reference, second.promise);
    first.resolve();
    await until('the difference', async () => (await recordOf(id, reference))?.theirs?.fee === 49n);
    expect(await recordOf(id, reference)).toMatchObject({ result: 'pending' });
    answers.set(reference, agreed);
    second.resolve();
    expect(await finished(id)).toMatchObject({ results: { matched: 1 } });
    expect(await breaksOf(reference)).toEqual([]);
  });
});

describe('a close whose payment has a break already', () => {
  it('opens its own break for differences that the other does not cover', async () => {
    const day = nextDay();
    const [both = '', gone = ''] = await paidAt(day.startMs, 2);
    answers.set(both, { ...agreed, amount: 10_001n, fee: 49n });
    answers.set(gone, { kind: 'failed', reason: 'Declined' });
    await closed(day);
    expect(new Set(await breaksOf(both))).toEqual(new Set(['close.differs', 'payout.amount_differs']));
    expect(await breaksOf(gone)).toEqual(['payment.contradiction']);
    answers.set(gone, { kind: 'notFound' });
    // The same money and the same field: the rail has not moved what we have.
    const { id } = await closed(day);
    expect(await breaksOf(gone)).toEqual(['payment.contradiction']);
    expect(await recordOf(id, gone)).toMatchObject({
      result: 'not_at_rail',
      breakId: `${gone}/status`,
    });
  });

  it('keeps a difference that was reported once, however unclear the answers after it', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    answers.set(reference, { ...agreed, fee: 49n });
    const { id } = await harness
      .postAs('ama', '/closes', { date: day.date })
      .then(({ body }) => body as { readonly id: string });
    await until('the first answer', async () => (await recordOf(id, reference))?.tries === 1);
    answers.set(reference, { kind: 'unknown', why: 'timeout' });
    await finished(id);
    expect(await recordOf(id, reference)).toMatchObject({
      result: 'differs',
      differences: [{ field: 'fee', minor: -1n }],
    });
    expect(await breaksOf(reference)).toEqual(['close.differs']);
  });
});
