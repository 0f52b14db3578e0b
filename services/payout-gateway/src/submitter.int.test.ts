import type { SubmissionResult } from '@pesewa/rails';
import { eventually } from '@pesewa/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { PayoutDocument } from './store.ts';
import { openSubmitters } from './submitter.fixture.ts';

let submitters: Awaited<ReturnType<typeof openSubmitters>>;

beforeAll(async () => {
  submitters = await openSubmitters(process.env['MONGODB_URL'] ?? '', 'submitter');
});
afterEach(() => submitters.clear());
afterAll(() => submitters[Symbol.asyncDispose]());

describe('the submitter', () => {
  it('has committed the attempt before the rail is called (X2)', async () => {
    const reference = await submitters.hold();
    let seen: PayoutDocument | null = null;
    const { recorded } = submitters.start({
      submit: async (order) => {
        seen = await submitters.store.collection.findOne({ reference: order.reference });
        return { kind: 'acknowledged' };
      },
    });
    await eventually(() => expect(recorded).toHaveLength(1));
    expect(seen).toMatchObject({ step: 'submitting', attempts: 1, version: 3n });
    const command = { kind: 'recordAttempt', attempt: 1, outcome: { kind: 'acknowledged' } };
    expect(recorded).toMatchObject([{ reference, command }]);
  });

  it('does not call the rail on a claim that has grown old: it gives the payout back', async () => {
    await submitters.hold();
    const { asked, recorded } = submitters.start({
      beforeCall: (clock) => {
        clock.skewMs += 2_100;
      },
    });
    await eventually(() => expect(recorded.length).toBeGreaterThan(0));
    expect(asked).toEqual([]);
    expect(recorded[0]?.command).toMatchObject({ attempt: 1, outcome: { kind: 'notSent' } });
  });

  it.each([-4_000, 4_000])('calls the rail by a clock that is %i ms off the database’s', async (skewMs) => {
    const reference = await submitters.hold({ dueAt: new Date(Date.now() - 10_000) });
    const { asked } = submitters.start({ skewMs });
    await eventually(() => expect(asked).toEqual([reference]));
  });

  it('never takes up an attempt whose lease has run out: the lookup decides (ADR 5)', async () => {
    const lost = await submitters.hold({
      step: 'submitting',
      attempts: 1,
      attemptedAt: new Date(Date.now() - 60_000),
    });
    const { asked } = submitters.start();
    const later = [await submitters.hold(), await submitters.hold()];
    await eventually(() => expect(asked.toSorted()).toEqual(later.toSorted()));
    expect(await submitters.store.collection.findOne({ reference: lost })).toMatchObject({ attempts: 1 });
  });

  it('shares the work with another replica: each payout is sent once', async () => {
    const due = await Promise.all(Array.from({ length: 60 }, () => submitters.hold()));
    const both = Promise.withResolvers<SubmissionResult>();
    const replicas = [0, 1].map(() =>
      submitters.start({
        // The rail answers only after both have called it.
        submit: () => {
          if (replicas.every(({ asked }) => asked.length > 0)) both.resolve({ kind: 'acknowledged' });
          return both.promise;
        },
      }),
    );
    await eventually(() => expect(replicas.flatMap(({ recorded }) => recorded)).toHaveLength(due.length));
    expect(replicas.flatMap(({ asked }) => asked).toSorted()).toEqual(due.toSorted());
  });

  it('records a refusal again and again until it is committed: the rail would not know it any more', async () => {
    const reference = await submitters.hold();
    let elections = 3;
    const { asked, recorded } = submitters.start({
      submit: async () => ({ kind: 'failed', reason: 'No account' }),
      beforeCommit: () => {
        elections -= 1;
        if (elections >= 0) throw new Error('no primary');
      },
    });
    await eventually(() => expect(recorded).toHaveLength(1));
    const outcome = { kind: 'failed', reason: 'No account' };
    expect(recorded).toMatchObject([{ reference, command: { attempt: 1, outcome } }]);
    expect(asked).toEqual([reference]);
  });

  it('closes although an outcome cannot be committed', async () => {
    await submitters.hold();
    let tries = 0;
    const { recorded } = submitters.start({
      beforeCommit: () => {
        tries += 1;
        throw new Error('no primary');
      },
    });
    await eventually(() => expect(tries).toBeGreaterThan(2));
    await submitters.stop();
    expect(recorded).toEqual([]);
  });

  it('sends what is due on one rail while another rail does not answer', async () => {
    const stuck = await Promise.all(Array.from({ length: 4 }, () => submitters.hold()));
    const silence = Promise.withResolvers<SubmissionResult>();
    const { asked } = submitters.start({
      concurrencyMax: 2,
      submit: async ({ reference }) =>
        stuck.includes(reference) ? silence.promise : { kind: 'acknowledged' },
    });
    submitters.defer(() => silence.resolve({ kind: 'acknowledged' }));
    await eventually(() => expect(asked).toHaveLength(2));
    const other = await submitters.hold({ rail: 'other', dueAt: new Date() });
    await eventually(() => expect(asked).toContain(other));
  });

  it('sends a single payout while a batch that was due before it has no end', async () => {
    const batch = { batchReference: 'ba-1', queue: 'batch' } as const;
    const items = await Promise.all(Array.from({ length: 4 }, () => submitters.hold(batch)));
    const silence = Promise.withResolvers<SubmissionResult>();
    const { asked } = submitters.start({
      concurrencyMax: 2,
      submit: async ({ reference }) =>
        items.includes(reference) ? silence.promise : { kind: 'acknowledged' },
    });
    submitters.defer(() => silence.resolve({ kind: 'acknowledged' }));
    await eventually(() => expect(asked).toHaveLength(2));
    const single = await submitters.hold({ dueAt: new Date() });
    await eventually(() => expect(asked).toContain(single));
  });

  it('claims nothing for a rail that is paused, and goes on when it is resumed (ADR 77)', async () => {
    const reference = await submitters.hold();
    const pauses = { isPaused: true, looks: 0 };
    const { asked } = submitters.start({
      isPaused: () => {
        pauses.looks += 1;
        return pauses.isPaused;
      },
    });
    await eventually(() => expect(pauses.looks).toBeGreaterThan(1));
    expect(await submitters.store.collection.findOne({ reference })).toMatchObject({
      step: 'held',
      attempts: 0,
    });
    pauses.isPaused = false;
    await eventually(() => expect(asked).toEqual([reference]));
  });

  it('gives back what it has claimed of a merchant that is paused, without asking the rail', async () => {
    const reference = await submitters.hold();
    const { asked, recorded } = submitters.start({ isPaused: ({ merchantId }) => merchantId !== undefined });
    await eventually(() => expect(recorded).toHaveLength(1));
    expect(recorded).toMatchObject([{ reference, command: { outcome: { kind: 'notSent' } } }]);
    expect(asked).toEqual([]);
  });

  it('claims nothing for a rail whose circuit is open, and goes on when it may be tried', async () => {
    const reference = await submitters.hold();
    let looks = 0;
    let available = false;
    const isAvailable = () => {
      looks += 1;
      return available;
    };
    const { asked } = submitters.start({ isAvailable });
    await eventually(() => expect(looks).toBeGreaterThan(8));
    expect(await submitters.store.collection.findOne({ reference })).toMatchObject({
      step: 'held',
      attempts: 0,
    });
    available = true;
    await eventually(() => expect(asked).toEqual([reference]));
  });
});
