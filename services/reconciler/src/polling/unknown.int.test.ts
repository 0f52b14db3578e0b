import { DAY_MS } from '@pesewa/kernel';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import {
  accepted,
  amounts,
  callback,
  completed,
  envelope,
  failed,
  ids,
  initiated,
  ledger,
} from '../fixtures/owners.ts';

const harness = createHarness('unk', {
  ...process.env,
  UNKNOWN_REFERENCE_GRACE_MS: '400',
  UNKNOWN_REFERENCES_OPEN_MAX: '3',
});
const { about, answers, asked, breaksOf, database, heard, metrics, operator, polls, publish, rowOf } =
  harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const breakOf = async (reference: string) => (await operator(`/breaks?reference=${reference}`)).items[0];
const resolutions = (breakId: string) =>
  heard.filter(({ type, payload }) => type.endsWith('.BreakResolved') && payload['breakId'] === breakId);

beforeAll(harness.open);
afterAll(harness.close);

describe('a callback for an unknown payment', () => {
  it.each([false, true])('becomes one break, which closes when it turns up (proven: %s)', async (proven) => {
    const reference = ids.next('po');
    const claim = () => callback(reference, 'COMPLETED', '100', 'payout', { proven });
    await publish(claim(), claim());
    await until('the break', () => about(reference, 'BreakOpened').length > 0);
    await publish(claim());
    await until('the repeat', async () => ((await rowOf(reference))?.timeline?.length ?? 0) > 2);
    expect(await breakOf(reference)).toMatchObject({
      kind: 'callback.unknown_reference',
      status: 'open',
      amount: null,
    });
    expect(asked).not.toContain(reference);
    answers.set(reference, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
    await publish(accepted(reference));
    await until('the fact', () => about(reference, 'RailStatusObserved').length > 0);
    await until('the closing', () => resolutions(`${reference}/existence`).length > 0);
    expect(await breakOf(reference)).toMatchObject({
      status: 'resolved',
      resolution: 'the payment appeared: PayoutAccepted',
    });
    expect(about(reference, 'BreakOpened')).toHaveLength(1);
    expect(resolutions(`${reference}/existence`)).toHaveLength(1);
    await publish(completed(reference));
    await until('the end', async () => (await rowOf(reference))?.status === 'completed');
  });

  it('is known once the ledger posts it: its break closes, and its row stays', async () => {
    const reference = ids.next('po');
    await publish(callback(reference, 'COMPLETED'));
    await until('the break', () => about(reference, 'BreakOpened').length > 0);
    const wallet = { merchantId: 'demo', currency: 'KES', rail: 'upstream' };
    const payload = { ...envelope(), ...wallet, reference, ...amounts, railCost: 50n };
    await publish(ledger({ type: 'pesewa.ledger.HoldCaptured', payload }));
    await until('the closing', () => resolutions(`${reference}/existence`).length > 0);
    expect(await breakOf(reference)).toMatchObject({
      status: 'resolved',
      resolution: 'the payment appeared: HoldCaptured',
    });
    expect(await rowOf(reference)).toMatchObject({ posted: true, callbacks: [{ status: 'COMPLETED' }] });
  });

  it('opens no more breaks than the rail may have; the others are counted, and matched all the same', async () => {
    const flood = Array.from({ length: 12 }, () => ids.next('po'));
    const claims = flood.map((reference) => callback(reference, 'COMPLETED'));
    const kind = 'callback.unknown_reference';
    // In two steps, because breaks of earlier transactions count.
    await publish(...claims.slice(0, 3));
    await until('the breaks', () => flood.slice(0, 3).every((one) => about(one, 'BreakOpened').length > 0));
    await publish(...claims.slice(3));
    await until('the count', async () =>
      (await metrics()).includes('unknown_references_hidden_total{rail="upstream"} 9'),
    );
    expect(await database().collection('breaks').countDocuments({ kind, status: 'open' })).toBe(3);
    expect(await metrics()).toContain('open_breaks{kind="callback.unknown_reference"} 3');
    const breaks = database().collection<{ _id: string }>('breaks');
    for (const reference of flood) answers.set(reference, { kind: 'failed', reason: 'Declined' });
    await publish(...flood.map(accepted));
    await until('the facts', () => flood.every((one) => about(one, 'RailStatusObserved').length > 0));
    expect(await breaks.countDocuments({ kind, status: 'open' })).toBe(0);
    await until(
      'an open gauge of none',
      async () => !(await metrics()).includes(`open_breaks{kind="${kind}"}`),
    );
  });

  it('joins the break of a line that a statement has for it, which stays that of the line', async () => {
    const reference = ids.next('po');
    const at = new Date(0);
    const line = { observer: 'statement', kind: 'statement.not_in_books', amount: 5n, detail: 'x', at };
    const place = { rail: 'upstream', currency: 'KES' };
    const observations = [{ ...line, ...place }];
    await database()
      .collection<{ readonly _id: string; readonly [field: string]: unknown }>('breaks')
      .insertOne({
        ...line,
        ...place,
        _id: `${reference}/existence`,
        reference,
        field: 'existence',
        status: 'open',
        openedAt: at,
        since: at,
        version: 1,
        history: [],
        observations,
      });
    await publish(callback(reference, 'COMPLETED'));
    await until('both', async () => {
      const kept = await database()
        .collection<{ _id: string; observations: readonly { readonly kind: string }[] }>('breaks')
        .findOne({ _id: `${reference}/existence` });
      return kept?.observations.some(({ kind }) => kind === 'callback.unknown_reference') ?? false;
    });
    expect(await breakOf(reference)).toMatchObject({ kind: 'statement.not_in_books', currency: 'KES' });
  });

  it('is forgotten by the clock of the database, however far behind ours is', async () => {
    const reference = ids.next('po');
    await publish(callback(reference, 'COMPLETED'));
    await until('the break', () => about(reference, 'BreakOpened').length > 0);
    harness.skew(-3_600_000);
    try {
      const openedAt = new Date(Date.now() - 30 * DAY_MS - 1_000);
      await polls().updateOne({ _id: reference }, { $set: { openedAt, dueAt: new Date(0) } });
      await until('it is forgotten', async () => (await rowOf(reference)) === null);
      expect(await breakOf(reference)).toMatchObject({ status: 'resolved' });
    } finally {
      harness.skew(0);
    }
  });

  it('is forgotten after its time, with its break; a known payment never is', async () => {
    const [stranger, known] = [ids.next('po'), ids.next('po')];
    await publish(callback(stranger, 'COMPLETED'), callback(known, 'PENDING'));
    await until('the breaks', () => [stranger, known].every((one) => about(one, 'BreakOpened').length > 0));
    await publish(accepted(known));
    await until('the payment', async () => (await rowOf(known))?.status === 'open');
    // As if thirty days had passed.
    const openedAt = new Date(Date.now() - 31 * DAY_MS);
    await polls().updateMany({ _id: { $in: [stranger, known] } }, { $set: { openedAt, dueAt: new Date(0) } });
    await until('it is forgotten', async () => (await rowOf(stranger)) === null);
    await until('the closing', () => resolutions(`${stranger}/existence`).length > 0);
    expect(await breakOf(stranger)).toMatchObject({ status: 'resolved' });
    expect(await rowOf(known)).toMatchObject({ status: 'open' });
    // The same made-up reference again opens no new break and causes no error.
    await publish(callback(stranger, 'FAILED'));
    await until(
      'it waits again',
      async () => ((await rowOf(stranger))?.dueAt?.getTime() ?? 0) > Date.now() + DAY_MS,
    );
    expect(about(stranger, 'BreakOpened')).toHaveLength(1);
  });

  it('is found by an index alone, however many wait', async () => {
    const found = await polls()
      .find({ watch: 'unknown-reference', dueAt: { $lte: new Date() } })
      .sort({ dueAt: 1 })
      .limit(200)
      .explain('queryPlanner');
    const text = JSON.stringify(found['queryPlanner']);
    expect(text).toContain('IXSCAN');
    expect(text).not.toContain('COLLSCAN');
    expect(text).not.toContain('"stage":"SORT"');
  });
});

describe('a collection that the rail does not know', () => {
  it('becomes one break after the grace times, which closes where the rail knows it, and with its end', async () => {
    const [lost, found] = [ids.next('co'), ids.next('co')];
    for (const reference of [lost, found]) answers.set(reference, { kind: 'notFound' });
    await publish(initiated(lost), initiated(found));
    await until('NOT FOUND', async () => (await rowOf(found))?.notFoundSince !== undefined);
    answers.set(found, { kind: 'pending' });
    await until('it is known', async () => (await rowOf(found))?.notFoundSince === undefined);
    await until('the break', () => about(lost, 'BreakOpened').length > 0);
    const polled = (await rowOf(lost))?.polls ?? 0;
    await until('more polls', async () => ((await rowOf(lost))?.polls ?? 0) > polled + 1);
    expect(await breaksOf(found)).toEqual([]);
    expect(await breakOf(lost)).toMatchObject({
      kind: 'collection.not_found',
      status: 'open',
      amount: '100',
    });
    expect(about(lost, 'BreakOpened')).toHaveLength(1);
    expect(await rowOf(lost)).toMatchObject({ status: 'open' });
    // After a time without answers it begins anew, because the rail could not be asked to initiate it either.
    answers.set(found, { kind: 'notFound' });
    await until('NOT FOUND', async () => (await rowOf(found))?.notFoundSince !== undefined);
    answers.set(found, { kind: 'unknown', why: 'no answer' });
    await until('no answer', async () => (await rowOf(found))?.notFoundSince === undefined);
    const statuses = new Set(about(lost, 'RailStatusObserved').map(({ payload }) => payload['status']));
    expect(statuses).toEqual(new Set(['notFound']));
    answers.set(lost, { kind: 'pending' });
    await until('the closing', () => resolutions(`${lost}/status`).length > 0);
    expect(await breakOf(lost)).toMatchObject({
      status: 'resolved',
      resolution: "the rail's lookup says what we have",
    });
    answers.set(lost, { kind: 'notFound' });
    await until('the second opening', () => about(lost, 'BreakOpened').length > 1);
    await publish(failed(lost));
    await until('the second closing', () => resolutions(`${lost}/status`).length > 1);
    expect(await breakOf(lost)).toMatchObject({
      status: 'resolved',
      resolution: 'the payment ended: CollectionFailed',
    });
  });
});
