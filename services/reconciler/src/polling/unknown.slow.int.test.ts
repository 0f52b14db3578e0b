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
  BOOKS_GRACE_MS: '200',
  STEP_PAUSE_MS: '100',
});
const { about, answers, asked, breaksOf, database, heard, operator, polls, publish, rowOf } = harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const breakOf = async (reference: string) =>
  (await operator(`/breaks?reference=${reference}`)).items.findLast(Boolean);
const resolutions = (breakId: string) =>
  heard.filter(({ type, payload }) => type.endsWith('.BreakResolved') && payload['breakId'] === breakId);

let owners: Awaited<ReturnType<typeof harness.joinOwners>>;
beforeAll(async () => {
  await harness.open();
  owners = await harness.joinOwners();
});
afterAll(async () => {
  await owners.close();
  await harness.close();
});

describe('a callback for an unknown payment', () => {
  const proven = (reference: string, status = 'COMPLETED') =>
    callback(reference, status, '100', 'payout', { proven: true });

  it('becomes one break if it is proven, which closes when the payment turns up', async () => {
    const reference = ids.next('po');
    await publish(proven(reference), proven(reference));
    await until('the break', () => about(reference, 'BreakOpened').length > 0);
    await publish(proven(reference));
    await until('the repeat', async () => (await rowOf(reference))?.callbacks?.[0]?.lastAtMs !== undefined);
    expect(await breakOf(reference)).toMatchObject({
      kind: 'callback.unknown_reference',
      rail: 'upstream',
      status: 'open',
      amount: null,
    });
    expect(asked).not.toContain(reference);
    // No owner is asked about what may be nobody's, and it does not count as an event that was lost.
    expect(about(reference, 'RepublishRequested')).toEqual([]);
    expect(await database().collection('steps').countDocuments({ reference })).toBe(0);
    answers.set(reference, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
    await publish(accepted(reference));
    await until('the fact', () => about(reference, 'RailStatusObserved').length > 0);
    await until('the closing', () => resolutions(`${reference}/existence`).length > 0);
    expect(await breakOf(reference)).toMatchObject({
      status: 'resolved',
      resolution: 'the payment appeared: PayoutAccepted',
    });
    await publish(completed(reference));
    await until('the end', async () => (await rowOf(reference))?.status === 'completed');
    expect(about(reference, 'BreakOpened')).toHaveLength(1);
    expect(resolutions(`${reference}/existence`)).toHaveLength(1);
  });

  it('opens no break if anybody may have sent it, and is matched all the same', async () => {
    const flood = Array.from({ length: 12 }, () => ids.next('po'));
    const marker = ids.next('po');
    await publish(...flood.map((reference) => callback(reference, 'COMPLETED')), proven(marker));
    await until('the break of another', () => about(marker, 'BreakOpened').length > 0);
    expect(flood.flatMap((reference) => about(reference, 'BreakOpened'))).toEqual([]);
    for (const reference of flood) {
      expect(await rowOf(reference)).toHaveProperty('forgetAt');
      answers.set(reference, { kind: 'failed', reason: 'Declined' });
    }
    await publish(...flood.map(accepted));
    await until('the facts', () => flood.every((one) => about(one, 'RailStatusObserved').length > 0));
    expect(await rowOf(flood[0] ?? '')).not.toHaveProperty('forgetAt');
  });

  it('is known once the ledger posts it: its break closes, and its row stays', async () => {
    const reference = ids.next('po');
    await publish(proven(reference));
    await until('the break', () => about(reference, 'BreakOpened').length > 0);
    const wallet = { merchantId: 'demo', currency: 'KES', rail: 'upstream' };
    const payload = { ...envelope(), ...wallet, reference, ...amounts, railCost: 50n };
    await publish(ledger({ type: 'pesewa.ledger.HoldCaptured', payload }));
    await until('the closing', () => resolutions(`${reference}/existence`).length > 0);
    expect(await breakOf(reference)).toMatchObject({
      status: 'resolved',
      resolution: 'the payment appeared: HoldCaptured',
    });
    const row = await rowOf(reference);
    expect(row).toMatchObject({ posted: true, callbacks: [{ status: 'COMPLETED' }] });
    expect(row).not.toHaveProperty('forgetAt');
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
    await publish(proven(reference));
    await until('both', async () => {
      const kept = await database()
        .collection<{ _id: string; observations: readonly { readonly kind: string }[] }>('breaks')
        .findOne({ _id: `${reference}/existence` });
      return kept?.observations.some(({ kind }) => kind === 'callback.unknown_reference') ?? false;
    });
    expect(await breakOf(reference)).toMatchObject({ kind: 'statement.not_in_books', currency: 'KES' });
  });

  it('is forgotten after its time by the database, and its break stays for people', async () => {
    const reference = ids.next('po');
    await publish(proven(reference));
    await until('the break', () => about(reference, 'BreakOpened').length > 0);
    const row = await rowOf(reference);
    expect(Number(row?.forgetAt) - Number(row?.openedAt)).toBe(30 * DAY_MS);
    // As the database does then.
    await polls().deleteOne({ _id: reference });
    const followed = database().collection('steps');
    await until('the last look', async () => (await followed.countDocuments({ reference })) === 0);
    expect(await breakOf(reference)).toMatchObject({ status: 'open' });
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
