import type { IsPaused } from '@pesewa/payments';
import type { SubmissionResult } from '@pesewa/rails';
import { eventually } from '@pesewa/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { PayoutDocument } from './store.ts';
import { accepted, openSubmitters } from './submitter.fixture.ts';

let submitters: Awaited<ReturnType<typeof openSubmitters>>;

beforeAll(async () => {
  submitters = await openSubmitters(process.env['MONGODB_URL'] ?? '', 'writeClaims');
});
afterEach(() => submitters.clear());
afterAll(() => submitters[Symbol.asyncDispose]());

describe('a payout that is claimed by the write that makes it due', () => {
  it('is sent after the commit, with its attempt, and nobody claims it again', async () => {
    const other = submitters.start();
    let seen: PayoutDocument | null = null;
    const { asked, recorded, submitter } = submitters.start({
      isQuiet: true,
      submit: async (order) => {
        seen = await submitters.store.collection.findOne({ reference: order.reference });
        return { kind: 'acknowledged' };
      },
    });
    const reference = await submitters.hold(accepted);
    const beforeMs = Date.now();
    await submitters.makeDue(submitter, [reference], () => expect(asked).toEqual([]));
    expect(asked).toEqual([reference]);
    await eventually(() => expect(recorded).toHaveLength(1));
    expect(seen).toMatchObject({ step: 'submitting', attempts: 1, version: 3n });
    const { attemptedAt, dueAt, claim } = (await submitters.store.collection.findOne({ reference })) ?? {};
    expect(claim).toMatch(/^cm-/);
    expect(attemptedAt?.getTime()).toBeGreaterThanOrEqual(beforeMs);
    // Nothing else is done with it while its call may be in progress.
    expect(dueAt?.getTime()).toBeGreaterThanOrEqual(beforeMs + 45_000);
    const command = { kind: 'recordAttempt', attempt: 1, outcome: { kind: 'acknowledged' } };
    expect(recorded).toMatchObject([{ reference, command, known: { step: 'submitting', version: 3n } }]);
    expect(other.asked).toEqual([]);
  });

  it('is one for which its queue has room; the others are claimed when there is room', async () => {
    const answered = Promise.withResolvers<SubmissionResult>();
    const { asked, submitter } = submitters.start({
      isQuiet: true,
      concurrencyMax: 2,
      submit: () => answered.promise,
    });
    submitters.defer(() => answered.resolve({ kind: 'acknowledged' }));
    const singles = await Promise.all(Array.from({ length: 4 }, () => submitters.hold(accepted)));
    const item = await submitters.hold({ ...accepted, batchReference: 'ba-1', queue: 'batch' });
    await submitters.makeDue(submitter, [...singles, item]);
    expect(asked).toHaveLength(3);
    expect(asked).toContain(item);
    expect(
      await submitters.store.collection.countDocuments({ step: 'held', claim: { $exists: false } }),
    ).toBe(2);
    answered.resolve({ kind: 'acknowledged' });
    submitter.wake();
    await eventually(() => expect(asked.toSorted()).toEqual([...singles, item].toSorted()));
  });

  it.each<[string, Parameters<typeof submitters.start>[0]]>([
    ['whose circuit is open', { isAvailable: () => false }],
    ['that is paused', { isPaused: ({ rail }) => rail === 'upstream' }],
    ['of a merchant that is paused', { isPaused: ({ merchantId }) => merchantId === 'demo' }],
    ['while all payouts are paused', { isPaused: () => true }],
  ])('is none of a rail %s: it is held', async (_what, options) => {
    const { asked, submitter } = submitters.start({ isQuiet: true, ...options });
    const reference = await submitters.hold(accepted);
    await submitters.makeDue(submitter, [reference]);
    expect(await submitters.store.collection.findOne({ reference })).toMatchObject({
      step: 'held',
      attempts: 0,
    });
    expect(asked).toEqual([]);
  });

  it('is not sent on a claim that has grown old while it was committed: it is given back', async () => {
    let lateMs = 0;
    const { asked, recorded, submitter } = submitters.start({
      isQuiet: true,
      beforeCall: (clock) => {
        clock.skewMs += lateMs;
      },
    });
    const reference = await submitters.hold(accepted);
    await submitters.makeDue(submitter, [reference], () => {
      lateMs = 2_100;
    });
    await eventually(() => expect(recorded).toHaveLength(1));
    expect(asked).toEqual([]);
    expect(recorded[0]?.command).toMatchObject({ attempt: 1, outcome: { kind: 'notSent' } });
  });

  it.each<[string, IsPaused]>([
    ['its rail', ({ rail }) => rail === 'upstream'],
    ['its merchant', ({ merchantId }) => merchantId === 'demo'],
    ['everything', () => true],
  ])('is not sent where %s is paused before its call: it is given back (ADR 77)', async (_what, isPaused) => {
    let isSet = false;
    const { asked, recorded, submitter } = submitters.start({
      isQuiet: true,
      isPaused: (payment) => isSet && isPaused(payment),
    });
    const reference = await submitters.hold(accepted);
    await submitters.makeDue(submitter, [reference], () => {
      isSet = true;
    });
    expect(await submitters.store.collection.findOne({ reference })).toMatchObject({ step: 'submitting' });
    await eventually(() => expect(recorded).toHaveLength(1));
    expect(asked).toEqual([]);
    expect(recorded).toMatchObject([{ reference, command: { attempt: 1, outcome: { kind: 'notSent' } } }]);
  });

  it('is not sent if the transaction fails', async () => {
    const { asked, submitter } = submitters.start({ isQuiet: true });
    const reference = await submitters.hold(accepted);
    const failing = submitters.makeDue(submitter, [reference], () => {
      throw new Error('refused');
    });
    await expect(failing).rejects.toThrow('refused');
    expect(await submitters.store.collection.findOne({ reference })).toMatchObject({
      step: 'awaitingHold',
      attempts: 0,
    });
    expect(asked).toEqual([]);
  });

  it('is sent to the end by a process that is ending', async () => {
    const answered = Promise.withResolvers<SubmissionResult>();
    const { recorded, submitter } = submitters.start({ isQuiet: true, submit: () => answered.promise });
    const reference = await submitters.hold(accepted);
    await submitters.makeDue(submitter, [reference]);
    const closed = submitters.stop();
    answered.resolve({ kind: 'acknowledged' });
    await closed;
    expect(recorded).toMatchObject([{ reference, command: { attempt: 1 } }]);
  });

  it('may wait for its turn, as many as were sent in the last second; a process that is ending gives those back', async () => {
    const answered = Promise.withResolvers<SubmissionResult>();
    const answers = [{ kind: 'acknowledged' } as const, { kind: 'acknowledged' } as const];
    const { asked, recorded, submitter } = submitters.start({
      isQuiet: true,
      isFrozen: true,
      concurrencyMax: 2,
      submit: async () => answers.pop() ?? answered.promise,
    });
    const makeDue = async (count: number) => {
      const due = await Promise.all(Array.from({ length: count }, () => submitters.hold(accepted)));
      await submitters.makeDue(submitter, due);
      return { reference: { $in: due }, step: 'submitting' } as const;
    };
    await makeDue(2);
    await eventually(() => expect(recorded).toHaveLength(2));
    const claimed = await makeDue(5);
    expect(await submitters.store.collection.countDocuments(claimed)).toBe(4);
    expect(asked).toHaveLength(4);
    const closed = submitters.stop();
    await new Promise(setImmediate);
    answered.resolve({ kind: 'acknowledged' });
    await closed;
    expect(asked).toHaveLength(4);
    const outcomes = recorded.slice(2).map(({ command }) => 'outcome' in command && command.outcome.kind);
    expect(outcomes.filter((kind) => kind === 'acknowledged')).toHaveLength(2);
    expect(outcomes.filter((kind) => kind === 'notSent')).toHaveLength(2);
  });
});
