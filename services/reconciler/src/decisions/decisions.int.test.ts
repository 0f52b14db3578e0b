import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { callback, collected, ids, initiated } from '../fixtures/owners.ts';

const harness = createHarness('dec', process.env);
const { about, answers, database, heard, operator, postAs, publish, rowOf, start, stop } = harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const decidedOf = (reference: string) => about(reference, 'CollectionAmountDecided');
const breakIdOf = (reference: string) => `${reference}/amount`;

/** A collection of 100 KES whose callback claims 101: it waits for people. */
async function differing(): Promise<string> {
  const reference = ids.next('co');
  answers.set(reference, { kind: 'completed', amount: null, fee: null, reason: null });
  await publish(initiated(reference), callback(reference, 'COMPLETED', '101', 'collection'));
  const isDiffering = ({ payload }: { readonly payload: Record<string, unknown> }) =>
    payload['breakId'] === breakIdOf(reference);
  await until('the break', () => about(reference, 'BreakOpened').some(isDiffering));
  return reference;
}

async function proposed(reference: string, more: object = {}, by = 'ama') {
  return postAs(by, '/decisions', { reference, amount: '100.50', ...more });
}

const approve = (id: unknown, by = 'kofi') => postAs(by, `/decisions/${String(id)}/approve`);

beforeAll(harness.open);
afterAll(harness.close);

