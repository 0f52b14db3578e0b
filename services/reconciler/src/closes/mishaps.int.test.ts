import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agreed, closeSteps, type Until } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';

const harness = createHarness('mishap', {
  ...process.env,
  CLOSE_LAG_MS: '0',
  CLOSE_POLLS_PER_SECOND: '1000',
});
const until: Until = (what, met) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const { answers, asked, circuit } = harness;
const { close, finished, nextHour, paidAt, recordOf, records } = closeSteps(harness, until);

beforeAll(harness.open);
afterAll(harness.close);

describe('a daily close, whatever happens meanwhile', () => {
  it('does not count as a try what our own limits refuse, and waits behind an open circuit', async () => {
    const window = nextHour();
    const [reference = ''] = await paidAt(window.startMs);
    answers.set(reference, { kind: 'notSent', why: 'rate limit of the rail', retryAfterMs: 20 });
    const { id } = await close(window);
    await until('the refusals', () => asked.filter((one) => one === reference).length > 6);
    circuit.isOpen = true;
    answers.set(reference, agreed);
    expect(await recordOf(id, reference)).toMatchObject({ result: 'pending', tries: 0 });
    circuit.isOpen = false;
    expect(await finished(id)).toMatchObject({ results: { matched: 1 } });
    expect(await recordOf(id, reference)).toMatchObject({ tries: 1 });
  });

  it('takes up what a crash left between question and commit, and two replicas share the work', async () => {
    const window = nextHour();
    const references = await paidAt(window.startMs, 30);
    const [stuck = ''] = references;
    const replica = await harness.join(0);
    try {
      const { id } = await close(window);
      await until('the gathering', async () => (await recordOf(id, stuck)) !== null);
      // As a replica that has died leaves it: claimed until the lease ends.
      await records().updateOne(
        { _id: `${id}/${stuck}` },
        {
          $set: {
            result: 'pending',
            waits: 'upstream',
            claim: 'cm-dead',
            tries: 0,
            dueAt: new Date(Date.now() + 300),
          },
        },
      );
      expect(await finished(id)).toMatchObject({ payments: 30, results: { matched: 30 } });
      expect(await recordOf(id, stuck)).toMatchObject({ result: 'matched' });
      for (const reference of references.slice(1))
        expect(asked.filter((one) => one === reference)).toHaveLength(1);
    } finally {
      await replica.close();
    }
  });

  it('drops an answer whose claim another has taken over meanwhile', async () => {
    const window = nextHour();
    const [reference = ''] = await paidAt(window.startMs);
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    harness.slow.set(reference, held);
    const { id } = await close(window);
    await until('the question', () => asked.includes(reference));
    harness.slow.delete(reference);
    await records().updateOne(
      { _id: `${id}/${reference}` },
      { $set: { claim: 'cm-other', dueAt: new Date() } },
    );
    await until('the other', async () => (await recordOf(id, reference))?.result === 'matched');
    answers.set(reference, { kind: 'notFound' });
    release();
    await finished(id);
    expect(await recordOf(id, reference)).toMatchObject({ result: 'matched', tries: 1 });
  });

  it('includes payments that are reported while it runs', async () => {
    const window = nextHour();
    const [first = ''] = await paidAt(window.startMs);
    answers.set(first, { kind: 'unknown', why: 'timeout' });
    const { id } = await close(window);
    await until('the question', () => asked.includes(first));
    const [late = ''] = await paidAt(window.startMs + 1);
    answers.set(first, agreed);
    expect(await finished(id)).toMatchObject({ payments: 2, results: { matched: 2 } });
    expect(await recordOf(id, late)).toMatchObject({ result: 'matched' });
  });
});
