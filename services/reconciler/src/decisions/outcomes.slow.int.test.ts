import { createOperators, guardOperator } from '@pesewa/runtime';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, callback, completed, ids, payoutFailed, submitted } from '../fixtures/owners.ts';
import { recordsOf } from '../fixtures/records.ts';

const harness = createHarness('out', process.env);
const { about, answers, database, operator, postAs, publish, rowOf, start, stop } = harness;
const insertRecord = recordsOf(harness.gateway);
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const decidedOf = (reference: string) => about(reference, 'PayoutOutcomeDecided');
const breakIdOf = (reference: string) => `${reference}/status`;
const note = 'the rail confirmed it in writing';

/** A payout that its rail acknowledged and then does not know: nothing sends it again, and nothing ends it. */
async function stuck(): Promise<string> {
  const reference = ids.next('po');
  answers.set(reference, { kind: 'notFound' });
  await insertRecord('payouts', reference, 'INITIALIZED', { acknowledgedByRail: true });
  await publish(accepted(reference), submitted(reference, 'acknowledged'));
  await until('the break', () =>
    about(reference, 'BreakOpened').some(({ payload }) => payload['breakId'] === breakIdOf(reference)),
  );
  return reference;
}

const propose = (reference: string, outcome = 'failed', more: object = {}, by = 'ama') =>
  postAs(by, '/decisions', { reference, outcome, note, ...more });
const approve = (id: unknown, by = 'kofi') => postAs(by, `/decisions/${String(id)}/approve`);
const theBreak = async (reference: string) =>
  (await harness.request(`/breaks/${encodeURIComponent(breakIdOf(reference))}`)).body;

beforeAll(harness.open);
afterAll(harness.close);

