import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BY_HAND } from '../fixtures/clock.ts';
import { agreed, closeSteps, type Until } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';

/** No rail is asked and no close goes on but in rounds that the test runs. */
const harness = createHarness('mishap', {
  ...process.env,
  CLOSE_LAG_MS: '0',
  CLOSE_POLLS_PER_SECOND: '1000',
  POLL_PAUSE_MS: BY_HAND,
});
const until: Until = (what, met) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const inRounds: Until = (what, met) =>
  until(what, async () => {
    await harness.round('polls');
    return met();
  });
const { answers, asked, circuit, round } = harness;
const { close, nextDay, paidAt, recordOf, records } = closeSteps(harness, until);
const { finished } = closeSteps(harness, inRounds);
const timesAsked = (reference: string) => asked.filter((one) => one === reference).length;

/** Has the rail's answer for a payment wait; gives what lets it go, for this question and later ones. */
function hold(reference: string): () => void {
  const { promise, resolve } = Promise.withResolvers<void>();
  harness.slow.set(reference, promise);
  return resolve;
}

beforeAll(harness.open);
afterAll(harness.close);

describe('a daily close, whatever happens meanwhile', () => {
  it('does not count as a try what our own limits refuse, and waits behind an open circuit', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    answers.set(reference, { kind: 'notSent', why: 'rate limit of the rail', retryAfterMs: 0 });
    const { id } = await close(day);
    await inRounds('the refusals', () => timesAsked(reference) > 6);
    circuit.isOpen = true;
    await until('the last refusal', async () => (await recordOf(id, reference))?.claim === undefined);
    answers.set(reference, agreed);
    const refused = timesAsked(reference);
    await round('polls');
    await round('polls');
    expect(timesAsked(reference)).toBe(refused);
    expect(await recordOf(id, reference)).toMatchObject({ result: 'pending', tries: 0 });
    circuit.isOpen = false;
    expect(await finished(id)).toMatchObject({ results: { matched: 1 } });
    expect(await recordOf(id, reference)).toMatchObject({ tries: 1 });
  });

  it('takes up what a crash left between question and commit, and two replicas share the work', async () => {
    const day = nextDay();
    const references = await paidAt(day.startMs, 30);
    const [stuck = '', ...others] = references;
    const release = hold(stuck);
    const replica = await harness.join(0);
    try {
      const { id } = await close(day);
      const bothUntil: Until = (what, met) =>
        inRounds(what, () => {
          replica.clock.endPauses();
          return met();
        });
      const lease = (endsAt: Date) =>
        records().updateOne({ _id: `${id}/${stuck}` }, { $set: { claim: 'cm-dead', dueAt: endsAt } });
      await bothUntil('the question', () => asked.includes(stuck));
      // As a replica that has died leaves it: claimed until the lease ends.
      await lease(new Date(Date.now() + 3_600_000));
      release();
      const matched = () => records().countDocuments({ run: id, result: 'matched' });
      await bothUntil('the others', async () => (await matched()) === others.length);
      await round('polls');
      expect(await recordOf(id, stuck)).toMatchObject({ result: 'pending', claim: 'cm-dead', tries: 0 });
      await lease(new Date());
      expect(await finished(id)).toMatchObject({ payments: 30, results: { matched: 30 } });
      expect(await recordOf(id, stuck)).toMatchObject({ result: 'matched', tries: 1 });
      for (const reference of others) expect(timesAsked(reference)).toBe(1);
    } finally {
      await replica.close();
    }
  });

  it('drops an answer whose claim another has taken over meanwhile', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    const release = hold(reference);
    const { id } = await close(day);
    await inRounds('the question', () => asked.includes(reference));
    harness.slow.delete(reference);
    await records().updateOne(
      { _id: `${id}/${reference}` },
      { $set: { claim: 'cm-other', dueAt: new Date() } },
    );
    await inRounds('the other', async () => (await recordOf(id, reference))?.result === 'matched');
    answers.set(reference, { kind: 'notFound' });
    release();
    await finished(id);
    expect(await recordOf(id, reference)).toMatchObject({ result: 'matched', tries: 1 });
  });

  it('shows no difference of an earlier answer once the payment is not known any more', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    const release = hold(reference);
    const { id } = await close(day);
    await inRounds('the question', () => asked.includes(reference));
    await records().updateOne(
      { _id: `${id}/${reference}` },
      { $set: { differences: [{ field: 'amount', minor: -1n }] } },
    );
    await harness.polls().deleteOne({ _id: reference });
    release();
    await finished(id);
    expect(await recordOf(id, reference)).toMatchObject({ result: 'unclear', differences: [] });
  });

  it('keeps a difference that counts once the payment is not known any more', async () => {
    const day = nextDay();
    const [reference = ''] = await paidAt(day.startMs);
    answers.set(reference, { ...agreed, fee: 49n });
    const { id } = await close(day);
    expect(await finished(id)).toMatchObject({ results: { differs: 1 } });
    await harness.polls().deleteOne({ _id: reference });
    await close(day);
    expect(await finished(id)).toMatchObject({ results: { differs: 1, unclear: 0 } });
    expect(await recordOf(id, reference)).toMatchObject({
      differences: [{ field: 'fee', minor: -1n }],
      why: 'the payment is not known here any more',
    });
  });

  it('includes payments that are reported while it runs', async () => {
    const day = nextDay();
    const [first = ''] = await paidAt(day.startMs);
    answers.set(first, { kind: 'unknown', why: 'timeout' });
    const { id } = await close(day);
    await inRounds('the question', () => asked.includes(first));
    const questions = () => asked.filter((reference) => reference === first).length;
    await until('its answer', async () => (await recordOf(id, first))?.tries === questions());
    const unanswered = questions();
    const [late = ''] = await paidAt(day.startMs + 1);
    answers.set(first, agreed);
    expect(await finished(id)).toMatchObject({ payments: 2, results: { matched: 2 } });
    expect(await recordOf(id, first)).toMatchObject({ tries: unanswered + 1 });
    expect(await recordOf(id, late)).toMatchObject({ result: 'matched' });
  });
});
