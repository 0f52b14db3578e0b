import { DAY_MS } from '@pesewa/kernel';
import type { OutgoingEvent } from '@pesewa/messaging';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agreed, at, closeSteps, type Until } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';
import { amounts, collected, completed, failed, ids, initiated, reversed } from '../fixtures/owners.ts';
import { dayCloses } from './store.ts';

const harness = createHarness('close', {
  ...process.env,
  STEP_PAUSE_MS: '100',
  CLOSE_LAG_MS: '0',
  CLOSE_POLLS_PER_SECOND: '1000',
});
const until: Until = (what, met) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const { about, answers, asked, breaksOf, operator, polls, postAs, publish } = harness;
const { close, closed, closes, ended, finished, nextDay, paidAt, recordOf, records } = closeSteps(
  harness,
  until,
);

let followers: Awaited<ReturnType<typeof harness.joinOwners>>;
beforeAll(async () => {
  await harness.open();
  followers = await harness.joinOwners();
});
afterAll(async () => {
  await followers.close();
  await harness.close();
});

describe('a daily close on real daemons', () => {
  it('asks for what ended on its day, from its first moment until before its last, once each', async () => {
    const day = nextDay();
    const endMs = day.startMs + DAY_MS;
    const inside = [
      ...(await paidAt(day.startMs)),
      ...(await paidAt(endMs - 1)),
      ...(await paidAt(endMs - 9)),
    ];
    const outside = [...(await paidAt(day.startMs - 1)), ...(await paidAt(endMs))];
    const done = await closed(day);
    expect(done).toMatchObject({ status: 'done', payments: 3, done: 3, results: { matched: 3, pending: 0 } });
    const found = await records().find({ run: done.id }).toArray();
    expect(found.map(({ reference }) => reference).toSorted()).toEqual(inside.toSorted());
    expect(found[0]).toMatchObject({
      ours: { status: 'completed', amount: 10_000n, fee: 50n },
      theirs: { status: 'completed', amount: 10_000n, fee: 50n },
    });
    for (const reference of inside) expect(asked.filter((one) => one === reference)).toHaveLength(1);
    for (const reference of outside) expect(asked).not.toContain(reference);
    expect(about(inside[0] ?? '', 'RailStatusObserved')).toEqual([]);
  });

  it('is made once per day and rail, and asks again about nothing that is compared', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    const [one, other] = await Promise.all([close(day), close(day)]);
    expect(one.id).toBe(other.id);
    await finished(one.id);
    const again = await postAs('kofi', '/closes', { date: day.date });
    expect(again).toMatchObject({ status: 200, body: { id: one.id, status: 'done', requestedBy: 'ama' } });
    const ofRail = await closed(day, 'upstream');
    expect(ofRail.id).toBe(`${one.id}.upstream`);
    expect(ofRail).toMatchObject({ payments: 0 });
    expect(asked.filter((each) => each === reference)).toHaveLength(1);
  });

  it('opens one break per discrepancy, however often it is found, and closes it once both have the same', async () => {
    const day = nextDay();
    const [fee = '', amount = '', status = '', missing = ''] = await paidAt(day.startMs, 4);
    answers.set(fee, { ...agreed, fee: 49n });
    answers.set(amount, { ...agreed, amount: 10_001n });
    answers.set(status, { kind: 'failed', reason: 'Declined' });
    answers.set(missing, { kind: 'notFound' });
    const done = await closed(day);
    expect(done).toMatchObject({ results: { differs: 3, not_at_rail: 1, matched: 0 } });
    expect(await breaksOf(fee)).toEqual(['close.differs']);
    // The same answers as polls' report it already: there is no second break for one discrepancy.
    expect(await breaksOf(amount)).toEqual(['payout.amount_differs']);
    expect(await breaksOf(status)).toEqual(['payment.contradiction']);
    expect(await breaksOf(missing)).toEqual(['close.not_at_rail']);
    expect(await recordOf(done.id, fee)).toMatchObject({
      result: 'differs',
      differences: [{ field: 'fee', minor: -1n }],
      breakId: `${fee}/fee`,
      tries: 2,
    });
    expect(await recordOf(done.id, amount)).toMatchObject({ breakId: `${amount}/amount` });
    await until('the events', () => about(missing, 'BreakOpened').length === 1);
    expect(about(missing, 'BreakOpened')[0]?.payload).toMatchObject({ amount: -10_000n, currency: 'KES' });
    await closed(day);
    expect(about(fee, 'BreakOpened')).toHaveLength(1);
    expect(about(missing, 'BreakOpened')).toHaveLength(1);
    for (const reference of [fee, missing]) answers.set(reference, agreed);
    await closed(day);
    await until('the auto-resolutions', () => about(fee, 'BreakResolved').length === 1);
    const { items } = await operator(`/breaks?reference=${missing}`);
    expect(items).toMatchObject([{ kind: 'close.not_at_rail', status: 'resolved' }]);
    expect((await harness.rowOf(fee))?.breaks).toEqual([]);
  });

  it('keeps what differs if it is asked again without a clear answer', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    answers.set(reference, { ...agreed, fee: 49n });
    expect(await closed(day)).toMatchObject({ results: { differs: 1 } });
    answers.set(reference, { kind: 'unknown', why: 'timeout' });
    const before = asked.filter((one) => one === reference).length;
    expect(await closed(day)).toMatchObject({ results: { differs: 1, pending: 0 } });
    expect(asked.filter((one) => one === reference)).toHaveLength(before + 1);
    expect(await recordOf(day.date, reference)).toMatchObject({
      differences: [{ field: 'fee', minor: -1n }],
      why: 'the rail gave no clear answer',
    });
    expect(await breaksOf(reference)).toEqual(['close.differs']);
  });

  it('passes an end on that the owner does not know, and matches once the owner has taken it', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    answers.set(reference, { ...agreed, kind: 'reversed', reason: 'Reversed' });
    const { id } = await close(day);
    await until('the fact', () => about(reference, 'RailStatusObserved').length > 0);
    expect(about(reference, 'RailStatusObserved')[0]?.payload).toMatchObject({
      status: 'reversed',
      source: 'poll',
    });
    // Until its owner has confirmed it, the money may be back at the rail, and the rail is asked again.
    expect(await harness.rowOf(reference)).toMatchObject({ watch: 'upstream', mayCredit: 10_000n });
    const {
      occurredAt: _at,
      railFee: _fee,
      ...payload
    } = completed(reference).payload as Record<string, unknown>;
    const reversal = { ...payload, ...amounts, occurredAt: BigInt(day.startMs + 7_200_000) };
    const event = { ...completed(reference, 6n), type: 'pesewa.payouts.PayoutReversed', payload: reversal };
    await publish(event as unknown as OutgoingEvent);
    expect(await finished(id)).toMatchObject({ results: { matched: 1 } });
    expect(await recordOf(id, reference)).toMatchObject({
      correctionSent: true,
      ours: { status: 'reversed', fee: 50n },
    });
    expect(await breaksOf(reference)).toEqual([]);
  });

  it('goes on asking about a reversal that its owner has not taken, after the close is over', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    answers.set(reference, { ...agreed, kind: 'reversed', reason: 'Reversed' });
    expect(await closed(day)).toMatchObject({ results: { differs: 1 } });
    const before = about(reference, 'RailStatusObserved').length;
    const row = { _id: reference };
    expect(await polls().findOne(row)).toHaveProperty('dueAt');
    await polls().updateOne(row, { $set: { dueAt: new Date() } });
    await until('the fact again', () => about(reference, 'RailStatusObserved').length > before);
    await until('the request', () => about(reference, 'RepublishRequested').length > 0);
    expect(about(reference, 'RepublishRequested')[0]?.payload).toMatchObject({ step: 'end' });
    expect(await harness.metrics()).toMatch(/^republish_requests_total\{step="end"\} [1-9]/m);
    await publish(reversed(reference));
    await until(
      'the reversal',
      async () => (await polls().findOne({ _id: reference }))?.status === 'reversed',
    );
    expect(await polls().findOne({ _id: reference })).not.toHaveProperty('dueAt');
  });

  it('matches collections by their status, and marks what was not reported', async () => {
    const day = nextDay();
    const [right, wrong] = [ids.next('co'), ids.next('co')];
    for (const reference of [right, wrong])
      answers.set(reference, { kind: 'completed', amount: null, fee: null, reason: null });
    const endMs = day.startMs + 5;
    await publish(at(initiated(right), day.startMs), at(collected(right, 10_000n), endMs));
    await publish(at(initiated(wrong), day.startMs), at(failed(wrong), endMs));
    await ended([right, wrong]);
    const done = await closed(day);
    expect(await recordOf(done.id, right)).toMatchObject({
      result: 'matched',
      ours: { amount: 10_000n },
      theirs: { status: 'completed', amount: null, fee: null },
    });
    expect(await recordOf(done.id, wrong)).toMatchObject({
      result: 'differs',
      differences: [{ minor: 10_000n }],
    });
    expect(await breaksOf(wrong)).toEqual(['payment.contradiction']);
  });

  it('ends a payment without a clear answer as unclear, with the reason', async () => {
    const day = nextDay();
    const [silent = '', pending = ''] = await paidAt(day.startMs, 2);
    const gone = ids.next('po');
    const elsewhere = completed(gone);
    const payload = { ...elsewhere.payload, rail: 'gone' };
    await publish(at({ ...elsewhere, payload } as OutgoingEvent, day.startMs));
    await ended([gone]);
    answers.set(silent, { kind: 'unknown', why: 'timeout' });
    answers.set(pending, { kind: 'pending' });
    const done = await closed(day);
    expect(done).toMatchObject({ results: { unclear: 2, differs: 1 } });
    expect(await recordOf(done.id, gone)).toMatchObject({ why: 'the rail is not configured here', tries: 4 });
    expect(asked).not.toContain(gone);
    expect(await recordOf(done.id, silent)).toMatchObject({ why: 'the rail gave no clear answer', tries: 4 });
    expect(await breaksOf(silent)).toEqual([]);
    expect(await breaksOf(pending)).toEqual(['close.differs']);
    const marked = await polls().distinct('_id', { uncompared: { $exists: true } });
    expect(marked).toEqual(expect.arrayContaining([silent, gone]));
    expect(marked).not.toContain(pending);
  });

  it('refuses a period that is not over', async () => {
    const today = new Date().toISOString().slice(0, 10);
    expect(await postAs('ama', '/closes', { date: today })).toMatchObject({
      status: 409,
      body: { code: 'not_over' },
    });
  });

  it('uses an index for each of its questions', async () => {
    const range = { uncompared: 'upstream', endedAt: { $gte: new Date(0), $lt: new Date() } };
    const plans = await Promise.all([
      polls().find(range).sort({ endedAt: 1, _id: 1 }).explain('queryPlanner'),
      records()
        .find({ waits: 'upstream', dueAt: { $lte: new Date() } })
        .sort({ dueAt: 1 })
        .explain('queryPlanner'),
      records().find({ run: '2026-11-20', result: 'differs' }).sort({ _id: 1 }).explain('queryPlanner'),
      closes()
        .find({ running: true, dueAt: { $lte: new Date() } })
        .sort({ dueAt: 1 })
        .explain('queryPlanner'),
      closes().find(dayCloses).sort({ _id: -1 }).explain('queryPlanner'),
    ]);
    for (const plan of plans) {
      const { winningPlan } = plan['queryPlanner'] as { readonly winningPlan: unknown };
      expect(JSON.stringify(winningPlan)).toContain('IXSCAN');
      expect(JSON.stringify(winningPlan)).not.toMatch(/COLLSCAN|"SORT"/);
    }
  });
});