describe('an amount that two operators decide', () => {
  it('is published once both agree, and closes its break once the collection completes by it', async () => {
    const reference = await differing();
    const proposal = await proposed(reference, {
      note: 'the statement says so',
      commandId: `d-${reference}`,
    });
    expect(proposal).toMatchObject({
      status: 202,
      body: {
        id: `d-${reference}`,
        breakId: breakIdOf(reference),
        reference,
        currency: 'KES',
        amount: '100.5',
        note: 'the statement says so',
        status: 'proposed',
        requestedBy: 'ama',
        asked: '100',
        claimed: '101',
        rail: 'upstream',
      },
    });
    expect(await proposed(reference, { note: 'the statement says so', commandId: `d-${reference}` })).toEqual(
      proposal,
    );
    expect(await approve(`d-${reference}`, 'ama')).toMatchObject({
      status: 403,
      body: { code: 'same_operator' },
    });
    expect(decidedOf(reference)).toEqual([]);
    const answers_ = await Promise.all([approve(`d-${reference}`), approve(`d-${reference}`, 'operator')]);
    expect(answers_.map(({ status }) => status)).toEqual([200, 200]);
    expect(answers_[0]?.body).toEqual(answers_[1]?.body);
    expect(answers_[0]?.body).toMatchObject({ status: 'approved', railFee: '0.5' });
    await until('the event', () => decidedOf(reference).length > 0);
    expect(decidedOf(reference)[0]?.payload).toMatchObject({
      reference,
      rail: 'upstream',
      currency: 'KES',
      amount: 10_050n,
      railFee: 50n,
      breakId: breakIdOf(reference),
      decidedBy: 'ama',
      approvedBy: answers_[0]?.body['approvedBy'],
    });
    await publish(collected(reference, 10_050n));
    await until('the end', async () => (await rowOf(reference))?.status === 'completed');
    expect((await operator(`/breaks?reference=${reference}`)).items).toMatchObject([
      { status: 'resolved', resolution: 'the collection completed with 100.50 KES' },
    ]);
    expect((await operator(`/decisions?reference=${reference}&status=applied`)).items).toMatchObject([
      { status: 'applied', amount: '100.5' },
    ]);
    expect(decidedOf(reference)).toHaveLength(1);
    const shown = await harness.request(`/breaks/${encodeURIComponent(breakIdOf(reference))}`);
    const history = shown.body['history'] as readonly {
      readonly what: string;
      readonly text: string | null;
    }[];
    const decisions = history.filter(({ what }) => what.startsWith('decision '));
    expect(decisions.map(({ what }) => what.slice('decision '.length))).toEqual([
      'proposed',
      'approved',
      'applied',
    ]);
    expect(decisions[0]).toMatchObject({ by: 'ama', text: `100.50 KES: d-${reference}` });
    expect(await proposed(reference)).toMatchObject({ status: 409, body: { code: 'closed' } });
  });

  it('far beyond what was asked needs a reason, and a dry run leaves nothing behind', async () => {
    const reference = await differing();
    expect(await proposed(reference, { amount: '201', dryRun: true })).toMatchObject({
      status: 409,
      body: { code: 'far_beyond' },
    });
    expect((await proposed(reference, { amount: '201' })).body).toMatchObject({ code: 'far_beyond' });
    const despite = 'the rail wrote it';
    const dry = await proposed(reference, { amount: '201', despite, dryRun: true });
    expect(dry).toMatchObject({
      status: 200,
      body: { amount: '201', asked: '100', claimed: '101', despite },
    });
    expect((await operator(`/decisions?reference=${reference}`)).items).toEqual([]);
    expect(await proposed(reference, { amount: '201', despite })).toMatchObject({
      status: 202,
      body: { despite },
    });
  });

  it('is one at a time: another waits until the first is rejected', async () => {
    const reference = await differing();
    const rivals = await Promise.all(['100', '101', '102'].map((amount) => proposed(reference, { amount })));
    expect(rivals.map(({ status }) => String(status)).toSorted()).toEqual(['202', '409', '409']);
    const taken = rivals.find(({ status }) => status === 202)?.body['id'];
    expect(rivals.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'undecided' });
    const rejected = await postAs('ama', `/decisions/${String(taken)}/reject`, { reason: 'a slip' });
    expect(rejected).toMatchObject({
      status: 200,
      body: { status: 'rejected', rejectedBy: 'ama', rejectedFor: 'a slip' },
    });
    expect(await approve(taken)).toMatchObject({ status: 409, body: { code: 'decided' } });
    const next = await proposed(reference);
    expect(next.status).toBe(202);
    expect((await approve(next.body['id'])).status).toBe(200);
    await until('the event', () => decidedOf(reference).length > 0);
    expect(decidedOf(reference)).toHaveLength(1);
  });

  it('that its gateway does not take can be decided anew after a while; the break stays open', async () => {
    const reference = await differing();
    const first = await proposed(reference);
    expect((await approve(first.body['id'])).status).toBe(200);
    expect(await proposed(reference, { amount: '101' })).toMatchObject({
      status: 409,
      body: { code: 'undecided' },
    });
    const tooLate = await postAs('kofi', `/decisions/${String(first.body['id'])}/reject`, {
      reason: 'a slip',
    });
    expect(tooLate).toMatchObject({ status: 409 });
    harness.skew(11 * 60_000);
    try {
      const second = await proposed(reference, { amount: '101' });
      expect(second.status).toBe(202);
      expect((await approve(second.body['id'])).status).toBe(200);
    } finally {
      harness.skew(0);
    }
    await until('both', () => decidedOf(reference).length === 2);
    expect((await operator(`/breaks?reference=${reference}`)).items).toMatchObject([{ status: 'open' }]);
    await publish(collected(reference, 10_100n));
    await until('the end', async () => (await rowOf(reference))?.status === 'completed');
    const { items } = await operator(`/decisions?reference=${reference}`);
    expect(items.map(({ status }) => status)).toEqual(['applied', 'approved']);
  });

  it('survives a restart between its two halves, and a replay says nothing again', async () => {
    const reference = await differing();
    const { body } = await proposed(reference);
    await stop();
    await start();
    expect((await approve(body['id'])).status).toBe(200);
    await until('the event', () => decidedOf(reference).length > 0);
    await stop();
    await start();
    expect((await approve(body['id'])).status).toBe(200);
    expect((await operator(`/decisions?reference=${reference}`)).items).toMatchObject([
      { status: 'approved' },
    ]);
    const sent = heard.length;
    await publish(collected(reference, 10_050n));
    await until('the closing', () => heard.length > sent);
    expect(decidedOf(reference)).toHaveLength(1);
  });

  it('is refused where there is nothing to decide, or no such amount', async () => {
    const reference = await differing();
    const other = ids.next('co');
    answers.set(other, { kind: 'pending' });
    await publish(initiated(other), callback(other, 'COMPLETED', '100', 'collection'));
    await until('the break', () => about(other, 'BreakOpened').length > 0);
    const refusals: readonly (readonly [object, number, RegExp])[] = [
      [{ amount: '0' }, 400, /^amount must be greater than zero$/],
      [{ amount: '100.001' }, 400, /^amount must have no more decimals than its currency$/],
      [{ amount: '-1' }, 400, /^amount must be greater than zero$/],
      [{ amount: '9'.repeat(40) }, 400, /^amount must be at most /],
      [{ amount: 100 }, 400, /^amount must be a decimal text/],
      [{ reference: ids.next('co') }, 404, /reference/],
      [{ reference: other }, 404, /reference/],
      [{ breakId: breakIdOf(reference) }, 400, /^breakId is no field/],
      [{ reference: undefined }, 400, /^reference/],
      [{ approvedBy: 'kofi' }, 400, /^approvedBy is no field/],
      [{ note: '' }, 400, /^note/],
      [{ commandId: 'po-1' }, 400, /^commandId/],
    ];
    for (const [change, status, message] of refusals) {
      const refused = await proposed(reference, change);
      expect([change, refused.status]).toEqual([change, status]);
      expect(refused.body['message']).toMatch(message);
    }
    expect((await approve('dc-none')).status).toBe(404);
    expect(await database().collection('decisions').countDocuments({ reference })).toBe(0);
    const { body } = await proposed(reference, { commandId: `x-${reference}` });
    expect(await proposed(reference, { commandId: `x-${reference}`, amount: '7' })).toMatchObject({
      status: 409,
      body: { code: 'duplicate' },
    });
    // It completed meanwhile with an amount that no callback claimed: operators must check it, and no decision can
    // change it any more.
    await publish(collected(reference, 10_000n));
    await until('the end', async () => (await rowOf(reference))?.status === 'completed');
    expect(await approve(body['id'])).toMatchObject({ status: 409, body: { code: 'ended' } });
    expect(decidedOf(reference)).toEqual([]);
    expect((await operator(`/breaks?reference=${reference}`)).items).toMatchObject([{ status: 'open' }]);
  });

  it('is unclear again by a later callback of another amount: the same break opens once more', async () => {
    const reference = await differing();
    const { body } = await proposed(reference);
    expect((await approve(body['id'])).status).toBe(200);
    await publish(collected(reference, 10_050n));
    const statusOf = async () => (await operator(`/breaks?reference=${reference}`)).items[0]?.['status'];
    await until('the closing', async () => (await statusOf()) === 'resolved');
    await publish(callback(reference, 'COMPLETED', '101.0', 'collection'));
    await publish(callback(reference, 'COMPLETED', '80', 'collection'));
    await until('it opens again', async () => (await statusOf()) === 'open');
    expect((await operator(`/breaks?reference=${reference}`)).items).toMatchObject([
      {
        amount: '-20.5',
        detail: 'the callback claims another amount than it completed with',
        resolution: null,
      },
    ]);
    await until('both', () => about(reference, 'BreakOpened').length === 2);
    expect(await proposed(reference, { amount: '80' })).toMatchObject({
      status: 409,
      body: { code: 'ended' },
    });
  });

  it('is not booked if its rail is not configured, because its fee is unknown', async () => {
    const reference = await differing();
    const { body } = await proposed(reference);
    await harness.polls().updateOne({ _id: reference }, { $set: { 'terms.rail': 'gone' } });
    expect(await approve(body['id'])).toMatchObject({ status: 409, body: { code: 'rail_unconfigured' } });
    expect((await operator(`/decisions?reference=${reference}`)).items).toMatchObject([
      { status: 'proposed' },
    ]);
    expect(decidedOf(reference)).toEqual([]);
  });
});
