import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collectionScenarios, lookAtCollection, playCollection } from './collection-scenarios.ts';
import { openCompactScenario, type Scenario } from './scenario.ts';

const program = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'src', 'main.ts');
const run = promisify(execFile);

let scenario: Scenario;
let folder: string;
const startedAt = new Date();

beforeAll(async () => {
  // Without callbacks only the close finds a reversal after the end.
  scenario = await openCompactScenario('daily-close', {
    reconciler: {
      FIRST_POLL_AFTER_MS: '700',
      POLL_BASE_MS: '2000',
      POLL_CAP_MS: '2000',
      CLOSE_LAG_MS: '0',
      CLOSE_POLLS_PER_SECOND: '200',
    },
  });
  await scenario.stack.simulator.setFaults({ callbacks: false });
  folder = await mkdtemp(join(tmpdir(), 'pesewa-close-'));
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Closes all payments that have ended so far with the command line; returns the lines of its file by our reference. */
async function close(name: string): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const file = join(folder, `${name}.csv`);
  const runFile = join(folder, 'run.json');
  await writeFile(runFile, JSON.stringify(scenario.stack.runFile()));
  const window = ['--from', startedAt.toISOString(), '--to', new Date().toISOString()];
  const call = [program, '--run-file', runFile, 'reconcile', 'close', ...window, '--wait', '--export', file];
  const { stdout } = await run(process.execPath, call, { env: { PATH: process.env['PATH'] ?? '' } });
  expect(stdout).toContain(': done\n');
  const [heading = '', ...rows] = (await readFile(file, 'utf8')).trimEnd().split('\r\n');
  const names = heading.split(',');
  return new Map(
    rows.map((row) => {
      const cells = row.split(',');
      return [cells[0] ?? '', Object.fromEntries(names.map((column, index) => [column, cells[index] ?? '']))];
    }),
  );
}

/** Pays 100 and waits for the end that the digits determine. */
async function pay(digits: string, reference = scenario.reference(`close-${digits}`)) {
  await scenario.demo.requestPayout({ reference, amount: '100', accountNumber: `012345${digits}` });
  return eventually(async () => {
    const { responseData } = await scenario.demo.lookUpPayout(reference);
    const status = responseData?.transactionStatus;
    expect(status).toMatch(/^(COMPLETED|FAILED|REVERSED)$/);
    return { reference, status, ours: responseData?.transactionReference ?? '' };
  }, 60_000);
}

/** Makes a payout that is reversed after it completed, unseen by any poll; retries if one was late enough to see it. */
async function payAndReverse(triesLeft = 5): ReturnType<typeof pay> {
  const payout = await pay('0014', scenario.reference(`close-0014-${triesLeft}`));
  if (payout.status === 'COMPLETED' && !(await isReversalPolled(payout.ours))) return payout;
  if (triesLeft === 1) throw new Error('every poll came after the reversal');
  return payAndReverse(triesLeft - 1);
}

/** Whether a poll saw the reversal, because the reconciler heard only after it that the payout had completed. */
async function isReversalPolled(ours: string): Promise<boolean> {
  const { simulator, operator } = scenario.stack;
  return eventually(async () => {
    expect((await simulator.journal(ours)).map(({ kind }) => kind)).toContain('reversal');
    const heard = (await operator.timeline(ours)).map(({ detail }) => detail);
    expect(heard).toContain('PayoutCompleted');
    return heard.includes('reversed');
  }, 30_000);
}

it('finds that both sides agree on every payment, and finds an unreported end', async () => {
  const collection = collectionScenarios.find(({ digits, flow }) => digits === '9999' && flow === 'otp6');
  if (!collection) throw new Error('no such scenario');
  const paid = Promise.all([pay('9999'), pay('0001'), pay('0004'), payAndReverse()]);
  const { transactionReference: collected } = await playCollection(scenario, collection);
  const payouts = await paid;
  const [whole, , , reversed] = payouts;
  await eventually(async () => {
    const { webhooks } = await lookAtCollection(scenario, collection, collected);
    expect(webhooks).toHaveLength(1);
  }, 30_000);
  const found = await close('first');
  const results = [...payouts.map(({ ours }) => ours), collected].map(
    (reference) => found.get(reference)?.['result'],
  );
  expect(results).toEqual(results.map(() => 'matched'));
  expect(found.size).toBeGreaterThan(payouts.length);
  expect(found.get(whole.ours)).toMatchObject({
    amount_ours: '100',
    amount_theirs: '100',
    fee_ours: '0.5',
    fee_theirs: '0.5',
  });
  expect(found.get(collected)).toMatchObject({ status_theirs: 'completed', amount_theirs: 'not reported' });
  expect(found.get(reversed.ours)).toMatchObject({
    status_ours: 'reversed',
    status_theirs: 'reversed',
    correction_sent: 'yes',
  });
  await scenario.payoutBecomes(reversed.reference, 'REVERSED');
  const again = await close('second');
  expect(again.get(reversed.ours)).toMatchObject({ result: 'matched', correction_sent: 'no' });
  expect(await scenario.stack.operator.breaks(reversed.ours)).toEqual([]);
  expect(await scenario.violations()).toEqual([]);
});
