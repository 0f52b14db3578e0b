import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { at } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, callback, completed, ids } from '../fixtures/owners.ts';

/** So long that it is over only by the times of events, however long the machine needs. */
const LAG_MS = 3_600_000;
const harness = createHarness('fag', {
  ...process.env,
  STEP_PAUSE_MS: '100',
  CALLBACK_LAG_MS: String(LAG_MS),
  POLL_CAP_MS: '100',
  POLLS_BEFORE_BREAK: '3',
});
const { about, answers, breaksOf, operator, postAs, publish, rowOf } = harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const paid = (amount = 10_000n) => ({ kind: 'completed', amount, fee: 50n, reason: null }) as const;
const reversed = { kind: 'reversed', amount: 10_000n, fee: null, reason: 'Reversed' } as const;
const pathOf = (id: string) => `/breaks/${encodeURIComponent(id)}`;
const resolve = (id: string, resolution = 'the rail knows') =>
  postAs('ama', `${pathOf(id)}/resolve`, { resolution });
const historyOf = async (id: string) =>
  (
    (await operator(pathOf(id))) as unknown as { readonly history: readonly { readonly what: string }[] }
  ).history.map(({ what }) => what);
const facts = (reference: string) =>
  about(reference, 'RailStatusObserved').map(({ payload }) => payload['status']);
const pollsOf = async (reference: string) => (await rowOf(reference))?.polls ?? 0;
const idle = async (reference: string) => (await rowOf(reference))?.watch === undefined;

/** A payout that the rail has paid, and that has ended. */
async function ended(): Promise<string> {
  const reference = ids.next('po');
  answers.set(reference, paid());
  await publish(accepted(reference), completed(reference));
  await until(
    'the end',
    async () => (await rowOf(reference))?.status === 'completed' && (await idle(reference)),
  );
  return reference;
}

/** Waits until everything that was on its way at a time is known to have arrived. */
const arrivedBy = (atMs: number) =>
  until('what was on its way', async () => {
    const age = /^last_arrival_age_seconds\{kind="payout"\} (\S+)$/m.exec(await harness.metrics())?.[1];
    return Date.now() - Number(age) * 1_000 > atMs;
  });

let followers: Awaited<ReturnType<typeof harness.joinOwners>>;
beforeAll(async () => {
  await harness.open();
  followers = await harness.joinOwners();
});
afterAll(async () => {
  await followers.close();
  await harness.close();
});

it('keeps the break of an open payment from being resolved or corrected, until it has ended', async () => {
  const reference = ids.next('po');
  const id = `${reference}/amount`;
  answers.set(reference, paid(9_000n));
  await publish(accepted(reference));
  await until('the break', () => about(reference, 'BreakOpened').length > 0);
  expect(await resolve(id)).toMatchObject({ status: 409, body: { code: 'waits' } });
  expect(await operator(pathOf(id))).toMatchObject({ waitsFor: 'end' });
  const seen = await pollsOf(reference);
  await until('more polls', async () => (await pollsOf(reference)) > seen + 4);
  expect(await breaksOf(reference)).toEqual(['payout.amount_differs']);
  answers.set(reference, paid());
  await until('the fact', () => facts(reference).includes('completed'));
  await publish(completed(reference));
  await until('the end', async () => (await rowOf(reference))?.status === 'completed');
  expect(await operator(pathOf(id))).toMatchObject({
    status: 'resolved',
    resolution: "the rail's lookup says what we have",
    resolvedBy: null,
  });
});

it('opens a contradiction again that was resolved, only once the rail has agreed with us meanwhile', async () => {
  const reference = await ended();
  const id = `${reference}/status`;
  answers.set(reference, { kind: 'failed', reason: 'Declined' });
  await publish(callback(reference, 'COMPLETED'));
  await until('the break', () => about(reference, 'BreakOpened').length > 0);
  const resolveAndAsk = async () => {
    const seen = await pollsOf(reference);
    expect((await resolve(id)).status).toBe(200);
    await until('the question', async () => (await pollsOf(reference)) > seen && (await idle(reference)));
  };
  // A claim that is true, so that it is no discrepancy itself.
  const call = async () => {
    const seen = await pollsOf(reference);
    await publish(callback(reference, 'COMPLETED'));
    await until('the poll', async () => (await pollsOf(reference)) > seen && (await idle(reference)));
  };
  await resolveAndAsk();
  await call();
  expect(await historyOf(id)).toEqual(['opened', 'resolved']);
  answers.set(reference, paid());
  await call();
  answers.set(reference, { kind: 'failed', reason: 'Declined' });
  await call();
  expect(await historyOf(id)).toEqual(['opened', 'resolved', 'opened again']);
  const openings = () =>
    about(reference, 'BreakOpened').filter(({ payload }) => payload['kind'] === 'payment.contradiction');
  await until('the second opening', () => openings().length > 1);
  await call();
  expect(await historyOf(id)).toHaveLength(3);
  expect(openings()).toHaveLength(2);
  answers.set(reference, paid());
  await resolveAndAsk();
  expect((await rowOf(reference))?.breaks).toEqual([]);
});

it('hears a reversal whose callback was forged before, though the lookup lags behind it', async () => {
  const reference = await ended();
  const id = `${reference}/status`;
  await publish(at(callback(reference, 'REVERSED'), Date.now() - LAG_MS));
  await until('the break', () => about(reference, 'BreakOpened').length > 0);
  await until('no more polls', () => idle(reference));
  expect((await resolve(id)).status).toBe(200);
  const seen = await pollsOf(reference);
  await publish(callback(reference, 'REVERSED'));
  await until('a poll that finds the old state', async () => (await pollsOf(reference)) > seen);
  answers.set(reference, reversed);
  await until('the fact', () => facts(reference).includes('reversed'));
  expect(await breaksOf(reference)).toEqual(['callback.denied']);
  expect(await historyOf(id)).toEqual(['opened', 'resolved']);
});

it('does not ask the owner of a payment to publish its end again before the allowed lag is over since the rail reported it', async () => {
  await arrivedBy(Date.now());
  const reference = ids.next('po');
  answers.set(reference, paid());
  await publish(accepted(reference));
  await until('the fact', () => facts(reference).length > 0);
  await arrivedBy(Date.now());
  const seen = facts(reference).length;
  await until('more facts', () => facts(reference).length > seen + 3);
  expect(about(reference, 'RepublishRequested')).toEqual([]);
  await publish(completed(reference));
  await until('no more polls', () => idle(reference));
  expect(await breaksOf(reference)).toEqual([]);
});
