import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, captured, completed, ids, payoutFailed, released } from '../fixtures/owners.ts';
import { createReplay } from '../fixtures/replay.ts';

const harness = createHarness('books', { ...process.env, BOOKS_GRACE_MS: '700' });
const { about, config, database, kafkaLog, operator, polls, publish, rowOf } = harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const breaks = async (reference: string) => (await operator(`/breaks?reference=${reference}`)).items;
const untilBreak = (reference: string, kind: string, status: string) =>
  until(`${kind} ${status}`, async () =>
    (await breaks(reference)).some((one) => one['kind'] === kind && one['status'] === status),
  );

beforeAll(harness.open);
afterAll(harness.close);

describe('the ledger against the gateways, on real daemons (design 5)', () => {
  it('finds a completed payout without its capture, once, and closes that when it comes', async () => {
    const reference = ids.next('po');
    await publish(accepted(reference), completed(reference));
    await untilBreak(reference, 'books.unposted', 'open');
    expect(await breaks(reference)).toMatchObject([{ amount: '-100', currency: 'KES' }]);
    expect(await rowOf(reference)).not.toHaveProperty('booksDueAt');
    await publish(captured(reference));
    await untilBreak(reference, 'books.unposted', 'resolved');
    expect(about(reference, 'BreakOpened')).toHaveLength(1);
    expect(await rowOf(reference)).toMatchObject({ posted: true, breaks: [] });
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

  it('finds an entry whose payment nobody has opened, until somebody does', async () => {
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

  it('are not changed by a replay of every topic from its start', async () => {
    const state = async () => ({
      polls: await polls().find().sort({ _id: 1 }).toArray(),
      breaks: await database().collection('breaks').find().sort({ _id: 1 }).toArray(),
      floats: await database().collection('floats').find().sort({ _id: 1 }).toArray(),
    });
    await until(
      'nothing to do',
      async () =>
        (await polls().countDocuments({ $or: [{ open: true }, { booksDueAt: { $exists: true } }] })) === 0,
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