describe('the end of a payout that two operators decide', () => {
  it('is published once when both agree, however often and wherever they say so, and closes its break by the end', async () => {
    const reference = await stuck();
    const commandId = `d-${reference}`;
    const proposal = await propose(reference, 'failed', { commandId });
    expect(proposal).toMatchObject({
      status: 202,
      body: { id: commandId, breakId: breakIdOf(reference), outcome: 'failed', amount: '100', note },
    });
    expect((await propose(reference, 'failed', { commandId })).body).toEqual(proposal.body);
    expect(await propose(reference, 'completed', { commandId })).toMatchObject({
      body: { code: 'duplicate' },
    });
    expect(await propose(reference, 'completed')).toMatchObject({ body: { code: 'undecided' } });
    expect(await approve(commandId, 'ama')).toMatchObject({ status: 403, body: { code: 'same_operator' } });
    expect(decidedOf(reference)).toEqual([]);
    const replica = await harness.join(0);
    const guarded = guardOperator(replica.operator, createOperators('', harness.config.OPERATORS));
    const headers = { authorization: 'Bearer the-token-of-kofi' };
    try {
      const approvals = await Promise.all([
        approve(commandId),
        guarded.request(`/decisions/${commandId}/approve`, { method: 'POST', headers }),
        approve(commandId),
      ]);
      expect(approvals.map(({ status }) => status)).toEqual([200, 200, 200]);
    } finally {
      await replica.close();
    }
    await until('the event', () => decidedOf(reference).length > 0);
    await stop();
    await start();
    expect((await approve(commandId)).status).toBe(200);
    expect(await theBreak(reference)).toMatchObject({
      status: 'open',
      history: expect.arrayContaining([
        expect.objectContaining({ by: 'ama', what: 'decision proposed', text: `failed: ${commandId}` }),
        expect.objectContaining({ by: 'kofi', what: 'decision approved', text: `failed: ${commandId}` }),
      ]) as unknown,
    });
    await publish(payoutFailed(reference));
    await until('the closing', async () => (await theBreak(reference))['status'] === 'resolved');
    expect(await theBreak(reference)).toMatchObject({
      resolution: 'the payment ended: PayoutFailed, decided by people',
      resolvedBy: null,
    });
    expect((await operator(`/decisions?reference=${reference}`)).items).toMatchObject([
      { status: 'applied' },
    ]);
    expect(decidedOf(reference)).toHaveLength(1);
    const breakId = breakIdOf(reference);
    expect(decidedOf(reference)[0]?.payload).toMatchObject({
      rail: 'upstream',
      outcome: 'failed',
      railFee: 0n,
      breakId,
      decidedBy: 'ama',
      approvedBy: 'kofi',
    });
    expect(JSON.stringify(decidedOf(reference)[0], (_key, value) => String(value))).not.toContain(note);
    expect(await propose(reference)).toMatchObject({ status: 409, body: { code: 'closed' } });
  });

  it('carries the fee of the rail where it completed; a rail that denies it later opens a contradiction', async () => {
    const reference = await stuck();
    const { body } = await propose(reference, 'completed');
    expect((await approve(body['id'])).status).toBe(200);
    await until('the event', () => decidedOf(reference).length > 0);
    expect(decidedOf(reference)[0]?.payload['railFee']).toBeGreaterThan(0n);
    await publish(completed(reference));
    await until('the end', async () => (await rowOf(reference))?.status === 'completed');
    expect(await theBreak(reference)).toMatchObject({
      resolution: 'the payment ended: PayoutCompleted, decided by people',
    });
    answers.set(reference, { kind: 'failed', reason: 'Declined' });
    await publish(callback(reference, 'FAILED', '100', 'payout'));
    await until('the contradiction', async () =>
      (await harness.breaksOf(reference)).includes('payment.contradiction'),
    );
  });

  it('that comes otherwise leaves the decision as it is, and says nothing of people', async () => {
    const reference = await stuck();
    const { body } = await propose(reference, 'failed');
    expect((await approve(body['id'])).status).toBe(200);
    await publish(completed(reference));
    await until('the closing', async () => (await theBreak(reference))['status'] === 'resolved');
    expect(await theBreak(reference)).toMatchObject({ resolution: 'the payment ended: PayoutCompleted' });
    expect((await operator(`/decisions?reference=${reference}`)).items).toMatchObject([
      { status: 'approved' },
    ]);
  });

  it('is one at a time, of all breaks of the payout', async () => {
    const reference = await stuck();
    const second = await database().collection('breaks').findOne({ reference });
    const other = `${reference}/amount`;
    const observations = [
      { observer: 'poll', kind: 'payout.amount_differs', amount: null, detail: 'x', at: new Date(0) },
    ];
    await database()
      .collection('breaks')
      .insertOne({
        ...second,
        _id: other as never,
        field: 'amount',
        kind: 'payout.amount_differs',
        observations,
      });
    const rivals = await Promise.all(['ama', 'kofi'].map((by) => propose(reference, 'failed', {}, by)));
    expect(rivals.map(({ status }) => String(status)).toSorted()).toEqual(['202', '409']);
    // The break of the status comes first.
    const [id] = rivals.flatMap(({ status, body }) => (status === 202 ? [body['id']] : []));
    expect((await postAs('ama', `/decisions/${String(id)}/reject`, { reason: 'a slip' })).status).toBe(200);
    expect((await propose(reference)).body).toMatchObject({ breakId: breakIdOf(reference) });
  });

  it('is refused if the payout has ended, if nothing keeps it open, and if its rail’s fee is unknown', async () => {
    expect((await propose(ids.next('po'))).status).toBe(404);
    const ended = await stuck();
    const { body } = await propose(ended);
    await publish(payoutFailed(ended));
    await until('the closing', async () => (await theBreak(ended))['status'] === 'resolved');
    expect(await approve(body['id'])).toMatchObject({ status: 409, body: { code: 'closed' } });
    expect(decidedOf(ended)).toEqual([]);
    const gone = await stuck();
    const paid = await propose(gone, 'completed');
    await harness.polls().updateOne({ _id: gone }, { $set: { 'terms.rail': 'gone' } });
    expect(await approve(paid.body['id'])).toMatchObject({ body: { code: 'rail_unconfigured' } });
    expect(
      (await postAs('ama', `/decisions/${String(paid.body['id'])}/reject`, { reason: 'a slip' })).status,
    ).toBe(200);
    const unpaid = await propose(gone, 'failed');
    expect((await approve(unpaid.body['id'])).status).toBe(200);
    await until('the event', () => decidedOf(gone).length > 0);
  });
});
