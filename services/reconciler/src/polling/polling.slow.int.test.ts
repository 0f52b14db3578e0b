import { systemClock } from '@pesewa/kernel';
import { eventually } from '@pesewa/testkit';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, callback, completed, ids } from '../fixtures/owners.ts';
import { railSettings } from '../fixtures/rail.ts';
import type { PollDocument } from '../poll-document.ts';

const PER_SECOND = 60;
const CONCURRENCY_MAX = 16;
const DEADLINE_MS = 60_000;
const harness = createHarness('set', {
  ...process.env,
  RAILS: JSON.stringify([
    { ...railSettings, pollsPerSecondMax: PER_SECOND, pollConcurrencyMax: CONCURRENCY_MAX },
  ]),
  // A payment that was asked about is not due again while these tests run.
  POLL_BASE_MS: '3600000',
  POLL_CAP_MS: '3600000',
  POLLS_BEFORE_BREAK: '3',
});
const { about, answers, asked, breaksOf, circuit, database, heard, polls, publish, rowOf, slow } = harness;
const until = (what: string, met: () => boolean | Promise<boolean>) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  }, DEADLINE_MS);
const timesOf = (references: readonly string[]) => {
  const mine = new Set(references);
  return asked.filter((reference) => mine.has(reference));
};

beforeAll(harness.open);
afterAll(harness.close);
afterEach(() => {
  circuit.isOpen = false;
});

/** An open payment as it is stored before any poll. */
async function template(): Promise<PollDocument> {
  const reference = ids.next('po');
  await publish(accepted(reference));
  await until('the payment', async () => (await rowOf(reference)) !== null);
  const row = await rowOf(reference);
  if (!row) throw new Error('no payment');
  const { askedAt: _askedAt, claim: _claim, ...rest } = row;
  return { ...rest, polls: 0, pollsInRound: 0 };
}

/** Open payments that became due one after another over the last hour: the oldest first. */
async function backlog(count: number, change: Partial<PollDocument> = {}): Promise<readonly string[]> {
  const row = await template();
  const nowMs = systemClock.nowMs();
  const documents = Array.from({ length: count }, (_, index) => {
    const dueAt = new Date(nowMs - ((count - index) * 3_600_000) / count);
    return { ...row, ...change, _id: ids.next('po'), dueAt, scheduledAt: dueAt };
  });
  await polls().insertMany(documents);
  return documents.map(({ _id }) => _id);
}

/** An operation as MongoDB's profiler records it. */
interface Profiled {
  readonly ns: string;
  readonly op: string;
  readonly command: { readonly projection?: { readonly _id?: unknown } };
  readonly docsExamined: number;
  readonly keysExamined: number;
  readonly nreturned?: number;
}

