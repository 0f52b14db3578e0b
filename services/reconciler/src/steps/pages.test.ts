import type { OutgoingEvent, Transaction } from '@pesewa/messaging';
import { beforeEach, describe, expect, it } from 'vitest';
import { toFoundBreak } from '../domain/observing.ts';
import { awaited, type Tracked } from '../domain/tracked.ts';
import { breaksInMemory } from '../fixtures/breaks.ts';
import { ended, fold, opened } from '../fixtures/verdicts.ts';
import type { FollowedStep, Overdue, Step } from './following.ts';
import { createPages, type PageDeps } from './pages.ts';
import { stepId } from './store.ts';

const LIMIT_MS = 1_000;
const NOW_MS = 50_000;
const now = new Date(NOW_MS);
const signal = new AbortController().signal;

/** Payments, followed steps and breaks in memory. */
function open() {
  const broken = breaksInMemory();
  const payments = new Map<string, Tracked>();
  const steps = new Map<string, FollowedStep>();
  const asked: string[] = [];
  /** Payments that can't be written. */
  const poisoned = new Set<string>();
  const commits: string[][] = [];
  const deps: PageDeps = {
    stepStore: {
      load: async (wanted) =>
        new Map(
          wanted
            .map(stepId)
            .flatMap((id) => steps.get(id) ?? [])
            .map((step) => [stepId(step), step]),
        ),
      save: async (followed, done) => {
        for (const step of followed) steps.set(stepId(step), step);
        for (const step of done) steps.delete(stepId(step));
      },
    },
    store: {
      load: async (references) => {
        commits.push([...references]);
        if (references.some((one) => poisoned.has(one))) throw new Error('this one can not be written');
        return new Map(
          references.flatMap((one) => payments.get(one) ?? []).map((one) => [one.reference, one]),
        );
      },
      save: async (saved) => {
        for (const one of saved) payments.set(one.reference, one);
      },
    },
    workingSet: { apply: async () => undefined },
    breaks: broken.store,
    messaging: {
      groupCommit: (_, apply) => ({
        submit: async (item) => {
          const transaction = { session: {}, emit: (event: OutgoingEvent) => broken.emitted.push(event) };
          const [outcome] = await apply([item], transaction as unknown as Transaction, false);
          return outcome as never;
        },
      }),
    },
    requestRepublication: ({ reference, step }) => void asked.push(`${reference}/${step}`),
    requestsMax: 3,
    clock: { nowMs: () => NOW_MS },
  };
  const write = createPages(deps);
  const add = (...added: readonly Tracked[]) => {
    for (const one of added) payments.set(one.reference, one);
  };
  const followed = (reference: string, step: Step, change: Partial<FollowedStep> = {}): FollowedStep => {
    const due = { reference, kind: 'payout', step, since: now, dueAt: now } as const;
    const one = { ...due, requests: 4, isReported: true, ...change };
    steps.set(stepId(one), one);
    return one;
  };
  return { broken, payments, steps, asked, poisoned, commits, write, add, followed };
}

const overdue = (reference: string, step: Step): Overdue => ({ reference, kind: 'payout', step });
const failed = (reference: string): Tracked =>
  fold(awaited(reference, 0), [opened('payout'), ended('payout', 'failed')]);
const lookedAt = (...found: readonly Overdue[]) => ({ limitMs: LIMIT_MS, overdue: found });

let world: ReturnType<typeof open>;
beforeEach(() => {
  world = open();
});

describe('a look at entries', () => {
  it('takes up what differs, and has what matches by now due no more', async () => {
    const due = { booksDueAtMs: NOW_MS };
    world.add(
      { ...failed('po-lacks'), ...due },
      { ...failed('po-whole'), released: true, ...due },
      // Something has come since the look, and its grace time runs.
      { ...failed('po-new'), booksDueAtMs: NOW_MS + 1_000 },
    );
    const compared = ['po-lacks', 'po-whole', 'po-new', 'po-gone'];
    await world.write({ ...lookedAt(overdue('po-lacks', 'entry')), compared }, signal);
    const dueOf = (reference: string) => world.payments.get(reference)?.booksDueAtMs;
    expect(compared.map(dueOf)).toEqual([null, null, NOW_MS + 1_000, undefined]);
    expect(world.asked).toEqual(['po-lacks/entry']);
    expect([...world.steps.keys()]).toEqual(['po-lacks/entry']);
  });
});

