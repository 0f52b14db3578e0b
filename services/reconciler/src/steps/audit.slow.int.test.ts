import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BY_HAND } from '../fixtures/clock.ts';
import { at } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, collected, completed, ids, initiated } from '../fixtures/owners.ts';
import { recordsOf } from '../fixtures/records.ts';

/** The test moves the clock by whole limits, so that the time which the machine needs is of no account. */
const LIMIT_MS = 600_000;
const limits = { STEP_LIMIT_MS: String(LIMIT_MS), STEP_PAUSE_MS: BY_HAND };
/** Neither a poll nor the books are due before the tests are over. */
const others = { FIRST_POLL_AFTER_MS: '604800000', BOOKS_GRACE_MS: '604800000' };
const harness = createHarness('audit', { ...process.env, ...limits, ...others });
const { about, gateway, nowMs, operator, rowOf } = harness;
const closers = new AsyncDisposableStack();
const insertRecord = recordsOf(gateway);

/** The breaks of a payment but for that of its webhook, which nobody creates here. */
const breaks = async (reference: string, query = '') =>
  (await operator(`/breaks?reference=${reference}${query}`)).items
    .map(({ kind }) => kind)
    .filter((kind) => kind !== 'webhook.missing');
const openBreaks = (reference: string) => breaks(reference, '&status=open');
const requests = (reference: string) =>
  about(reference, 'RepublishRequested').flatMap(({ payload: { step } }) =>
    step === 'delivery' ? [] : step,
  );
const inRounds = (assertion: () => unknown) =>
  eventually(async () => {
    await harness.round('steps');
    await assertion();
  });
/** Has payments looked at after so many limits, until something holds. */
const after = (count: number, assertion: () => unknown) => {
  harness.pass(count * LIMIT_MS);
  return inRounds(assertion);
};
const done = { status: 'done' };
const standings = async () => (await operator('/coverage')).items;
/** Has all open payments looked at from the beginning. */
const audit = async () => {
  expect(await harness.postAs('ama', '/coverage')).toMatchObject({ status: 202 });
  await inRounds(async () => expect(await standings()).toMatchObject([done, done]));
};
/** Opens payments long before what is looked at by now, which only an audit looks at again. */
async function open(...references: readonly string[]): Promise<void> {
  const events = references.map((one) => (one.startsWith('po') ? accepted(one) : initiated(one)));
  await harness.publish(...events.map((event) => at(event, nowMs())));
  await eventually(async () => {
    for (const one of references) expect(await rowOf(one)).toMatchObject({ status: 'open' });
  });
  const openedAt = new Date(Date.now() - LIMIT_MS);
  await harness.polls().updateMany({ _id: { $in: [...references] } }, { $set: { openedAt } });
}

beforeAll(async () => {
  await harness.open();
  closers.defer((await harness.joinOwners()).close);
});
afterAll(async () => {
  await closers.disposeAsync();
  await harness.close();
});