describe('the reconciler after an outage', () => {
  it('catches up at the permitted rate, oldest first, and keeps no hint waiting', async () => {
    circuit.isOpen = true;
    const due = await backlog(800);
    const fresh = Array.from({ length: 20 }, () => ids.next('po'));
    await publish(...fresh.map(accepted));
    await until('the payments', async () => (await polls().countDocuments({ _id: { $in: fresh } })) === 20);
    expect(timesOf([...due, ...fresh])).toEqual([]);
    const fromMs = systemClock.nowMs();
    circuit.isOpen = false;
    await until('the first polls', () => timesOf(due).length > 100 && timesOf(fresh).length >= 20);
    // Hints come through Kafka while most of the backlog is still to come: the circuit keeps it so.
    circuit.isOpen = true;
    await publish(...fresh.map((reference) => callback(reference, 'PENDING')));
    const hinted = { _id: { $in: fresh }, dueAt: { $lte: new Date(systemClock.nowMs() + 60_000) } };
    await until('their hints', async () => (await polls().countDocuments(hinted)) === fresh.length);
    const atHints = asked.length;
    circuit.isOpen = false;
    await until('their polls', () => fresh.every((reference) => asked.includes(reference, atHints)));
    expect(Math.max(...fresh.map((reference) => asked.indexOf(reference, atHints))) - atHints).toBeLessThan(
      200,
    );
    // Payments that become due in the database wait for a few batches, each of at most sixteen.
    for (const _id of fresh.slice(0, 5)) {
      const from = asked.length;
      await polls().updateOne({ _id }, { $set: { dueAt: new Date() }, $unset: { claim: 1 } });
      await until('its poll', () => asked.indexOf(_id, from) >= 0);
      expect(asked.indexOf(_id, from) - from).toBeLessThan(100);
    }
    circuit.isOpen = true;
    await until(
      'those that were claimed',
      async () => (await polls().countDocuments({ claim: { $exists: true } })) === 0,
    );
    const [done, seconds] = [new Set(timesOf(due)), (systemClock.nowMs() - fromMs) / 1_000];
    expect(done.size).toBeLessThan(780);
    expect(done.size).toBeLessThanOrEqual(PER_SECOND * (seconds + 0.5));
    // The rest is one piece: the oldest were handled in order, and of the newest those few that were fresh.
    const states = due.map((reference) => done.has(reference));
    const left = states.slice(states.indexOf(false), states.lastIndexOf(false) + 1);
    expect(left.filter(Boolean)).toEqual([]);
    expect(states.indexOf(false)).toBeGreaterThanOrEqual(done.size - 20);
    expect(states.lastIndexOf(false)).toBeGreaterThanOrEqual(due.length - 20);
    expect(await harness.metrics()).toMatch(/^claims_rate_limited_total\{rail="upstream"\} [1-9]/m);
    circuit.isOpen = false;
    await until('the whole backlog', () => new Set(timesOf(due)).size === due.length);
    expect(systemClock.nowMs() - fromMs).toBeGreaterThan(
      ((due.length - PER_SECOND / 2) / PER_SECOND) * 1_000,
    );
    expect(timesOf(due)).toHaveLength(due.length);
  }, 150_000);

  it('claims by keys alone', async () => {
    await backlog(100);
    const looks = async () => {
      const profile = database().collection<Profiled>('system.profile');
      const seen = await profile
        .find({ 'command.filter.watch': 'upstream', 'command.projection._id': 1 })
        .toArray();
      return seen.filter(({ ns, nreturned = 0 }) => ns.endsWith('.polls') && nreturned > 0);
    };
    await database().command({ profile: 2 });
    try {
      await until('some claims', async () => (await looks()).length > 3);
    } finally {
      await database().command({ profile: 0 });
    }
    for (const { docsExamined, keysExamined, nreturned } of await looks()) {
      expect({ docsExamined, keysExamined }).toEqual({ docsExamined: 0, keysExamined: nreturned });
    }
  });
});

describe('three replicas', () => {
  it('do the work of one: each payment is asked about once, whatever their clocks say', async () => {
    await harness.stop();
    const due = await backlogOf(240);
    const answered = Promise.withResolvers<void>();
    for (const reference of due) {
      answers.set(reference, { kind: 'failed', reason: 'Declined' });
      slow.set(reference, answered.promise);
    }
    const replicas = await Promise.all([-1_000, 0, 1_000].map((aheadMs) => harness.join(aheadMs)));
    try {
      // One alone asks no more than its concurrency allows.
      await until('the second replica', () => timesOf(due).length > CONCURRENCY_MAX);
      answered.resolve();
      await until('every fact', () => {
        const references = new Set(heard.map(({ payload }) => payload['reference']));
        return due.every((reference) => references.has(reference));
      });
      expect(timesOf(due).toSorted()).toEqual(due.toSorted());
      expect(heard.filter(({ payload }) => due.includes(String(payload['reference'])))).toHaveLength(240);
      const texts = await Promise.all(replicas.map(({ scope }) => scope.metrics.metrics()));
      const worked = texts.map((text) =>
        Number(/^polls_total\{rail="upstream",result="failed"\} (\d+)/m.exec(text)?.[1] ?? 0),
      );
      expect(worked.reduce((sum, one) => sum + one, 0)).toBe(240);
      expect(worked.filter((polled) => polled > 0).length).toBeGreaterThan(1);
    } finally {
      await Promise.all(replicas.map(({ close }) => close()));
    }
    await harness.start();
  }, 150_000);
});

