import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from './fixtures/harness.ts';
import {
  accepted,
  amounts,
  callback,
  captured,
  completed,
  envelope,
  failed,
  ids,
  initiated,
  ledger,
  reversed,
  submitted,
} from './fixtures/owners.ts';
import { createReplay } from './fixtures/replay.ts';

const harness = createHarness('rec', { ...process.env, STEP_PAUSE_MS: '100' });
const { about, answers, asked, breaksOf, config, database, heard, holds } = harness;
const { kafkaLog, operator, polls, publish, rowOf, start, stop } = harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });

let followers: Awaited<ReturnType<typeof harness.joinOwners>>;
beforeAll(async () => {
  await harness.open();
  followers = await harness.joinOwners();
});
afterAll(async () => {
  await followers.close();
  await harness.close();
});

describe('the reconciler on real daemons', () => {
  it('finalises a payout whose callback never comes', async () => {
    const reference = ids.next('po');
    answers.set(reference, { kind: 'completed', amount: 10_000n, fee: 50n, reason: 'Successful' });
    await publish(accepted(reference));
    await until('the fact', () => about(reference, 'RailStatusObserved').length > 0);
    const [fact] = about(reference, 'RailStatusObserved');
    expect(fact).toMatchObject({
      topic: 'payoutFacts',
      payload: { status: 'completed', amount: 10_000n, fee: 50n, source: 'poll' },
    });
    await publish(completed(reference));
    await until('the end', () => about(reference, 'StuckSettled').length > 0);
    expect(await rowOf(reference)).toMatchObject({ status: 'completed' });
    expect(await rowOf(reference)).not.toHaveProperty('openState');
    expect(await breaksOf(reference)).toEqual([]);
  });

  it('records when it asked by the clock of the database, whatever its own says (ADR 5)', async () => {
    const reference = ids.next('po');
    answers.set(reference, { kind: 'failed', reason: 'Declined' });
    const { localTime: before } = await database().command({ hello: 1 });
    harness.skew(2_000);
    try {
      await publish(accepted(reference));
      await until('the fact', () => about(reference, 'RailStatusObserved').length > 0);
    } finally {
      harness.skew(0);
    }
    const { localTime: after } = await database().command({ hello: 1 });
    const polledAt = Number(about(reference, 'RailStatusObserved')[0]?.payload['polledAt']);
    expect(polledAt).toBeGreaterThanOrEqual(Number(before));
    expect(polledAt).toBeLessThanOrEqual(Number(after));
  });

  it('asks at once after a hint, even one that comes before the payment itself', async () => {
    const reference = ids.next('po');
    answers.set(reference, { kind: 'failed', reason: 'Declined' });
    await publish(callback(reference, 'FAILED'));
    await until('the hint', async () => (await rowOf(reference)) !== null);
    expect(asked).not.toContain(reference);
    await publish(accepted(reference));
    await until('the fact', () => about(reference, 'RailStatusObserved').length > 0);
    expect(about(reference, 'RailStatusObserved')[0]?.payload).toMatchObject({
      status: 'failed',
      reason: 'Declined',
    });
    expect(await breaksOf(reference)).toEqual([]);
  });

  it('passes a reversal on after the end, until its owner has taken it', async () => {
    const reference = ids.next('po');
    answers.set(reference, { kind: 'reversed', amount: 10_000n, fee: 50n, reason: 'Reversed' });
    await publish(accepted(reference), completed(reference));
    await until('the end', async () => (await rowOf(reference))?.status === 'completed');
    await publish(callback(reference, 'REVERSED'));
    await until('the fact', () =>
      about(reference, 'RailStatusObserved').some(({ payload }) => payload['status'] === 'reversed'),
    );
    await until('a request', () => about(reference, 'RepublishRequested').length > 0);
    await publish(reversed(reference));
    await until('no more polls', async () => (await rowOf(reference))?.watch === undefined);
    expect(await breaksOf(reference)).toEqual([]);
  });

  it('asks the owner of a payment to publish its end again once the allowed lag is over since the rail reported it', async () => {
    const reference = ids.next('po');
    answers.set(reference, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
    await publish(accepted(reference));
    await until('the request', () => about(reference, 'RepublishRequested').length > 0);
    const [request] = about(reference, 'RepublishRequested');
    expect(request).toMatchObject({ topic: 'payoutFacts', payload: { step: 'end' } });
    const [fact] = about(reference, 'RailStatusObserved');
    const waitedMs = Number(request?.payload['occurredAt']) - Number(fact?.payload['occurredAt']);
    expect(waitedMs).toBeGreaterThanOrEqual(config.CALLBACK_LAG_MS);
    await publish(completed(reference));
    await until('no more polls', async () => (await rowOf(reference))?.watch === undefined);
    expect(await breaksOf(reference)).toEqual([]);
  });

  it('opens one break for forged callbacks and moves nothing', async () => {
    const [open, ended] = [ids.next('po'), ids.next('po')];
    answers.set(ended, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
    await publish(accepted(open), accepted(ended), completed(ended));
    await until(
      'the payouts',
      async () => (await polls().countDocuments({ _id: { $in: [open, ended] } })) === 2,
    );
    const before = about(ended, 'RailStatusObserved').length;
    await publish(callback(open, 'COMPLETED'), callback(ended, 'FAILED'), callback(ended, 'FAILED', '7'));
    await until('the breaks', () =>
      [open, ended].every((reference) => about(reference, 'BreakOpened').length > 0),
    );
    const polled = (await rowOf(open))?.polls ?? 0;
    await until('more polls', async () => ((await rowOf(open))?.polls ?? 0) > polled + 2);
    expect(await breaksOf(open)).toEqual(['callback.denied']);
    expect(await breaksOf(ended)).toEqual(['callback.denied']);
    expect(about(open, 'BreakOpened')).toHaveLength(1);
    expect(about(open, 'RailStatusObserved')).toEqual([]);
    expect(about(ended, 'RailStatusObserved')).toHaveLength(before);
  });

  it('keeps a collection pending whose callback claims another amount', async () => {
    const [right, wrong] = [ids.next('co'), ids.next('co')];
    for (const reference of [right, wrong])
      answers.set(reference, { kind: 'completed', amount: null, fee: null, reason: null });
    await publish(
      callback(right, 'COMPLETED', '100.00', 'collection'),
      callback(wrong, 'COMPLETED', '101', 'collection'),
    );
    await until(
      'the hints',
      async () => (await polls().countDocuments({ _id: { $in: [right, wrong] } })) === 2,
    );
    await publish(initiated(right), initiated(wrong));
    await until('a fact and a break', () => about(right).length > 0 && about(wrong).length > 0);
    expect(about(right)[0]?.payload).toMatchObject({ status: 'completed', amount: 10_000n, fee: null });
    expect(about(wrong).map(({ type }) => type)).toEqual(['pesewa.reconciliation.BreakOpened']);
    expect(about(wrong)[0]?.payload).toMatchObject({ kind: 'collection.amount_differs', amount: 100n });
  });

  it('measures the drift of a wallet, and closes its break once it is back in range', async () => {
    const reference = ids.next('po');
    const wallet = { merchantId: 'demo', currency: 'GHS', rail: 'upstream' };
    await publish(
      ledger({
        type: 'pesewa.ledger.FloatFunded',
        payload: {
          ...envelope(),
          rail: 'upstream',
          currency: 'GHS',
          amount: 1_000_000n,
          commandId: ids.next('cm'),
        },
      }),
      ledger({
        type: 'pesewa.ledger.HoldCaptured',
        payload: { ...envelope(), ...wallet, reference, ...amounts, railCost: 50n },
      }),
    );
    await until('the posting', async () => (await rowOf(reference))?.posted === true);
    holds(989_900n);
    expect((await operator('/compare', { method: 'POST' })).items).toMatchObject([
      {
        rail: 'upstream',
        currency: 'GHS',
        railBalance: '9899',
        float: '9899.5',
        drift: '-0.5',
        withinRange: false,
      },
    ]);
    await operator('/compare', { method: 'POST' });
    expect(await breaksOf('upstream:GHS')).toEqual(['wallet.drift']);
    holds(989_950n);
    await operator('/compare', { method: 'POST' });
    expect((await operator('/drift')).items).toMatchObject([{ drift: '0', withinRange: true }]);
    expect((await operator('/breaks?reference=upstream:GHS')).items).toMatchObject([{ status: 'resolved' }]);
    await until('the events', () => heard.some(({ type }) => type.endsWith('.BreakResolved')));
  });

  it('moves a float once for an event at two offsets, or under two ids', async () => {
    const [paid, collected] = [ids.next('po'), ids.next('co')];
    const commandId = ids.next('cm');
    const wallet = { merchantId: 'twice', currency: 'UGX', rail: 'upstream' };
    const taken = { ...wallet, reference: paid, ...amounts, railCost: 50n };
    const credited = { ...wallet, reference: collected, amountReceived: 5_000n, fee: 10n, railCost: 5n };
    const funded = { rail: 'upstream', currency: 'UGX', amount: 100_000n, commandId };
    const ledgerEvents = () => [
      ledger({ type: 'pesewa.ledger.HoldCaptured', payload: { ...envelope(), ...taken } }),
      ledger({ type: 'pesewa.ledger.CollectionCredited', payload: { ...envelope(), ...credited } }),
      ledger({ type: 'pesewa.ledger.FloatFunded', payload: { ...envelope(), ...funded } }),
    ];
    const once = ledgerEvents();
    await publish(...once);
    await publish(...once, ...ledgerEvents());
    const last = ids.next('po');
    await publish(captured(last));
    await until('the last posting', async () => (await rowOf(last))?.posted === true);
    const floats = await database()
      .collection<Record<'credits' | 'debits', bigint>>('floats')
      .find({ currency: 'UGX' } as object)
      .toArray();
    const moved = floats.reduce((total, { credits, debits }) => total + credits - debits, 0n);
    expect(moved).toBe(100_000n - 10_050n + 4_995n);
    expect((await rowOf(paid))?.booked).toMatchObject({ minor: -10_000n });
  });

  it('changes nothing and asks no rail when every topic is replayed', async () => {
    const state = async () => ({
      polls: await polls().find().sort({ _id: 1 }).toArray(),
      breaks: await database().collection('breaks').find().sort({ _id: 1 }).toArray(),
      floats: await database().collection('floats').find().sort({ _id: 1 }).toArray(),
    });
    for (const { _id, terms } of await polls()
      .find({ openState: { $exists: true } })
      .toArray()) {
      await publish(terms?.kind === 'collection' ? failed(_id) : completed(_id));
    }
    await until(
      'an end of every poll',
      async () =>
        (await polls().countDocuments({
          $or: [{ openState: { $exists: true } }, { watch: { $exists: true } }],
        })) === 0,
    );
    const open = ids.next('po');
    answers.set(open, { kind: 'unknown', why: 'busy', retryAfterMs: 3_600_000 });
    await publish(accepted(open), submitted(open, 'acknowledged'));
    await until('its poll', async () => ((await rowOf(open))?.polls ?? 0) > 0);
    await stop();
    const [before, calls] = [await state(), asked.length];
    expect(before.polls.length).toBeGreaterThan(5);
    expect(before.breaks.length).toBeGreaterThan(2);
    const replay = createReplay({ config, kafkaLog, database: database() });
    await replay.rewind();
    await start();
    const ends = await replay.ends();
    await until('the replay', () => replay.isAppliedTo(ends));
    expect(await state()).toEqual(before);
    expect(asked).toHaveLength(calls);
  });
});
