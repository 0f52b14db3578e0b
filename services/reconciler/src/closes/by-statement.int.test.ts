import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agreed, at, closeSteps, type Until } from '../fixtures/closes.ts';
import { createHarness } from '../fixtures/harness.ts';
import { accepted, failed, ids } from '../fixtures/owners.ts';
import { railSettings } from '../fixtures/rail.ts';
import { uploader } from '../fixtures/statements.ts';

const harness = createHarness('by-statement', {
  ...process.env,
  RAILS: JSON.stringify([{ ...railSettings, sendsStatements: true }]),
  CLOSE_LAG_MS: '0',
  CLOSE_POLLS_PER_SECOND: '1000',
  CLOSE_SAMPLE_PERCENT: '0',
});
const until: Until = (what, met) =>
  eventually(async () => {
    if (!(await met())) throw new Error(`not yet: ${what}`);
  });
const { answers, asked, breaksOf, publish, request } = harness;
const { close, ended, finished, closed, nextHour, paidAt, recordOf, closes } = closeSteps(harness, until);
const upload = uploader(request);
const mapping = {
  columns: { reference: 'Ref', amount: 'Amount', fee: 'Fee', time: 'Time' },
  time: { format: 'ISO' },
};

beforeAll(harness.open);
afterAll(harness.close);

describe('the close of a rail that sends statements', () => {
  it('is its statement; only what that leaves open is asked for', async () => {
    const startMs = Date.now() - 1_000;
    const [right = '', other = '', unlisted = ''] = await paidAt(startMs + 1, 3);
    const refused = ids.next('po');
    await publish(at(accepted(refused), startMs), at(failed(refused), startMs + 1));
    await ended([refused]);
    answers.set(other, { ...agreed, fee: 75n });
    const window = { from: new Date(startMs).toISOString(), to: new Date(startMs + 100).toISOString() };
    const { id } = await close(window);
    await until('the looks', async () => (await closes().findOne({ _id: id }))?.stage === 'asking');
    expect(await recordOf(id, right)).toMatchObject({ result: 'pending', tries: 0 });
    const time = new Date(startMs + 1).toISOString();
    const content = `Ref,Amount,Fee,Time\r\n${right},-100,0.5,${time}\r\n${other},-100,0.75,${time}\r\n`;
    const taken = await upload(content, { rail: 'upstream', currency: 'KES', mapping, ...window });
    expect(taken.status).toBe(202);
    const done = await finished(id);
    expect(done).toMatchObject({ payments: 4, results: { matched: 3, differs: 1, pending: 0 } });
    expect(asked).not.toContain(right);
    expect(asked).toEqual(expect.arrayContaining([other, unlisted]));
    expect(await recordOf(id, refused)).toMatchObject({ result: 'matched', tries: 0 });
    expect(await recordOf(id, right)).toMatchObject({
      tries: 0,
      ours: { status: 'completed', amount: 10_000n, fee: 50n },
      theirs: { status: 'completed', amount: 10_000n, fee: 50n },
    });
    expect(await recordOf(id, unlisted)).toMatchObject({ result: 'matched', tries: 1 });
    // One discrepancy, one break: the lookup found what the statement had found.
    expect(await breaksOf(other)).toEqual(['statement.differs']);
  });

  it('asks for everything where no statement comes in time', async () => {
    const window = nextHour();
    const [reference = ''] = await paidAt(window.startMs);
    expect(await closed(window)).toMatchObject({ results: { matched: 1 } });
    expect(asked).toContain(reference);
  });
});