describe('a followed step', () => {
  it('of an entry stands until the ledger bears the payment out, or its break was corrected', async () => {
    const broken = { breaks: ['books.unreleased'] };
    world.add(
      { ...failed('po-lacks'), ...broken },
      failed('po-corrected'),
      failed('po-again'),
      { ...failed('po-whole'), released: true },
      { ...awaited('po-unknown', 0), posted: true, breaks: ['books.unexplained_entry'] },
    );
    const references = ['po-lacks', 'po-corrected', 'po-whole', 'po-gone', 'po-unknown'];
    const due: FollowedStep[] = references.map((one) => world.followed(one, 'entry'));
    // A break of an earlier entry says nothing of one that people have not been shown.
    due.push(world.followed('po-again', 'entry', { isReported: false, requests: 1 }));
    const found = ['po-lacks', 'po-corrected', 'po-unknown', 'po-again'].map((one) => overdue(one, 'entry'));
    await world.write({ ...lookedAt(...found), due }, signal);
    expect([...world.steps.keys()]).toEqual(['po-lacks/entry', 'po-again/entry']);
    expect(world.asked).toEqual(['po-lacks/entry', 'po-again/entry']);
    expect(world.broken.kept.size).toBe(0);
  });

  it.each([
    ['hold', 'po-1/hold'],
    ['delivery', 'po-1/delivery'],
  ] as const)(
    'of a %s is asked for once people have resolved its break, and not shown again',
    async (step, id) => {
      world.add(failed('po-1'));
      const due = [world.followed('po-1', step)];
      await world.write({ ...lookedAt(overdue('po-1', step)), due }, signal);
      expect(world.asked).toEqual([id]);
      expect(world.steps.get(id)).toMatchObject({ requests: 5, isReported: true });
      expect(world.broken.kept.size).toBe(0);
    },
  );

  it('is reported again by an audit if its break is gone, and a break that stands is no news', async () => {
    const finding = { kind: 'hold.unanswered', amount: null, detail: 'x' } as const;
    const standing = toFoundBreak('po-2', finding, { currency: null }, now);
    const payment = fold(awaited('po-1', 0), [opened('payout')]);
    world.add(payment, await world.broken.tell([standing], { ...payment, reference: 'po-2' }));
    const before = world.broken.kept.get('po-2/hold');
    const steps = [world.followed('po-1', 'hold'), world.followed('po-2', 'hold')];
    await world.write(lookedAt(overdue('po-1', 'hold'), overdue('po-2', 'hold')), signal);
    const opened1 = [...world.broken.kept.values()].filter(({ reference }) => reference === 'po-1');
    expect(opened1).toMatchObject([{ kind: 'hold.unanswered', status: 'open' }]);
    expect(world.payments.get('po-1')?.breaks).toEqual(['hold.unanswered']);
    expect(world.broken.kept.get('po-2/hold')).toBe(before);
    expect([...world.steps.values()]).toEqual(steps);
    expect(world.asked).toEqual([]);
  });
});

describe('a page with a payment that can not be written', () => {
  it('is written payment by payment, and fails', async () => {
    const references = ['po-1', 'po-2', 'po-3'];
    world.add(...references.map(failed));
    world.poisoned.add('po-2');
    const due = references.map((one) => world.followed(one, 'delivery'));
    const page = { ...lookedAt(...references.map((one) => overdue(one, 'delivery'))), due };
    await expect(world.write(page, signal)).rejects.toThrow('this one can not be written');
    expect(world.commits).toEqual([references, ['po-1'], ['po-2'], ['po-3']]);
    expect(world.asked).toEqual(['po-1/delivery', 'po-3/delivery']);
    expect(world.steps.get('po-2/delivery')).toBe(due[1]);
  });

  it('is left to the next round at the end of this process', async () => {
    world.poisoned.add('po-2');
    const page = lookedAt(overdue('po-1', 'delivery'), overdue('po-2', 'delivery'));
    await expect(world.write(page, AbortSignal.abort())).rejects.toThrow('this one can not be written');
    expect(world.commits).toHaveLength(1);
  });

  it('writes nothing where nothing was found', async () => {
    await world.write(lookedAt(), signal);
    expect(world.commits).toEqual([]);
  });
});
