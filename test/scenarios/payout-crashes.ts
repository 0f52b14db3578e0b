import { createDirectoryAdmin } from '@pesewa/directory';
import { postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { describeAftermath } from './crash-aftermath.ts';
import type { CrashRow, PayoutScenario } from './crash-rows.ts';
import {
  bodiesSentOnce,
  type Crash,
  DEADLINE_MS,
  endAvailabilityEvents,
  runSequences,
  withShortSessions,
} from './crash-runner.ts';
import { openScenario, type Scenario } from './scenario.ts';

/** The currency in which the merchant has a daily limit, far above what it pays here. */
const limitedCurrency = 'GHS';

let scenario: Scenario;

/**
 * Tests rows of the crash matrix of payouts on a stack of their own: the process crashes and is restarted with the next row's
 * point. A file can do so once.
 */
export function describePayoutCrashes(name: string, sequences: readonly (readonly CrashRow[])[]): void {
  const rows = sequences.flat();
  let referencesOf: (row: CrashRow) => readonly string[];

  beforeAll(async () => {
    scenario = await openCrashScenario(name);
    await endAvailabilityEvents(scenario);
    await limitPerDay();
    referencesOf = await runSequences(scenario, sequences, (row, crash) =>
      runScenario(row, rows.indexOf(row), crash),
    );
  }, 900_000);

  afterAll(async () => {
    await scenario[Symbol.asyncDispose]();
  });

  describe('killed at a named point and started again: nothing lost, nothing twice (P1, P4, X1, L7, W1)', () => {
    it.each(rows)('$service at $point, $as', async (row) => {
      const references = referencesOf(row);
      await Promise.all(
        row.payouts.map((payoutScenario, index) => expectScenario(references[index] ?? '', payoutScenario)),
      );
    });
  });

  describeAftermath({
    scenario: () => scenario,
    databases: ['payouts', 'ledger', 'ingress', 'reconciler', 'webhooks'],
    breaks: rows.flatMap(({ payouts }) => payouts.flatMap((payoutScenario) => payoutScenario.breaks)),
  });
}

function openCrashScenario(name: string): Promise<Scenario> {
  const environment = {
    reconciler: {
      COMPARISON_INTERVAL: '*/5 * * * * *',
      // However long the rows take, a payment that stays pending gets a break for its callback alone.
      POLLS_BEFORE_BREAK: '1000',
    },
    // A delivery's lease depends on its deadline.
    'webhook-dispatcher': { DELIVERY_DEADLINE_MS: '1000' },
  };
  return openScenario(name, withShortSessions(environment));
}

async function limitPerDay(): Promise<void> {
  await using client = await MongoClient.connect(scenario.stack.runFile().mongodbUrl);
  const admin = createDirectoryAdmin(client.db(`${scenario.prefix}_directory`));
  const perDayMaxMinor = { [limitedCurrency]: 1_000_000_000n };
  const changed = await admin.setLimits(scenario.merchantId, {
    requestsPerSecond: 1_000_000,
    perDayMaxMinor,
  });
  expect(changed.ok).toBe(true);
}

/** Makes the payouts with the crash point armed, and waits for the crash. */
async function runScenario(row: CrashRow, place: number, { arm, death }: Crash): Promise<readonly string[]> {
  await arm();
  const references = await request(row, place);
  await death();
  return references;
}

/** Makes the payouts; a request without an answer is repeated unchanged, as a merchant would. */
async function request(row: CrashRow, place: number): Promise<readonly string[]> {
  const label = `${place}.${row.point}`;
  const requests = row.payouts.map(({ digits }, index) => ({
    reference: scenario.reference(`${label}.${index}`),
    amount: '100',
    accountNumber: `012345${digits}`,
    ...(row.as === 'limited' && { currency: limitedCurrency, country: 'Ghana' }),
  }));
  const submissions =
    row.as === 'batch'
      ? [() => scenario.demo.requestBatch(scenario.reference(label), requests)]
      : requests.map((request) => () => scenario.demo.requestPayout(request));
  const accepted = (submit: (typeof submissions)[number]) =>
    eventually(async () => expect(await submit()).toMatchObject({ responseCode: '09' }), DEADLINE_MS);
  await Promise.all(submissions.map(accepted));
  const references = requests.map(({ reference }) => reference);
  for (const [index, { hints }] of row.payouts.entries())
    if (hints > 0) void callBack(references[index] ?? '').catch(() => undefined);
  return references;
}

/** Sends a callback that claims an end, and repeats it until it is accepted, as a rail would. */
async function callBack(reference: string): Promise<void> {
  const ours = await eventually(async () => {
    const { responseData } = await scenario.demo.lookUpPayout(reference);
    return responseData?.transactionReference ?? '';
  }, DEADLINE_MS);
  const body = JSON.stringify({
    data: {
      transactionStatus: 'COMPLETED',
      merchantReference: ours,
      transactionReference: 'forged',
      amount: 100,
      feeAmount: 0,
      valueAmount: 100,
      statusReason: 'Successful',
    },
  });
  const url = `${scenario.stack.runFile().ingressUrl}/rails/upstream/payouts`;
  await eventually(async () => expect((await postJson(url, body)).status).toBe(200), DEADLINE_MS);
}

async function expectScenario(reference: string, payoutScenario: PayoutScenario): Promise<void> {
  const { digits: _digits, ...end } = payoutScenario;
  const asExpected = async () =>
    expect(await lookAt(reference)).toEqual({ ...end, entries: end.entries.toSorted() });
  // The second comparison shows the difference if the wait has failed.
  await eventually(asExpected, DEADLINE_MS).catch(() => undefined);
  await asExpected();
}

/** The payout as the merchant, the ledger, the rail and the operators see it. */
async function lookAt(reference: string): Promise<Omit<PayoutScenario, 'digits'>> {
  const { responseData } = await scenario.demo.lookUpPayout(reference);
  const ours = responseData?.transactionReference ?? '';
  const { operator } = scenario.stack;
  const hints = (await operator.timeline(ours)).filter(({ what }) => what === 'hint');
  return {
    status: responseData?.transactionStatus as PayoutScenario['status'],
    entries: await scenario.entryKinds(ours),
    executions: await scenario.executions(ours),
    webhooks: await sentOnce(reference),
    hints: hints.reduce((sum, { times }) => sum + Number(times), 0),
    breaks: (await operator.breaks(ours)).map(({ kind }) => String(kind)),
  };
}

/** The statuses that the merchant received, without repetitions. */
async function sentOnce(reference: string): Promise<readonly string[]> {
  const statuses = new Set(await scenario.webhookStatuses(reference));
  expect(await bodiesSentOnce(scenario, reference)).toHaveLength(statuses.size);
  return [...statuses];
}
