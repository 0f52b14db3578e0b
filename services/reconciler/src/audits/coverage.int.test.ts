import { outboxOf } from '@pesewa/messaging';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BY_HAND } from '../fixtures/clock.ts';
import { createHarness } from '../fixtures/harness.ts';
import { keepInOutbox } from '../fixtures/outboxes.ts';
import { accepted, collected, completed, ids, initiated } from '../fixtures/owners.ts';
import { recordsOf } from '../fixtures/records.ts';

/** The audit's second look waits for the test; nothing else looks into the outboxes. */
const waits = { COVERAGE_LAG_MS: BY_HAND, STEP_PAUSE_MS: '3600000' };
const harness = createHarness('cov', { ...process.env, ...waits });
const { about, answers, gateway, operator, publish, rowOf } = harness;
const insertRecord = recordsOf(harness.gateway);
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });

/** Profiles these reads of a database until the end. */
const profile = async (db: ReturnType<typeof gateway>, filter: object) => {
  await db.command({ profile: 1, slowms: 0, filter });
  const reads = () => db.collection('system.profile').find().toArray();
  return {
    reads,
    end: async () => {
      await db.command({ profile: 0 });
      return reads();
    },
  };
};

const started = async (): Promise<unknown> => (await harness.postAs('ama', '/coverage')).body['id'];
const runOf = async (id: unknown) => (await operator('/coverage')).items.find((run) => run['id'] === id);
const finished = async (id: unknown): Promise<Readonly<Record<string, unknown>>> => {
  let run: Readonly<Record<string, unknown>> | undefined;
  await until('the audit', async () => {
    harness.endPauses();
    run = await runOf(id);
    return run !== undefined && run['status'] !== 'running';
  });
  return run ?? {};
};
const audit = async () => finished(await started());
const openBreaks = async (reference: string) =>
  (await operator(`/breaks?reference=${reference}&status=open`)).items.map(({ kind }) => kind);

beforeAll(harness.open);
afterAll(harness.close);

