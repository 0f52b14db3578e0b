import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BY_HAND } from '../fixtures/clock.ts';
import { createHarness } from '../fixtures/harness.ts';
import { keepInOutbox } from '../fixtures/outboxes.ts';
import { accepted, captured, completed, ids, payoutFailed, released } from '../fixtures/owners.ts';
import { createReplay } from '../fixtures/replay.ts';

/** The test moves the clock by whole grace times, so that the time which the machine needs is of no account. */
const GRACE_MS = 600_000;
const grace = { BOOKS_GRACE_MS: String(GRACE_MS), STEP_PAUSE_MS: BY_HAND };
/** Other steps may take far longer: entries have only their grace time. */
const limits = { ...grace, STEP_LIMIT_MS: String(10 * GRACE_MS) };
const harness = createHarness('books', { ...process.env, ...limits });
const { about, config, database, kafkaLog, nowMs, operator, pass, polls, publish, rowOf } = harness;
let followers: Awaited<ReturnType<typeof harness.joinOwners>>;

/** Has the books looked at until something holds; meanwhile no time passes after which anything else would be due. */
const inRounds = (assertion: () => unknown) =>
  eventually(async () => {
    await harness.round('steps');
    await assertion();
  });
/** The same, a grace time later. */
const afterGrace = (assertion: () => unknown) => {
  pass(GRACE_MS);
  return inRounds(assertion);
};
const breaks = async (reference: string) => (await operator(`/breaks?reference=${reference}`)).items;
const hasBreak = async (reference: string, kind: string, status: string) =>
  expect(await breaks(reference)).toMatchObject([{ kind, status }]);
const hasAsked = (...references: readonly string[]) => {
  for (const reference of references)
    expect(about(reference, 'RepublishRequested')[0]).toMatchObject({ payload: { step: 'entry' } });
};
/** Waits until these payments are known to lack an entry: from then on their grace time runs. */
const lack = (...references: readonly string[]) =>
  eventually(async () => {
    const lacking = { _id: { $in: [...references] }, booksDueAt: { $exists: true } };
    expect(await polls().countDocuments(lacking)).toBe(references.length);
  });
/** How many payments that nobody has looked at wait for the ledger. */
const showsAwaiting = async (count: number) =>
  expect(await harness.metrics()).toContain(`\npayments_awaiting_ledger ${count}\n`);
const isDone = async (reference: string) =>
  expect(await database().collection('steps').countDocuments({ reference })).toBe(0);
/** Waits until none of these does. */
const lackNothing = (...references: readonly string[]) =>
  eventually(async () => {
    for (const reference of references) {
      const row = await rowOf(reference);
      expect(row?.posted === true || row?.released === true).toBe(true);
      expect(row).not.toHaveProperty('booksDueAt');
    }
  });

beforeAll(async () => {
  await harness.open();
  followers = await harness.joinOwners();
});
afterAll(async () => {
  await followers.close();
  await harness.close();
});

