import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { eventually } from '@pesewa/testkit';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { collectionStories, lookAtCollection, playCollection } from './collection-stories.ts';
import { openScenario, type Scenario } from './scenario.ts';

const program = join(import.meta.dirname, '..', '..', 'packages', 'cli', 'src', 'main.ts');
const run = promisify(execFile);

let scenario: Scenario;
let folder: string;
const startedAt = new Date();

beforeAll(async () => {
  // Without callbacks nobody tells of a reversal after the end but the close.
  scenario = await openScenario('daily-close', {
    reconciler: {
      FIRST_POLL_AFTER_MS: '700',
      POLL_BASE_MS: '2000',
      POLL_CAP_MS: '2000',
      CLOSE_SETTLE_MS: '0',
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

/** Closes all that has ended until now by the command line, and gives each payment's line of its file by our reference. */
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

it('finds both the same of every payment, and what nobody told of', async () => {
  const referenceOf = (digits: string) => scenario.reference(`close-${digits}`);
  const ends = { '0014': /COMPLETED|REVERSED/, 9999: /COMPLETED/, '0001': /FAILED/, '0004': /COMPLETED/ };
  const collection = collectionStories.find(({ digits, flow }) => digits === '9999' && flow === 'otp6');
  if (!collection) throw new Error('no such story');
  const pay = async ([digits, end]: readonly [string, RegExp]) => {
    const reference = referenceOf(digits);
    await scenario.demo.requestPayout({ reference, amount: '100', accountNumber: `012345${digits}` });
    return eventually(async () => {
      const { responseData } = await scenario.demo.lookUpPayout(reference);
      expect(responseData?.transactionStatus).toMatch(end);
      return [digits, responseData?.transactionReference ?? ''] as const;
    }, 60_000);
  };
  const payouts = Object.entries(ends).map(pay);
  const { transactionReference: collected } = await playCollection(scenario, collection);
  const ours = new Map(await Promise.all(payouts));
  const reversed = ours.get('0014') ?? '';
  await eventually(async () => {
    const { told } = await lookAtCollection(scenario, collection, collected);
    expect(told).toHaveLength(1);
    const journal = await scenario.stack.simulator.journal(reversed);
    expect(journal.map(({ kind }) => kind)).toContain('reversal');
  }, 30_000);
  const found = await close('first');
  const results = [...ours.values(), collected].map((reference) => found.get(reference)?.['result']);
  expect(results).toEqual(results.map(() => 'matched'));
  expect(found.size).toBe(ours.size + 1);
  expect(found.get(ours.get('9999') ?? '')).toMatchObject({
    amount_ours: '100',
    amount_theirs: '100',
    fee_ours: '0.5',
    fee_theirs: '0.5',
  });
  expect(found.get(collected)).toMatchObject({ status_theirs: 'completed', amount_theirs: 'not told' });
  expect(found.get(reversed)).toMatchObject({ status_ours: 'reversed', status_theirs: 'reversed' });
  await scenario.payoutBecomes(referenceOf('0014'), 'REVERSED');
  const again = await close('second');
  expect(again.get(reversed)).toMatchObject({ result: 'matched', owner_told: 'no' });
  expect(await scenario.stack.operator.breaks(reversed)).toEqual([]);
  expect(await scenario.violations()).toEqual([]);
});