describe('the coverage audit on real daemons (ADR 27)', () => {
  it('adds a payment without events, reports it once, and polls it', async () => {
    const [payout, collection] = [ids.next('po'), ids.next('co')];
    answers.set(payout, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
    await insertRecord('payouts', payout, 'INITIALIZED');
    await insertRecord('collections', collection, 'PENDING');
    expect(await audit()).toMatchObject({ status: 'done', missing: 2, repaired: 2, ended: 0, behind: 0 });
    for (const reference of [payout, collection])
      expect(await openBreaks(reference)).toEqual(['coverage.missing']);
    await until('the fact', () => about(payout, 'RailStatusObserved').length > 0);
    await until('a poll', async () => (await rowOf(collection))?.openState === 'accepted');
    expect(await rowOf(collection)).toMatchObject({ terms: { country: 'KE', amount: 10_000n } });
    expect(await audit()).toMatchObject({ status: 'done', missing: 0, repaired: 0 });
    expect(about(payout, 'BreakOpened')).toHaveLength(1);
    await publish(completed(payout), initiated(collection));
    await until('the breaks to close', async () => {
      const open = [...(await openBreaks(payout)), ...(await openBreaks(collection))];
      return open.length === 0;
    });
    expect(await rowOf(payout)).toMatchObject({ status: 'completed' });
    expect(await rowOf(collection)).toMatchObject({ status: 'open' });
    await insertRecord('payouts', payout, 'COMPLETED');
  });

  it('lets an event that comes after the end open nothing again', async () => {
    const [reference, marker] = [ids.next('po'), ids.next('po')];
    answers.set(reference, { kind: 'failed', reason: 'Declined' });
    await insertRecord('payouts', reference, 'INITIALIZED');
    expect(await audit()).toMatchObject({ missing: 1 });
    await insertRecord('payouts', reference, 'FAILED');
    await harness
      .polls()
      .updateOne({ _id: reference }, { $set: { openedAt: new Date(Date.now() - 120_000) } });
    expect(await audit()).toMatchObject({ missing: 0, ended: 1 });
    expect(await openBreaks(reference)).toEqual(['coverage.ended']);
    await publish(accepted(reference), accepted(marker));
    await until('the marker', async () => (await rowOf(marker)) !== null);
    expect(await rowOf(reference)).toMatchObject({ status: 'failed', version: 1n });
    await insertRecord('payouts', marker, 'INITIALIZED', { acceptedAt: new Date() });
  });

  it('takes an end over whose event was lost, and closes the break where it comes after all', async () => {
    const [payout, collection] = [ids.next('po'), ids.next('co')];
    await publish(accepted(payout), initiated(collection));
    await until('both', async () => (await rowOf(payout)) !== null && (await rowOf(collection)) !== null);
    await harness
      .polls()
      .updateMany(
        { _id: { $in: [payout, collection] } },
        { $set: { openedAt: new Date(Date.now() - 120_000) } },
      );
    await insertRecord('payouts', payout, 'FAILED', { step: 'ended' });
    await insertRecord('collections', collection, 'COMPLETED', { step: 'ended', amountReceived: 10_100n });
    expect(await audit()).toMatchObject({ status: 'done', ended: 2 });
    expect(await rowOf(payout)).toMatchObject({ status: 'failed' });
    expect(await rowOf(payout)).toHaveProperty('booksDueAt');
    expect(await rowOf(collection)).toMatchObject({ status: 'completed', received: 10_100n });
    expect(await rowOf(payout)).not.toHaveProperty('open');
    expect(await openBreaks(payout)).toEqual(['coverage.ended']);
    await publish(collected(collection, 10_100n));
    await until('its break to close', async () => (await openBreaks(collection)).length === 0);
    expect(await openBreaks(payout)).toEqual(['coverage.ended']);
  });

  it('reports a payment that its gateway does not know, until its record is there again', async () => {
    const reference = ids.next('po');
    await publish(accepted(reference));
    await until('the payout', async () => (await rowOf(reference)) !== null);
    await harness
      .polls()
      .updateOne({ _id: reference }, { $set: { openedAt: new Date(Date.now() - 120_000) } });
    expect(await audit()).toMatchObject({ status: 'done', behind: 1, repaired: 0 });
    expect(await openBreaks(reference)).toEqual(['coverage.behind']);
    await insertRecord('payouts', reference, 'INITIALIZED');
    expect(await audit()).toMatchObject({ status: 'done', behind: 0, missing: 0 });
    expect(await openBreaks(reference)).toEqual([]);
  });

  it('says nothing of an event that comes between its two looks', async () => {
    const reference = ids.next('po');
    await insertRecord('payouts', reference, 'INITIALIZED');
    const id = await started();
    await harness.paused();
    await publish(accepted(reference));
    expect(await finished(id)).toMatchObject({ status: 'done', missing: 0 });
    expect((await operator(`/breaks?reference=${reference}`)).items).toEqual([]);
    expect(await rowOf(reference)).toMatchObject({ status: 'open', version: 1n });
  });

  it('reports nothing while the gateway’s events wait in its outbox', async () => {
    const reference = ids.next('po');
    const payouts = gateway('payouts');
    const release = await keepInOutbox(payouts, 'opening');
    await insertRecord('payouts', reference, 'INITIALIZED');
    const looks = await profile(payouts, { ns: outboxOf(payouts).namespace, op: 'query' });
    const id = await started();
    await harness.paused();
    harness.endPauses();
    // The first read finds what waits, and each further one that it still does.
    await until('looks into the outbox', async () => (await looks.reads()).length > 2);
    await looks.end();
    expect(await runOf(id)).toMatchObject({ status: 'running' });
    expect(await openBreaks(reference)).toEqual([]);
    await publish(accepted(reference));
    await until('the event', async () => (await rowOf(reference)) !== null);
    await release();
    expect(await finished(id)).toMatchObject({ status: 'done', missing: 0 });
    expect((await operator(`/breaks?reference=${reference}`)).items).toEqual([]);
  });

  it('counts its audits, and what they found', async () => {
    const metrics = await harness.metrics();
    expect(metrics).toMatch(/coverage_runs_total\{status="done"\} [5-9]/);
    expect(metrics).toMatch(/coverage_found_total\{kind="coverage.missing"\} 3/);
  });

  it('reads its lists page by page, by their keys alone, however many records begin at the same time', async () => {
    const acceptedAt = new Date(Date.now() - 120_000);
    const [first = '', ...others] = Array.from({ length: 703 }, () => ids.next('co'));
    const collections = harness.gateway('collections').collection<{ reference: string }>('collections');
    const index = { status: 1, acceptedAt: 1, reference: 1 } as const;
    await collections.createIndex(index, { partialFilterExpression: { status: 'PENDING' } });
    await insertRecord('collections', first, 'PENDING', { acceptedAt });
    const record = await collections.findOne({ reference: first }, { projection: { _id: 0 } });
    await collections.insertMany(others.map((reference) => ({ ...record, reference })));
    expect(await audit()).toMatchObject({ status: 'done', missing: 703, repaired: 703 });
    await harness
      .polls()
      .updateMany({ _id: { $in: [first, ...others] } }, { $set: { openedAt: acceptedAt } });
    const later = new Date(acceptedAt.getTime() + 1);
    const tail = others.slice(-40);
    await collections.updateMany({ reference: { $in: tail } }, { $set: { acceptedAt: later } });
    await harness.polls().updateMany({ _id: { $in: tail } }, { $set: { openedAt: later } });
    const pages = await Promise.all([
      profile(harness.gateway('collections'), { 'command.sort.acceptedAt': 1 }),
      profile(harness.database(), { 'command.sort.openedAt': 1 }),
    ]);
    const again = await audit();
    expect(again).toMatchObject({ status: 'done', missing: 0, behind: 0 });
    expect(Number(again['tracked'])).toBeGreaterThanOrEqual(703);
    for (const { end } of pages) {
      const looks = await end();
      expect(looks.length).toBeGreaterThanOrEqual(3);
      for (const look of looks) {
        expect(look).toMatchObject({ docsExamined: 0 });
        expect(look['planSummary']).toMatch(/^IXSCAN/);
      }
    }
    await collections.deleteMany({ reference: { $in: [first, ...others] } });
    await harness.polls().deleteMany({ _id: { $in: [first, ...others] } });
  });

  it('audits one gateway though the database of the other fails, and says which', async () => {
    const [collection, payout] = [ids.next('co'), ids.next('po')];
    const payouts = harness.gateway('payouts');
    await insertRecord('collections', collection, 'PENDING');
    await insertRecord('payouts', payout, 'INITIALIZED');
    await payouts.renameCollection('payouts', 'kept');
    const pipeline = [
      { $addFields: { broken: { $divide: ['$version', { $subtract: ['$version', '$version'] }] } } },
      { $match: { broken: 1 } },
    ];
    await payouts.createCollection('payouts', { viewOn: 'kept', pipeline });
    expect(await audit()).toMatchObject({
      status: 'failed',
      missing: 1,
      sources: [
        { kind: 'payout', status: 'failed', error: 'MongoServerError' },
        { kind: 'collection', status: 'done', error: null },
      ],
    });
    expect(await openBreaks(collection)).toEqual(['coverage.missing']);
    expect(await harness.metrics()).toMatch(/coverage_sources_total\{kind="payout",status="failed"\} 1/);
    await payouts.dropCollection('payouts');
    await payouts.renameCollection('kept', 'payouts');
    expect(await audit()).toMatchObject({ status: 'done', missing: 1 });
    expect(await openBreaks(payout)).toEqual(['coverage.missing']);
  });

  it('answers at once, and joins an audit that goes on', async () => {
    await insertRecord('payouts', ids.next('po'), 'INITIALIZED');
    const [first, second] = await Promise.all([
      harness.postAs('ama', '/coverage'),
      harness.postAs('kofi', '/coverage'),
    ]);
    expect([first.status, second.status]).toEqual([202, 202]);
    expect(second.body['id']).toBe(first.body['id']);
    expect((await operator('/coverage?limit=0')).items).toBeUndefined();
    expect(await finished(first.body['id'])).toMatchObject({ status: 'done' });
  });

  it('is repeated harmlessly where it was cut short', async () => {
    const reference = ids.next('po');
    await insertRecord('payouts', reference, 'INITIALIZED');
    const id = await started();
    await harness.paused();
    await harness.stop();
    await harness.start();
    expect(await runOf(id)).toMatchObject({ status: 'failed', missing: 0 });
    expect(await rowOf(reference)).toBeNull();
    await audit();
    expect(await openBreaks(reference)).toEqual(['coverage.missing']);
    await audit();
    expect((await operator(`/breaks?reference=${reference}`)).items).toHaveLength(1);
  });
});
