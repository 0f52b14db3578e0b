import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DAY_MS } from '@pesewa/kernel';
import { eventually } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collectionScenarios, lookAtCollection, playCollection } from './collection-scenarios.ts';
import { openCompactScenario, polledOnDemand, type Scenario } from './scenario.ts';

const program = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'src', 'main.ts');
const run = promisify(execFile);

let scenario: Scenario;
let folder: string;

beforeAll(async () => {
  // Without callbacks only the close finds a reversal after the end.
  scenario = await openCompactScenario('daily-close', {
    reconciler: { ...polledOnDemand, CLOSE_LAG_MS: '0', CLOSE_POLLS_PER_SECOND: '200' },
  });
  await scenario.stack.simulator.setFaults({ callbacks: false });
  folder = await mkdtemp(join(tmpdir(), 'pesewa-close-'));
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

/** Closes yesterday, to which all ends are put back, with the command line; returns the lines of its file by our reference. */
async function close(): Promise<ReadonlyMap<string, Readonly<Record<string, string>>>> {
  const file = join(folder, 'close.csv');
  const runFile = join(folder, 'run.json');
  await writeFile(runFile, JSON.stringify(scenario.stack.runFile()));
  const endedAt = new Date(Date.now() - DAY_MS);
  await using client = await MongoClient.connect(scenario.stack.runFile().mongodbUrl);
  const polls = client.db(`${scenario.prefix}_reconciler`).collection('polls');
  await polls.updateMany({ endedAt: { $exists: true } }, { $set: { endedAt } });
  const day = ['--date', endedAt.toISOString().slice(0, 10)];
  const call = [program, '--run-file', runFile, 'reconcile', 'close', ...day, '--wait', '--export', file];
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

/** Pays 100 and waits for the end that the digits determine, which a poll finds once the rail has come to it. */
async function pay(digits: string) {
  const reference = scenario.reference(`close-${digits}`);
  const request = { reference, amount: '100', accountNumber: `012345${digits}` };
  const { responseData } = await scenario.demo.requestPayout(request);
  const ours = responseData?.transactionReference ?? '';
  await untilExecuted(ours);
  const status = await eventually(async () => {
    // The owner's next event would put off a poll that came before it.
    await scenario.poll([ours]);
    const found = (await scenario.demo.lookUpPayout(reference)).responseData?.transactionStatus;
    expect(found).toMatch(/^(COMPLETED|FAILED)$/);
    return found;
  }, 60_000);
  return { reference, status, ours };
}

async function untilExecuted(ours: string): Promise<void> {
  await eventually(async () => {
    const journal = await scenario.stack.simulator.journal(ours);
    expect(journal.map(({ kind }) => kind)).toContain('execution');
  }, 60_000);
}

/** Makes a payout that its rail reverses after the end, of which no callback and no poll tells. */
async function payAndReverse(): ReturnType<typeof pay> {
  const payout = await pay('9998');
  await scenario.stack.simulator.reverse(payout.ours);
  return payout;
}

it('finds that both sides agree on every payment, and finds an unreported end', async () => {
  const collection = collectionScenarios.find(({ digits, flow }) => digits === '9999' && flow === 'otp6');
  if (!collection) throw new Error('no such scenario');
  const paid = Promise.all([pay('9999'), pay('0001'), pay('0004'), payAndReverse()]);
  const { transactionReference: collected } = await playCollection(scenario, collection);
  await untilExecuted(collected);
  const payouts = await paid;
  const [whole, , , reversed] = payouts;
  await eventually(async () => {
    await scenario.poll([collected]);
    const { webhooks } = await lookAtCollection(scenario, collection, collected);
    expect(webhooks).toHaveLength(1);
  }, 30_000);
  const found = await close();
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
  expect(await scenario.stack.operator.breaks(reversed.ours)).toEqual([]);
  expect(await scenario.violations()).toEqual([]);
});
