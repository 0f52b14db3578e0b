import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import {
  accepted,
  callback,
  collected,
  completed,
  ids,
  initiated,
  payoutFailed,
} from '../fixtures/owners.ts';
import { createReplay } from '../fixtures/replay.ts';

const harness = createHarness('prv', process.env);
const {
  about,
  answers,
  asked,
  breaksOf,
  config,
  database,
  kafkaLog,
  operator,
  polls,
  publish,
  rowOf,
  start,
  stop,
} = harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const kinds = {
  payout: { prefix: 'po', begin: accepted, differs: 'payout.amount_differs', topic: 'payoutFacts' },
  collection: {
    prefix: 'co',
    begin: initiated,
    differs: 'collection.amount_differs',
    topic: 'collectionFacts',
  },
} as const;
const facts = (reference: string) => about(reference, 'RailStatusObserved').map(({ payload }) => payload);

// Polls answer `pending` by default, so an end here comes from a proven callback.
beforeAll(harness.open);
afterAll(harness.close);

describe.each(['payout', 'collection'] as const)('a proven callback of a %s', (kind) => {
  const { prefix, begin, differs, topic } = kinds[kind];
  /** A payment of which no poll says anything: all that is known comes from callbacks, however long a test takes. */
  const unanswered = () => {
    const reference = ids.next(prefix);
    answers.set(reference, { kind: 'unknown', why: 'the rail is down' });
    return reference;
  };
  const proves = (reference: string, status: string, amount?: string) =>
    callback(reference, status, amount, kind, { proven: true, fee: '0.75' });

  it.each(['before', 'after'])('is a fact at once, without a poll (%s the first event)', async (order) => {
    const reference = unanswered();
    const events = [begin(reference), proves(reference, 'COMPLETED', '100.00')];
    for (const event of order === 'before' ? events.toReversed() : events) {
      await publish(event);
      await until('the row', async () => (await rowOf(reference)) !== null);
    }
    await until('the fact', () => facts(reference).length > 0);
    const proven = about(reference, 'RailStatusObserved').find(
      ({ payload }) => payload['source'] === 'provenCallback',
    );
    expect(proven).toMatchObject({ topic, payload: { status: 'completed', amount: 10_000n, fee: 75n } });
    expect(await breaksOf(reference)).toEqual([]);
    const { items } = await operator(`/timeline?reference=${reference}`);
    expect(items).toContainEqual(expect.objectContaining({ what: 'proven', detail: 'COMPLETED' }));
  });

  it('of a fee that is none is one break beside a hint of another, and stops nothing', async () => {
    const reference = unanswered();
    await publish(
      callback(reference, 'COMPLETED', '100', kind, { fee: '9' }),
      callback(reference, 'COMPLETED', '100', kind, { proven: true, fee: '-1' }),
    );
    await until('the callbacks', async () => (await rowOf(reference))?.callbacks?.length === 2);
    await publish(begin(reference));
    await until('the fact', () => facts(reference).length > 0);
    const fee = kind === 'payout' ? 50n : null;
    expect(facts(reference)[0]).toMatchObject({ status: 'completed', amount: 10_000n, fee });
    expect(await breaksOf(reference)).toEqual(['callback.fee_differs']);
    await until('a poll', () => asked.includes(reference));
  });

  it.each(['101', '100.001', 'a hundred'])('of %s is one break and no fact', async (amount) => {
    const reference = unanswered();
    await publish(
      begin(reference),
      proves(reference, 'COMPLETED', amount),
      proves(reference, 'COMPLETED', '7'),
    );
    await until('the break', () => about(reference, 'BreakOpened').length > 0);
    await until('a poll', () => asked.includes(reference));
    expect(await breaksOf(reference)).toEqual([differs]);
    expect(facts(reference)).toEqual([]);
    expect(await rowOf(reference)).toMatchObject({ status: 'open' });
  });

  it('that contradicts another, or the end, is one break and moves nothing', async () => {
    const [twice, against, early] = [ids.next(prefix), ids.next(prefix), ids.next(prefix)];
    const both = (reference: string) => [proves(reference, 'COMPLETED'), proves(reference, 'FAILED')];
    // The two are on different topics, so either may come first.
    await publish(begin(twice));
    await until('the row', async () => (await rowOf(twice)) !== null);
    await publish(...both(twice));
    await publish(begin(against), kind === 'payout' ? payoutFailed(against) : collected(against, 10_000n));
    await until('the end', async () => !['open', undefined].includes((await rowOf(against))?.status));
    const claim = kind === 'payout' ? 'COMPLETED' : 'FAILED';
    await publish(proves(against, claim), callback(against, claim, '100.0', kind, { proven: true }));
    await publish(...both(early));
    await until('both', async () => (await rowOf(early))?.callbacks?.length === 2);
    await publish(begin(early));
    for (const reference of [twice, against, early]) {
      await until('the break', () => about(reference, 'BreakOpened').length > 0);
      expect(await breaksOf(reference)).toEqual(['payment.contradiction']);
    }
    expect(facts(twice).map(({ status }) => status)).toEqual(['completed']);
    expect(facts(against)).toEqual([]);
    expect(facts(early)).toEqual([]);
  });
});

it('changes nothing when every topic is replayed: proven callbacks are applied once', async () => {
  await publish(
    ...(
      await polls()
        .find({ openState: { $exists: true } })
        .toArray()
    ).map(endOf),
  );
  await until(
    'an end of every poll',
    async () =>
      (await polls().countDocuments({
        $or: [{ openState: { $exists: true } }, { watch: { $exists: true } }],
      })) === 0,
  );
  await stop();
  const state = async () => ({
    polls: await polls().find().sort({ _id: 1 }).toArray(),
    breaks: await database().collection('breaks').find().sort({ _id: 1 }).toArray(),
  });
  const [before, heardBefore] = [await state(), harness.heard.length];
  expect(before.breaks.length).toBeGreaterThan(5);
  const replay = createReplay({ config, kafkaLog, database: database() });
  await replay.rewind();
  await start();
  const ends = await replay.ends();
  await until('the replay', () => replay.isAppliedTo(ends));
  expect(await state()).toEqual(before);
  expect(harness.heard).toHaveLength(heardBefore);
});

function endOf({ _id, terms }: { readonly _id: string; readonly terms?: { readonly kind: string } }) {
  return terms?.kind === 'collection' ? collected(_id, 10_000n) : completed(_id);
}