describe('what can’t be asked', () => {
  it('stays due behind an open circuit: nothing is claimed', async () => {
    circuit.isOpen = true;
    const [reference] = await backlog(1);
    if (reference === undefined) throw new Error('no payment');
    const before = await rowOf(reference);
    const { length } = asked;
    // Another rail's payment is polled meanwhile: the poller has made a round.
    const [stranger] = await backlog(1, await ofAnotherRail());
    await until('the other one', async () => ((await rowOf(stranger ?? ''))?.polls ?? 0) > 0);
    expect(await rowOf(reference)).toEqual(before);
    expect(asked).toHaveLength(length);
    expect(await harness.metrics()).toMatch(/oldest_due_seconds\{rail="upstream"\} 3\d\d\d/);
    circuit.isOpen = false;
    await until('its poll', () => asked.includes(reference));
  });

  it('is no poll where our own limits refuse it: it neither counts nor makes people look', async () => {
    const [reference] = await backlog(1);
    if (reference === undefined) throw new Error('no payment');
    answers.set(reference, { kind: 'notSent', why: 'rate limit of the rail', retryAfterMs: 50 });
    await until('some tries', () => timesOf([reference]).length > 5);
    expect(await rowOf(reference)).toMatchObject({ polls: 0, pollsInRound: 0 });
    expect(await breaksOf(reference)).toEqual([]);
    answers.set(reference, { kind: 'completed', amount: 10_000n, fee: 50n, reason: null });
    await until('the fact', () => about(reference, 'RailStatusObserved').length > 0);
    expect(await rowOf(reference)).toMatchObject({ polls: 1 });
    await publish(completed(reference));
    await until('its end', async () => (await rowOf(reference))?.status === 'completed');
  });

  it('is left alone where the rail asks for it: a poll that it turned away counts, and nothing else is asked', async () => {
    const [first, ...others] = await backlog(21);
    if (first === undefined) throw new Error('no payment');
    const polledOnce = { _id: { $in: [first, ...others] }, polls: 1 };
    await until('their polls', async () => (await polls().countDocuments(polledOnce)) === 21);
    answers.set(first, { kind: 'unknown', why: 'HTTP 429', retryAfterMs: 3_000 });
    const fromMs = systemClock.nowMs();
    await makeDue([first]);
    await until('its poll', async () => (await rowOf(first))?.polls === 2);
    const { length } = timesOf(others);
    await makeDue(others);
    await until('the rest', () => timesOf(others).length > length);
    expect(systemClock.nowMs() - fromMs).toBeGreaterThanOrEqual(3_000);
    expect(await rowOf(first)).toMatchObject({ polls: 2, hintedPolls: 0, pollsInRound: 2 });
    await until('their polls', () => timesOf(others).length === length + others.length);
    await makeDue([first]);
    await until('the break', async () => (await breaksOf(first)).includes('payment.stuck'));
  }, 150_000);

  it('is shown to people where its rail is not configured here', async () => {
    const [reference] = await backlog(1, await ofAnotherRail());
    await until('the break', () => about(reference ?? '', 'BreakOpened').length > 0);
    expect(await breaksOf(reference ?? '')).toEqual(['payment.stuck']);
    expect(asked).not.toContain(reference);
  });
});

/** Makes payments that were asked about before due by the schedule. */
async function makeDue(references: readonly string[]): Promise<void> {
  const now = new Date();
  await polls().updateMany(
    { _id: { $in: [...references] } },
    { $set: { dueAt: now, scheduledAt: now }, $unset: { claim: 1 } },
  );
}

async function ofAnotherRail(): Promise<Partial<PollDocument>> {
  const { terms } = await template();
  return terms ? { terms: { ...terms, rail: 'former' }, watch: 'former' } : {};
}

/** Like {@link backlog} while no replica runs, made from existing payments. */
async function backlogOf(count: number): Promise<readonly string[]> {
  const row = await polls().findOne({ openState: { $exists: true }, 'terms.rail': 'upstream' });
  if (!row) throw new Error('no payment');
  const { askedAt: _askedAt, claim: _claim, ...rest } = row;
  const dueAt = new Date(systemClock.nowMs() - 10_000);
  const documents = Array.from({ length: count }, () => ({
    ...rest,
    _id: ids.next('po'),
    dueAt,
    scheduledAt: dueAt,
    polls: 0,
    pollsInRound: 0,
    breaks: [],
  }));
  await polls().insertMany(documents);
  return documents.map(({ _id }) => _id);
}
