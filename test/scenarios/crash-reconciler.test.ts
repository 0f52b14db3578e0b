import { eventually, type ReadMessage } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAftermath } from './crash-aftermath.ts';
import { actions } from './crash-operator-actions.ts';
import {
  leftBy,
  type OperatorAction,
  type ReconcilerCrashRow,
  reconcilerCrashRows,
} from './crash-rows-reconciler.ts';
import { runSequences, withShortSessions } from './crash-runner.ts';
import { type Done, openCrashWorld } from './crash-world.ts';
import { openScenario, type Scenario } from './scenario.ts';

const closers = new AsyncDisposableStack();
let scenario: Scenario;
let doneBy: (row: ReconcilerCrashRow) => Done;

/** How many untouched payouts each operator action needs; below, how many that a close found to differ. */
const fresh: Partial<Record<OperatorAction, number>> = {
  'a close finds a difference': 1,
  'a statement comes in': 2,
  'a statement is matched': 2,
  'a posting is missing': 1,
  'a step is looked at again': 1,
};
const differing: Partial<Record<OperatorAction, number>> = {
  'an adjustment is proposed': 1,
  'an adjustment is approved': 1,
  'a break is explained': 1,
};
const count = (each: Partial<Record<OperatorAction, number>>) =>
  reconcilerCrashRows.reduce((sum, { action }) => sum + (each[action] ?? 0), 0);

/** Runs all rows: the process crashes and is restarted with the next row's point; the tests check the results. */
beforeAll(async () => {
  const never = '0 0 1 1 *';
  const reconciler = {
    FIRST_POLL_AFTER_MS: '500',
    POLLS_BEFORE_BREAK: '1000',
    COMPARISON_INTERVAL: never,
    COMPARISON_PAUSE_MS: '100',
    COVERAGE_INTERVAL: never,
    // No step becomes overdue by itself; only the steps that are already followed are checked.
    STEP_LIMIT_MS: '3600000',
    STEP_PAUSE_MS: '500',
    CLOSE_INTERVAL: never,
    CLOSE_LAG_MS: '0',
    CLOSE_POLLS_PER_SECOND: '200',
    STATEMENT_BREAKS_MAX: '3',
  };
  scenario = await openScenario('crash-reconcile', withShortSessions({ reconciler }), { timeoutMs: 2_000 });
  closers.use(scenario);
  const client = closers.use(
    await MongoClient.connect(scenario.stack.runFile().mongodbUrl, { useBigInt64: true }),
  );
  const wanted = { fresh: count(fresh), differing: count(differing) };
  const world = await openCrashWorld(scenario, client, wanted);
  const rows = reconcilerCrashRows.map((row) => ({ ...row, environment: {} }));
  const resultOf = await runSequences(scenario, [rows], (row, crash) =>
    actions[row.action](world, crash, rows.indexOf(row)),
  );
  doneBy = (row) => resultOf(rows[reconcilerCrashRows.indexOf(row)] ?? { ...row, environment: {} });
}, 900_000);

afterAll(async () => {
  await closers.disposeAsync();
});

const expectEnd = (row: ReconcilerCrashRow) => doneBy(row).end();

describe('people and audits, with a process killed at a named point: everything is done and published once (R2, L7, E1)', () => {
  it.each(reconcilerCrashRows)('$service at $point, while $action', (row) => expectEnd(row), 300_000);
});

/** The messages without repetitions: consumers drop a second copy by its id. */
const byEventId = (messages: readonly ReadMessage[]) => [
  ...new Map(messages.map((message) => [message.payload['eventId'], message])).values(),
];

describeAftermath({
  scenario: () => scenario,
  databases: ['payouts', 'collections', 'ledger', 'reconciler', 'webhooks'],
  breaks: reconcilerCrashRows.flatMap(({ action }) => leftBy[action]),
});

describe('what others hear of it', () => {
  it('is each change of a break once, and nothing else', async () => {
    const expected = reconcilerCrashRows.flatMap((row) => doneBy(row).events).toSorted();
    const asExpected = async () => {
      const heard = byEventId(await scenario.readTopic('reconciliation')).flatMap(({ type, payload }) =>
        'breakId' in payload ? [`${type.split('.').at(-1) ?? ''} ${String(payload['breakId'])}`] : [],
      );
      expect(heard.toSorted()).toEqual(expected);
    };
    // The second comparison shows the difference if the wait has failed.
    await eventually(asExpected).catch(() => undefined);
    await asExpected();
  });

  it('is each order to the ledger once', async () => {
    const expected = reconcilerCrashRows.flatMap((row) => doneBy(row).orders ?? []).toSorted();
    const heard = byEventId(await scenario.readTopic('ledgerCommands'))
      .map(({ payload }) => String(payload['eventId']))
      .filter((id) => id.startsWith('bk-'));
    expect(heard.toSorted()).toEqual(expected);
  });
});