describe('the ledger against the gateways, on real daemons (ADR 27)', () => {
  it('finds a completed payout without its capture on a quiet night, once, and closes that when it comes', async () => {
    const reference = ids.next('po');
    await publish(accepted(reference), completed(reference));
    await lack(reference);
    await afterGrace(() => hasAsked(reference));
    expect(await breaks(reference)).toEqual([]);
    await afterGrace(() => hasBreak(reference, 'books.unposted', 'open'));
    expect(await breaks(reference)).toMatchObject([{ amount: '-100', currency: 'KES' }]);
    expect(await rowOf(reference)).not.toHaveProperty('booksDueAt');
    await publish(captured(reference));
    await inRounds(() => hasBreak(reference, 'books.unposted', 'resolved'));
    expect(about(reference, 'BreakOpened')).toHaveLength(1);
    expect(await rowOf(reference)).toMatchObject({ posted: true, breaks: [] });
  });

  it('has nothing due once a break that was over and reopened is resolved again', async () => {
    const reference = ids.next('po');
    await publish(accepted(reference), completed(reference));
    await lack(reference);
    await afterGrace(() => hasAsked(reference));
    await afterGrace(() => hasBreak(reference, 'books.unposted', 'open'));
    await publish(captured(reference));
    await inRounds(() => hasBreak(reference, 'books.unposted', 'resolved'));
    const [{ _id } = { _id: '' }] = await database()
      .collection<{ _id: string; reference: string }>('breaks')
      .find({ reference })
      .toArray();
    const path = `/breaks/${encodeURIComponent(_id)}`;
    const reopened = await harness.postAs('ama', `${path}/reopen`, { reason: 'is it there?' });
    expect(reopened).toMatchObject({ status: 200 });
    await hasBreak(reference, 'books.unposted', 'open');
    const resolved = await harness.postAs('ama', `${path}/resolve`, { resolution: 'it is' });
    expect(resolved).toMatchObject({ status: 200 });
    await harness.round('steps');
    expect(await rowOf(reference)).not.toHaveProperty('booksDueAt');
    await showsAwaiting(0);
  });

  it('has an end published again before it opens a break, and opens none once that helps', async () => {
    const reference = ids.next('po');
    await publish(accepted(reference), payoutFailed(reference));
    await lack(reference);
    await afterGrace(() => hasAsked(reference));
    await publish(released(reference));
    await lackNothing(reference);
    await afterGrace(() => isDone(reference));
    expect(await breaks(reference)).toEqual([]);
  });

  it('finds a failed payout whose hold stays, and a capture of one that failed', async () => {
    const [kept, taken] = [ids.next('po'), ids.next('po')];
    await publish(accepted(kept), payoutFailed(kept), accepted(taken), payoutFailed(taken), captured(taken));
    await lack(kept, taken);
    await eventually(async () => expect(await rowOf(taken)).toMatchObject({ posted: true }));
    await afterGrace(() => hasAsked(kept, taken));
    await afterGrace(() => hasBreak(kept, 'books.unreleased', 'open'));
    await inRounds(() => hasBreak(taken, 'books.posted_wrongly', 'open'));
    expect(await breaks(taken)).toMatchObject([{ amount: '100' }]);
    await publish(released(kept));
    await inRounds(() => hasBreak(kept, 'books.unreleased', 'resolved'));
  });

  it('reports an entry of an unknown payment, until the payment becomes known', async () => {
    const reference = ids.next('po');
    await publish(captured(reference));
    await lack(reference);
    await afterGrace(() => hasAsked(reference));
    await afterGrace(() => hasBreak(reference, 'books.unexplained_entry', 'open'));
    expect(await breaks(reference)).toMatchObject([{ amount: '100', currency: 'KES' }]);
    await publish(accepted(reference), completed(reference));
    await inRounds(() => hasBreak(reference, 'books.unexplained_entry', 'resolved'));
  });

  it('has nothing to say, or to write, where both sides come in time', async () => {
    const [paid, refused] = [ids.next('po'), ids.next('po')];
    await publish(accepted(paid), completed(paid), captured(paid));
    await publish(accepted(refused), payoutFailed(refused), released(refused));
    await lackNothing(paid, refused);
    await eventually(async () => expect(await rowOf(paid)).toMatchObject({ status: 'completed' }));
    const late = ids.next('po');
    await publish(accepted(late), completed(late));
    await lack(late);
    await afterGrace(() => hasAsked(late));
    await afterGrace(() => hasBreak(late, 'books.unposted', 'open'));
    for (const reference of [paid, refused]) {
      const asked = about(reference, 'RepublishRequested').map(({ payload }) => payload);
      expect(asked).not.toContainEqual(expect.objectContaining({ step: 'entry' }));
      expect(await breaks(reference)).toEqual([]);
      expect(await rowOf(reference)).not.toHaveProperty('booksDueAt');
    }
  });

  it('judges none of the payments that wait for a ledger which has stopped, and shows how many they are', async () => {
    await followers.close();
    const waiting = Array.from({ length: 40 }, () => ids.next('po'));
    const [missing = '', ...posted] = waiting;
    await publish(
      ...waiting.flatMap((one, at) => [accepted(one), at % 2 ? completed(one) : payoutFailed(one)]),
    );
    await lack(...waiting);
    for (const _ of [1, 2, 3]) {
      pass(GRACE_MS);
      await harness.round('steps');
    }
    await showsAwaiting(40);
    await publish(...posted.map((one) => (waiting.indexOf(one) % 2 ? captured(one) : released(one))));
    await lackNothing(...posted);
    await harness.round('steps');
    expect(about(missing, 'RepublishRequested')).toEqual([]);
    followers = await harness.joinOwners();
    await inRounds(() => hasAsked(missing));
    await afterGrace(() => hasBreak(missing, 'books.unreleased', 'open'));
    for (const reference of posted) expect(await breaks(reference)).toEqual([]);
    expect(await harness.metrics()).toMatch(/^payments_awaiting_ledger 0$/m);
  });

  it('misses nothing while the answers of the ledger wait in its outbox', async () => {
    const [asked, reference] = [ids.next('po'), ids.next('po')];
    await publish(accepted(asked), completed(asked));
    await lack(asked);
    pass(GRACE_MS / 2);
    await publish(accepted(reference), completed(reference));
    await lack(reference);
    pass(GRACE_MS / 2);
    // From here on the ledger has applied both ends, so that only its outbox is waited for.
    await inRounds(() => hasAsked(asked));
    const release = await keepInOutbox(harness.gateway('ledger'), 'capture');
    pass(GRACE_MS);
    await harness.round('steps');
    await harness.round('steps');
    expect((await rowOf(reference))?.booksDueAt?.getTime()).toBeLessThan(nowMs());
    await showsAwaiting(1);
    for (const one of [asked, reference]) expect(await breaks(one)).toEqual([]);
    expect(about(reference, 'RepublishRequested')).toEqual([]);
    await release();
    await inRounds(() => hasAsked(reference));
    await inRounds(() => hasBreak(asked, 'books.unposted', 'open'));
    await publish(captured(reference), captured(asked));
    await inRounds(() => hasBreak(asked, 'books.unposted', 'resolved'));
    await lackNothing(reference);
    expect(await breaks(reference)).toEqual([]);
  });

  it('finds the one posting that is missing among many that come', async () => {
    const all = Array.from({ length: 30 }, () => ids.next('po'));
    const [missing = '', ...posted] = all;
    await publish(
      ...all.flatMap((one) => [accepted(one), completed(one)]),
      ...posted.map((one) => captured(one)),
    );
    await lack(missing);
    await lackNothing(...posted);
    await afterGrace(() => hasAsked(missing));
    await afterGrace(() => hasBreak(missing, 'books.unposted', 'open'));
    for (const reference of posted) expect(await breaks(reference)).toEqual([]);
  });

  it('are not changed by a replay of every topic from its start', async () => {
    const state = async () => ({
      polls: await polls().find().sort({ _id: 1 }).toArray(),
      breaks: await database().collection('breaks').find().sort({ _id: 1 }).toArray(),
      floats: await database().collection('floats').find().sort({ _id: 1 }).toArray(),
    });
    const unfinished = { $or: [{ openState: { $exists: true } }, { booksDueAt: { $exists: true } }] };
    await inRounds(async () => expect(await polls().countDocuments(unfinished)).toBe(0));
    await harness.stop();
    const before = await state();
    expect(before.polls.length).toBeGreaterThan(5);
    expect(before.breaks.length).toBeGreaterThan(3);
    const replay = createReplay({ config, kafkaLog, database: database() });
    await replay.rewind();
    await harness.start();
    const ends = await replay.ends();
    await eventually(async () => expect(await replay.isAppliedTo(ends)).toBe(true));
    expect(await state()).toEqual(before);
  });
});
