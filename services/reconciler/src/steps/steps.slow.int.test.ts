import { webhookIdOf } from '@pesewa/contracts';
import type { OutgoingEvent } from '@pesewa/messaging';
import { eventually } from '@pesewa/testkit';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BY_HAND } from '../fixtures/clock.ts';
import { at } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';
import { keepInOutbox } from '../fixtures/outboxes.ts';
import { accepted, completed, ids } from '../fixtures/owners.ts';

/** The test moves the clock by whole limits, so that the time which the machine needs is of no account. */
const LIMIT_MS = 600_000;
const limits = { STEP_LIMIT_MS: String(LIMIT_MS), STEP_PAUSE_MS: BY_HAND, REPUBLISH_REQUESTS_MAX: '2' };
/** Neither a poll nor the books are due before the tests are over. */
const others = { FIRST_POLL_AFTER_MS: '604800000', BOOKS_GRACE_MS: '604800000' };
const harness = createHarness('steps', { ...process.env, ...limits, ...others });
const { about, database, gateway, nowMs, operator, rowOf } = harness;
const closers = new AsyncDisposableStack();

const publish = (event: OutgoingEvent) => harness.publish(at(event, nowMs()));
/** Payouts that have ended then, and whose ends are known here before any time passes. */
async function end(atMs: number, ...references: readonly string[]): Promise<void> {
  await harness.publish(...references.flatMap((one) => [at(accepted(one), atMs), at(completed(one), atMs)]));
  for (const reference of references)
    await eventually(async () => expect(await rowOf(reference)).toMatchObject({ status: 'completed' }));
}
const breaks = async (reference: string) => (await operator(`/breaks?reference=${reference}`)).items;
const requests = (reference: string) =>
  about(reference, 'RepublishRequested').map(({ payload }) => payload['step']);
const followed = (reference: string) => database().collection('steps').countDocuments({ reference });

/** Has payments looked at until something holds; meanwhile no time passes after which anything else would be due. */
const inRounds = (assertion: () => unknown) =>
  eventually(async () => {
    await harness.round('steps');
    await assertion();
  });
/** The same, after so many limits. */
const after = (count: number, assertion: () => unknown) => {
  harness.pass(count * LIMIT_MS);
  return inRounds(assertion);
};
const isDone = async (reference: string) => expect(await followed(reference)).toBe(0);
const hasAsked = (reference: string, ...steps: readonly string[]) =>
  expect(requests(reference)).toEqual(steps);
const hasBreak = async (reference: string, kind: string, status: string) =>
  expect(await breaks(reference)).toMatchObject([{ kind, status }]);

const breakIdOf = async (reference: string) =>
  (await database().collection<{ _id: string; reference: string }>('breaks').findOne({ reference }))?._id ??
  '';

/** A record of payout-gateway that was made now and whose events never came. */
async function insertPayout(step: 'awaitingHold' | 'held'): Promise<string> {
  const reference = ids.next('po');
  await gateway('payouts')
    .collection<Document>('payouts')
    .insertOne({
      reference,
      merchantId: 'demo',
      order: { country: 'KEN' },
      currency: 'KES',
      amount: 10_000n,
      rail: 'upstream',
      status: 'INITIALIZED',
      step,
      acceptedAt: new Date(nowMs()),
    });
  return reference;
}

/** A record of collection-gateway that was made now and whose events never came. */
async function insertCollection(): Promise<string> {
  const reference = ids.next('co');
  await gateway('collections')
    .collection<Document>('collections')
    .insertOne({
      reference,
      merchantId: 'demo',
      order: { country: 'KEN' },
      currency: 'KES',
      amount: 10_000n,
      rail: 'upstream',
      status: 'PENDING',
      step: 'initiated',
      acceptedAt: new Date(nowMs()),
    });
  return reference;
}

const seenUntilMs = async (watch: string) => {
  const marks = database().collection<{ _id: string; until: Date }>('step_marks');
  return (await marks.findOne({ _id: watch }))?.until.getTime() ?? 0;
};

const setStep = (reference: string, step: string) =>
  gateway('payouts').collection('payouts').updateOne({ reference }, { $set: { step } });

const owe = (reference: string) =>
  gateway('webhooks')
    .collection<{ _id: string }>('deliveries')
    .insertOne({ _id: webhookIdOf(reference, 'completed') });

beforeAll(async () => {
  await harness.open();
  closers.defer((await harness.joinOwners()).close);
});
afterAll(async () => {
  await closers.disposeAsync();
  await harness.close();
});

