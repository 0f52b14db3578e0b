import { webhookIdOf } from '@pesewa/contracts';
import { eventually } from '@pesewa/testkit';
import type { Document } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { at } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';
import { keepInOutbox } from '../fixtures/outboxes.ts';
import { accepted, completed, ids } from '../fixtures/owners.ts';

const limits = { STEP_LIMIT_MS: '500', STEP_PAUSE_MS: '100', REPUBLISH_REQUESTS_MAX: '2' };
const harness = createHarness('steps', { ...process.env, ...limits, FIRST_POLL_AFTER_MS: '600000' });
const { about, database, gateway, operator, publish, rowOf } = harness;
const closers = new AsyncDisposableStack();

const breaks = async (reference: string) => (await operator(`/breaks?reference=${reference}`)).items;
const requests = (reference: string) =>
  about(reference, 'RepublishRequested').map(({ payload }) => payload['step']);
const followed = (reference: string) => database().collection('steps').countDocuments({ reference });
const untilBreak = (reference: string, kind: string, status: string) =>
  eventually(async () => expect(await breaks(reference)).toMatchObject([{ kind, status }]));
const untilDone = (reference: string) => eventually(async () => expect(await followed(reference)).toBe(0));

/** A record of payout-gateway that was made now and whose events never came. */
async function insertPayout(step: 'accepted' | 'held'): Promise<string> {
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
      acceptedAt: new Date(),
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
  closers.defer((await harness.joinOwners('webhook-dispatcher')).close);
});
afterAll(async () => {
  await closers.disposeAsync();
  await harness.close();
});

describe('a step that takes longer than it can, on real daemons (ADR 42)', () => {
  it('is asked for until the ledger answers a hold; people hear of it after two requests, and of its end', async () => {
    const reference = await insertPayout('accepted');
    await untilBreak(reference, 'hold.unanswered', 'open');
    expect(requests(reference).slice(0, 2)).toEqual(['hold', 'hold']);
    const before = requests(reference).length;
    await eventually(async () => expect(requests(reference).length).toBeGreaterThan(before));
    await setStep(reference, 'held');
    await publish(accepted(reference));
    await untilBreak(reference, 'hold.unanswered', 'resolved');
    await untilDone(reference);
    expect(about(reference, 'BreakOpened')).toHaveLength(1);
  });

  it('opens no break if the first request brings the answer', async () => {
    const reference = await insertPayout('accepted');
    await eventually(async () => expect(requests(reference)).toEqual(['hold']));
    await setStep(reference, 'held');
    await publish(accepted(reference));
    await untilDone(reference);
    expect(await breaks(reference)).toEqual([]);
  });

  it('is the opening of a payment that is not known here: asked for, then taken in from its record', async () => {
    const [heard, unheard] = [await insertPayout('held'), await insertPayout('held')];
    await eventually(async () => expect(requests(heard)).toEqual(['opening']));
    await publish(accepted(heard));
    await untilDone(heard);
    expect(await breaks(heard)).toEqual([]);
    await untilBreak(unheard, 'coverage.missing', 'open');
    expect(await rowOf(unheard)).toMatchObject({ status: 'open', terms: { currency: 'KES' } });
    await untilDone(unheard);
  });

  it('is the webhook of an end: none is missed that is owed, and one that is not has a break', async () => {
    const [owed, missing] = [ids.next('po'), ids.next('po')];
    await owe(owed);
    await publish(accepted(owed), completed(owed), accepted(missing), completed(missing));
    await untilBreak(missing, 'webhook.missing', 'open');
    expect(new Set(requests(missing))).toEqual(new Set(['delivery']));
    await owe(missing);
    await untilBreak(missing, 'webhook.missing', 'resolved');
    expect(requests(owed)).toEqual([]);
    expect(await breaks(owed)).toEqual([]);
  });

  it('is the webhook of an end that is reported long after it came, and long after its time was checked', async () => {
    await eventually(async () => expect(await seenUntilMs('webhook')).toBeGreaterThan(0));
    const hourAgoMs = Date.now() - 3_600_000;
    const late = ids.next('po');
    await publish(at(accepted(late), hourAgoMs), at(completed(late), hourAgoMs));
    await untilBreak(late, 'webhook.missing', 'open');
    await owe(late);
    await untilBreak(late, 'webhook.missing', 'resolved');
  });

  it('is not missed while what could bring it waits in an outbox', async () => {
    const release = await keepInOutbox(gateway('payouts'), 'hold');
    const insertedMs = Date.now();
    const reference = await insertPayout('accepted');
    await eventually(async () => expect(await seenUntilMs('collection')).toBeGreaterThan(insertedMs + 1_000));
    expect(requests(reference)).toEqual([]);
    await release();
    await eventually(() => expect(requests(reference)).toEqual(['hold']));
    await setStep(reference, 'held');
    await publish(accepted(reference));
    await untilDone(reference);
  });

  it('is exported at /metrics', async () => {
    expect(await harness.metrics()).toMatch(/republish_requests_total\{step="hold"\} [1-9]/);
  });
});