describe('an audit of all open payments on real daemons (ADR 27)', () => {
  it('is made at the start', async () => {
    await after(2, async () => expect(await standings()).toMatchObject([done, done]));
  });

  it('takes over ends whose events are lost, and closes the break of one that comes after all', async () => {
    const [payout, collection] = [ids.next('po'), ids.next('co')];
    await open(payout, collection);
    await insertRecord('payouts', payout, 'FAILED', { step: 'ended' });
    await insertRecord('collections', collection, 'COMPLETED', { step: 'ended', amountReceived: 10_100n });
    await audit();
    expect(await standings()).toMatchObject([{ ended: 1 }, { ended: 1 }]);
    expect(requests(payout)).toEqual([]);
    await after(1, () => expect(requests(payout)).toEqual(['end']));
    expect(await openBreaks(payout)).toEqual([]);
    await after(1, async () => expect(await openBreaks(payout)).toEqual(['coverage.ended']));
    expect(await rowOf(payout)).toMatchObject({ status: 'failed' });
    expect(await rowOf(payout)).toHaveProperty('booksDueAt');
    await inRounds(async () =>
      expect(await rowOf(collection)).toMatchObject({ status: 'completed', received: 10_100n }),
    );
    await harness.publish(collected(collection, 10_100n));
    await eventually(async () => expect(await openBreaks(collection)).toEqual([]));
    expect(await openBreaks(payout)).toEqual(['coverage.ended']);
    expect(await standings()).toMatchObject([{ ended: 0 }, { ended: 0 }]);
  });

  it('says nothing of an end whose event comes between its two looks', async () => {
    const reference = ids.next('po');
    await open(reference);
    await insertRecord('payouts', reference, 'COMPLETED', { step: 'ended' });
    await audit();
    expect(await standings()).toMatchObject([{ ended: 1 }, {}]);
    await harness.publish(completed(reference));
    await eventually(async () => expect(await rowOf(reference)).toMatchObject({ status: 'completed' }));
    await after(1, async () => expect(await standings()).toMatchObject([{ ended: 0 }, {}]));
    expect(await breaks(reference)).toEqual([]);
    expect(requests(reference)).toEqual([]);
  });

  it('reports a payment that its gateway does not know, until its record is there again', async () => {
    const reference = ids.next('po');
    await open(reference);
    await audit();
    expect(await breaks(reference)).toEqual([]);
    await after(1, async () => expect(await openBreaks(reference)).toEqual(['coverage.behind']));
    expect(requests(reference)).toEqual([]);
    await audit();
    expect(await breaks(reference)).toHaveLength(1);
    await insertRecord('payouts', reference, 'INITIALIZED');
    await after(2, async () => expect(await openBreaks(reference)).toEqual([]));
  });

  it('reports it again if a person has resolved the break and the record is still not there', async () => {
    const reference = ids.next('po');
    await open(reference);
    await audit();
    await after(1, async () => expect(await openBreaks(reference)).toEqual(['coverage.behind']));
    const path = `/breaks/${encodeURIComponent(`${reference}/status`)}/resolve`;
    expect(await harness.postAs('ama', path, { resolution: 'restored' })).toMatchObject({ status: 200 });
    expect(await openBreaks(reference)).toEqual([]);
    await audit();
    await after(1, async () => expect(await openBreaks(reference)).toEqual(['coverage.behind']));
  });

  it('reads our open payments page by page, by their keys alone', async () => {
    const first = ids.next('co');
    await open(first);
    const { _id, ...row } = (await harness.polls().findOne({ _id: first })) ?? { _id: first };
    const many = Array.from({ length: 702 }, () => ({ ...row, _id: ids.next('co') }));
    await harness.polls().insertMany(many as never);
    const all = { _id: { $in: [first, ...many.map((one) => one._id)] } };
    await harness.database().command({ profile: 1, slowms: 0, filter: { 'command.sort.openedAt': 1 } });
    await audit();
    await harness.database().command({ profile: 0 });
    const looks = await harness.database().collection('system.profile').find().toArray();
    expect(looks.length).toBeGreaterThanOrEqual(3);
    for (const look of looks) {
      expect(look).toMatchObject({ docsExamined: 0 });
      expect(look['planSummary']).toMatch(/^IXSCAN/);
    }
    await harness.polls().deleteMany(all);
  });

  it('goes on with one gateway while the database of the other fails, and says which', async () => {
    const payouts = gateway('payouts');
    await payouts.createCollection('payouts').catch(() => undefined);
    await payouts.renameCollection('payouts', 'kept');
    const pipeline = [
      { $addFields: { broken: { $divide: ['$version', { $subtract: ['$version', '$version'] }] } } },
      { $match: { broken: 1 } },
    ];
    await payouts.createCollection('payouts', { viewOn: 'kept', pipeline });
    await insertRecord('collections', ids.next('co'), 'PENDING');
    await harness.postAs('ama', '/coverage');
    await inRounds(async () =>
      expect(await standings()).toMatchObject([
        { kind: 'payout', status: 'running' },
        { kind: 'collection', status: 'done', missing: 1 },
      ]),
    );
    await payouts.dropCollection('payouts');
    await payouts.renameCollection('kept', 'payouts');
    await inRounds(async () => expect((await standings())[0]).toMatchObject({ status: 'done' }));
    expect(await harness.metrics()).toMatch(/last_audit_age_seconds\{kind="payout"\} /);
  });
});