describe('a step that takes longer than it can, on real daemons', () => {
  it('is asked for until the ledger answers a hold; people hear of it after two requests, and of its end', async () => {
    const reference = await insertPayout('awaitingHold');
    await after(1, () => hasAsked(reference, 'hold'));
    await after(1, () => hasAsked(reference, 'hold', 'hold'));
    expect(await breaks(reference)).toEqual([]);
    await after(2, () => hasBreak(reference, 'hold.unanswered', 'open'));
    await inRounds(() => hasAsked(reference, 'hold', 'hold', 'hold'));
    // An audit finds it again, which is no news of a break that stands.
    const [{ version } = {}] = await breaks(reference);
    expect(await harness.postAs('ama', '/coverage')).toMatchObject({ status: 202 });
    const done = { status: 'done' };
    await inRounds(async () => expect((await operator('/coverage')).items).toMatchObject([done, done]));
    expect(await breaks(reference)).toMatchObject([{ version, status: 'open' }]);
    await after(4, () => hasAsked(reference, 'hold', 'hold', 'hold', 'hold'));
    await setStep(reference, 'held');
    await publish(accepted(reference));
    await after(8, () => hasBreak(reference, 'hold.unanswered', 'resolved'));
    await isDone(reference);
    expect(about(reference, 'BreakOpened')).toHaveLength(1);
    hasAsked(reference, 'hold', 'hold', 'hold', 'hold');
  });

  it('is asked for once people have resolved its break, which only an audit opens again', async () => {
    const reference = await insertPayout('awaitingHold');
    await publish(accepted(reference));
    await eventually(async () => expect(await rowOf(reference)).toMatchObject({ status: 'open' }));
    await after(1, () => hasAsked(reference, 'hold'));
    await after(1, () => hasAsked(reference, 'hold', 'hold'));
    await after(2, () => hasBreak(reference, 'hold.unanswered', 'open'));
    const path = `/breaks/${encodeURIComponent(await breakIdOf(reference))}/resolve`;
    expect(await harness.postAs('ama', path, { resolution: 'known' })).toMatchObject({ status: 200 });
    await after(4, () => hasAsked(reference, 'hold', 'hold', 'hold', 'hold'));
    await hasBreak(reference, 'hold.unanswered', 'resolved');
    expect(await harness.postAs('ama', '/coverage')).toMatchObject({ status: 202 });
    await inRounds(() => hasBreak(reference, 'hold.unanswered', 'open'));
    await setStep(reference, 'held');
    await after(8, () => hasBreak(reference, 'hold.unanswered', 'resolved'));
    await isDone(reference);
  });

  it('opens no break if the first request brings the answer', async () => {
    const reference = await insertPayout('awaitingHold');
    await after(1, () => hasAsked(reference, 'hold'));
    await setStep(reference, 'held');
    await publish(accepted(reference));
    await after(1, () => isDone(reference));
    expect(await breaks(reference)).toEqual([]);
    hasAsked(reference, 'hold');
  });

  it('is the opening of a payment that is not known here: asked for, then taken in from its record', async () => {
    const [heard, unheard] = [await insertPayout('held'), await insertPayout('held')];
    await after(1, () => [heard, unheard].map((reference) => hasAsked(reference, 'opening')));
    await publish(accepted(heard));
    await after(1, () => isDone(heard));
    await inRounds(() => hasAsked(unheard, 'opening', 'opening'));
    expect(await breaks(heard)).toEqual([]);
    expect(await rowOf(unheard)).toBeNull();
    await after(2, () => hasBreak(unheard, 'coverage.missing', 'open'));
    expect(await rowOf(unheard)).toMatchObject({ status: 'open', terms: { currency: 'KES' } });
    await isDone(unheard);
    hasAsked(heard, 'opening');
  });

  it('is the opening of a collection too, which the watch over payouts leaves alone', async () => {
    const reference = await insertCollection();
    await after(1, () => hasAsked(reference, 'opening'));
    await after(1, () => hasAsked(reference, 'opening', 'opening'));
    await after(2, () => hasBreak(reference, 'coverage.missing', 'open'));
    expect(await rowOf(reference)).toMatchObject({ status: 'open', terms: { kind: 'collection' } });
  });

  it('is the webhook of an end: none is missed that is owed, and one that is not has a break', async () => {
    const [owed, missing] = [ids.next('po'), ids.next('po')];
    await owe(owed);
    await end(nowMs(), owed, missing);
    await after(1, () => hasAsked(missing, 'delivery'));
    await after(1, () => hasAsked(missing, 'delivery', 'delivery'));
    expect(await breaks(missing)).toEqual([]);
    await after(2, () => hasBreak(missing, 'webhook.missing', 'open'));
    await owe(missing);
    await after(4, () => hasBreak(missing, 'webhook.missing', 'resolved'));
    hasAsked(missing, 'delivery', 'delivery', 'delivery');
    hasAsked(owed);
    expect(await breaks(owed)).toEqual([]);
  });

  it('is the webhook of an end that is reported long after it came, and long after its time was checked', async () => {
    await after(1, async () => expect(await seenUntilMs('webhook')).toBeGreaterThan(0));
    const checkedMs = (await seenUntilMs('webhook')) - 1;
    const late = ids.next('po');
    await end(checkedMs, late);
    await after(1, () => hasAsked(late, 'delivery'));
    await after(1, () => hasAsked(late, 'delivery', 'delivery'));
    await after(2, () => hasBreak(late, 'webhook.missing', 'open'));
    await owe(late);
    await after(4, () => hasBreak(late, 'webhook.missing', 'resolved'));
  });

  it('is not missed while what could bring it waits in an outbox', async () => {
    const release = await keepInOutbox(gateway('payouts'), 'hold');
    const reference = await insertPayout('awaitingHold');
    const overdueMs = nowMs();
    // Collections do not wait for the payouts' outbox, and are looked at after payouts.
    await after(1, async () => expect(await seenUntilMs('collection')).toBeGreaterThanOrEqual(overdueMs));
    await harness.round('steps');
    hasAsked(reference);
    expect(await followed(reference)).toBe(0);
    await release();
    await inRounds(() => hasAsked(reference, 'hold'));
    await setStep(reference, 'held');
    await publish(accepted(reference));
    await after(1, () => isDone(reference));
    hasAsked(reference, 'hold');
  });

  it('is exported at /metrics', async () => {
    expect(await harness.metrics()).toMatch(/republish_requests_total\{step="hold"\} [1-9]/);
  });
});
