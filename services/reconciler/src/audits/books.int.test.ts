import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { keepInOutbox } from '../fixtures/outboxes.ts';
import { accepted, captured, completed, ids, payoutFailed, released } from '../fixtures/owners.ts';
import { createReplay } from '../fixtures/replay.ts';

const harness = createHarness('books', { ...process.env, BOOKS_GRACE_MS: '700' });
const { about, config, database, kafkaLog, operator, polls, publish, rowOf } = harness;
let ledger: Awaited<ReturnType<typeof harness.joinLedger>>;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const breaks = async (reference: string) => (await operator(`/breaks?reference=${reference}`)).items;
const untilBreak = (reference: string, kind: string, status: string) =>
  until(`${kind} ${status}`, async () =>
    (await breaks(reference)).some((one) => one['kind'] === kind && one['status'] === status),
  );

beforeAll(async () => {
  await harness.open();
  ledger = await harness.joinLedger();
});
afterAll(async () => {
  await ledger.close();
  await harness.close();
});

describe('the ledger against the gateways, on real daemons (ADR 27)', () => {
  it('finds a completed payout without its capture on a quiet night, once, and closes that when it comes', async () => {
    const reference = ids.next('po');
    await publish(accepted(reference), completed(reference));
    await untilBreak(reference, 'books.unposted', 'open');
    expect(await breaks(reference)).toMatchObject([{ amount: '-100', currency: 'KES' }]);
    expect(about(reference, 'RepublishRequested')).toMatchObject([{ payload: { step: 'entry' } }]);
    expect(await rowOf(reference)).not.toHaveProperty('booksDueAt');
    await publish(captured(reference));
    await untilBreak(reference, 'books.unposted', 'resolved');
    expect(about(reference, 'BreakOpened')).toHaveLength(1);
    expect(await rowOf(reference)).toMatchObject({ posted: true, breaks: [] });
  });

  it('has an end published again before it opens a break, and opens none once that helps', async () => {
    const reference = ids.next('po');
    await publish(accepted(reference), payoutFailed(reference));
    await until('the request', () => about(reference, 'RepublishRequested').length > 0);
    await publish(released(reference));
    await until('the release', async () => (await rowOf(reference))?.released === true);
    expect(await rowOf(reference)).not.toHaveProperty('booksDueAt');
    expect(await rowOf(reference)).not.toHaveProperty('entryRequests');
    expect(await breaks(reference)).toEqual([]);
  });

  it('finds a failed payout whose hold stays, and a capture of one that failed', async () => {
    const [kept, taken] = [ids.next('po'), ids.next('po')];
    await publish(accepted(kept), payoutFailed(kept), accepted(taken), payoutFailed(taken), captured(taken));
    await untilBreak(kept, 'books.unreleased', 'open');
    await untilBreak(taken, 'books.posted_wrongly', 'open');
    expect(await breaks(taken)).toMatchObject([{ amount: '100' }]);
    await publish(released(kept));
    await untilBreak(kept, 'books.unreleased', 'resolved');
  });

  it('reports an entry of an unknown payment, until the payment becomes known', async () => {
    const reference = ids.next('po');
    await publish(captured(reference));
    await untilBreak(reference, 'books.unexplained_entry', 'open');
    expect(await breaks(reference)).toMatchObject([{ amount: '100', currency: 'KES' }]);
    await publish(accepted(reference), completed(reference));
    await untilBreak(reference, 'books.unexplained_entry', 'resolved');
  });

  it('has nothing to say, or to write, where both sides come in time', async () => {
    const [paid, refused] = [ids.next('po'), ids.next('po')];
    await publish(accepted(paid), completed(paid), captured(paid));
    await publish(accepted(refused), payoutFailed(refused), released(refused));
    await until('both sides', async () => {
      const rows = await Promise.all([paid, refused].map(rowOf));
      return rows[0]?.posted === true && rows[1]?.released === true && rows[0].status === 'completed';
    });
    const late = ids.next('po');
    await publish(accepted(late), completed(late));
    await untilBreak(late, 'books.unposted', 'open');
    for (const reference of [paid, refused]) {
      expect(await breaks(reference)).toEqual([]);
      expect(await rowOf(reference)).not.toHaveProperty('booksDueAt');
    }
  });

  it('reports once that the ledger has stopped, and none of the payments that wait for it', async () => {
    await ledger.close();
    const waiting = Array.from({ length: 40 }, () => ids.next('po'));
    const [missing = '', ...posted] = waiting;
    const wrong = ids.next('po');
    await publish(
      ...waiting.flatMap((one, at) => [accepted(one), at % 2 ? completed(one) : payoutFailed(one)]),
    );
    await untilBreak('ledger', 'books.ledger_behind', 'open');
    await until('all of them reported', async () =>
      /at least 32 payments/.test(String((await breaks('ledger'))[0]?.['detail'])),
    );
    expect(await harness.metrics()).toMatch(/^payments_awaiting_ledger 40$/m);
    for (const reference of waiting) expect(await breaks(reference)).toEqual([]);
    await publish(...posted.map((one) => (waiting.indexOf(one) % 2 ? captured(one) : released(one))));
    await until(
      'the postings',
      async () =>
        (await polls().countDocuments({ _id: { $in: posted }, booksDueAt: { $exists: true } })) === 0,
    );
    expect(await breaks(missing)).toEqual([]);
    await publish(accepted(wrong), completed(wrong));
    ledger = await harness.joinLedger();
    await untilBreak('ledger', 'books.ledger_behind', 'resolved');
    await untilBreak(missing, 'books.unreleased', 'open');
    await untilBreak(wrong, 'books.unposted', 'open');
    for (const reference of posted) expect(await breaks(reference)).toEqual([]);
    expect(about('ledger', 'BreakOpened')).toHaveLength(1);
    expect(about('ledger', 'BreakResolved')).toHaveLength(1);
    expect(await harness.metrics()).toMatch(/^payments_awaiting_ledger 0$/m);
  });

  it('misses nothing while the answers of the ledger wait in its outbox', async () => {
    const release = await keepInOutbox(harness.gateway('ledger'), 'capture');
    const reference = ids.next('po');
    await publish(accepted(reference), completed(reference));
    await until('a payment that is not judged, though it has been due for long', async () => {
      const { booksDueAt } = (await rowOf(reference)) ?? {};
      return booksDueAt !== undefined && Date.now() - booksDueAt.getTime() > 2_500;
    });
    expect(about(reference, 'RepublishRequested')).toEqual([]);
    await release();
    await untilBreak(reference, 'books.unposted', 'open');
    await publish(captured(reference));
    await untilBreak(reference, 'books.unposted', 'resolved');
  });

  it('finds the one posting that is missing among many that come', async () => {
    const all = Array.from({ length: 30 }, () => ids.next('po'));
    const [missing = '', ...posted] = all;
    await publish(
      ...all.flatMap((one) => [accepted(one), completed(one)]),
      ...posted.map((one) => captured(one)),
    );
    await untilBreak(missing, 'books.unposted', 'open');
    for (const reference of posted) expect(await breaks(reference)).toEqual([]);
    expect(about('ledger', 'BreakOpened')).toHaveLength(1);
  });

  it('are not changed by a replay of every topic from its start', async () => {
    const state = async () => ({
      polls: await polls().find().sort({ _id: 1 }).toArray(),
      breaks: await database().collection('breaks').find().sort({ _id: 1 }).toArray(),
      floats: await database().collection('floats').find().sort({ _id: 1 }).toArray(),
    });
    await until(
      'nothing to do',
      async () =>
        (await polls().countDocuments({
          $or: [{ openState: { $exists: true } }, { booksDueAt: { $exists: true } }],
        })) === 0,
    );
    await harness.stop();
    const before = await state();
    expect(before.polls.length).toBeGreaterThan(5);
    expect(before.breaks.length).toBeGreaterThan(3);
    const replay = createReplay({ config, kafkaLog, database: database() });
    await replay.rewind();
    await harness.start();
    const ends = await replay.ends();
    await until('the replay', () => replay.isAppliedTo(ends));
    expect(await state()).toEqual(before);
  });
});
