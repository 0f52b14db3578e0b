import { createDirectoryAdmin } from '@pesewa/directory';
import { postJson } from '@pesewa/stack';
import { eventually } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CrashRow, crashLanes, type PayoutStory } from './crash-rows.ts';
import { openScenario, type Scenario } from './scenario.ts';

const PATIENCE_MS = 90_000;
/** The currency in which the merchant has a limit per day, far above what it pays here. */
const limitedCurrency = 'GHS';

interface Survivors {
  readonly references: readonly string[];
}

let scenario: Scenario;
const rows = crashLanes.flat();
const deaths = new Map<CrashRow, PromiseSettledResult<Survivors>>();

/** Every row's process dies here, and is started again with the next row's point; the tests look at what is left. */
beforeAll(async () => {
  scenario = await openScenario('crash', {
    reconciler: { COMPARISON_INTERVAL: '*/5 * * * * *' },
    // A delivery's lease is as long as its deadline makes it.
    'webhook-dispatcher': { DELIVERY_DEADLINE_MS: '1000' },
  });
  await limitPerDay();
  await Promise.all(crashLanes.map(runLane));
}, 900_000);

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

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

async function runLane(lane: readonly CrashRow[]): Promise<void> {
  for (const [index, row] of lane.entries()) {
    const [death] = await Promise.allSettled([crash(row)]);
    deaths.set(row, death);
    if (lane[index + 1]?.service !== row.service) await scenario.stack.service(row.service).restart();
  }
}

/** Arms the point, makes the payouts, and sees the process die right there. */
async function crash(row: CrashRow): Promise<Survivors> {
  const kept = scenario.stack.service(row.service);
  const times = () => scenario.logLines(row.service, `crash point ${row.point}`);
  const before = await times();
  await kept.restart({ CRASH_AT: `${row.point}:${row.pass ?? 1}` });
  await kept.ready();
  const references = await request(row);
  await eventually(async () => expect(await times()).toBe(before + 1), PATIENCE_MS);
  return { references };
}

/** Makes the payouts; an answer that never came is asked for again, unchanged, as a merchant would. */
async function request(row: CrashRow): Promise<readonly string[]> {
  const label = `${rows.indexOf(row)}.${row.point}`;
  const wishes = row.payouts.map(({ digits }, index) => ({
    reference: scenario.reference(`${label}.${index}`),
    amount: '100',
    accountNumber: `012345${digits}`,
    ...(row.as === 'limited' && { currency: limitedCurrency, country: 'Ghana' }),
  }));
  const submissions =
    row.as === 'batch'
      ? [() => scenario.demo.requestBatch(scenario.reference(label), wishes)]
      : wishes.map((wish) => () => scenario.demo.requestPayout(wish));
  const accepted = (submit: (typeof submissions)[number]) =>
    eventually(async () => expect(await submit()).toMatchObject({ responseCode: '09' }), PATIENCE_MS);
  await Promise.all(submissions.map(accepted));
  const references = wishes.map(({ reference }) => reference);
  for (const [index, { hints }] of row.payouts.entries())
    if (hints > 0) void callBack(references[index] ?? '').catch(() => undefined);
  return references;
}

/** Sends a callback that claims an end, as a rail would: again until it is taken. */
async function callBack(reference: string): Promise<void> {
  const ours = await eventually(async () => {
    const { responseData } = await scenario.demo.lookUpPayout(reference);
    return responseData?.transactionReference ?? '';
  }, PATIENCE_MS);
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
  await eventually(async () => expect((await postJson(url, body)).status).toBe(200), PATIENCE_MS);
}

async function expectStory(reference: string, story: PayoutStory): Promise<void> {
  const { digits: _digits, ...end } = story;
  const asTold = async () =>
    expect(await lookAt(reference)).toEqual({ ...end, entries: end.entries.toSorted() });
  // Patience first, then the look that shows what differs.
  await eventually(asTold, PATIENCE_MS).catch(() => undefined);
  await asTold();
}

/** Everything that is to be seen of a payout, from every side. */
async function lookAt(reference: string): Promise<Omit<PayoutStory, 'digits'>> {
  const { responseData } = await scenario.demo.lookUpPayout(reference);
  const ours = responseData?.transactionReference ?? '';
  const { operator } = scenario.stack;
  const hints = (await operator.timeline(ours)).filter(({ what }) => what === 'hint');
  return {
    status: responseData?.transactionStatus as PayoutStory['status'],
    entries: await scenario.entryKinds(ours),
    executions: await scenario.executions(ours),
    told: await toldOnce(reference),
    hints: hints.reduce((sum, { times }) => sum + Number(times), 0),
    breaks: (await operator.breaks(ours)).map(({ kind }) => String(kind)),
  };
}

/** What the merchant was told: a repeat has the same webhook-id and the same bytes, and counts once (contract 6.3). */
async function toldOnce(reference: string): Promise<readonly string[]> {
  const received = await scenario.stack.simulator.received(scenario.merchantId, reference);
  const bodies = new Map<unknown, string>();
  for (const { headers, body } of received) {
    const id = headers['webhook-id'];
    expect(bodies.get(id) ?? body).toBe(body);
    bodies.set(id, body);
  }
  const statuses = new Set(await scenario.webhookStatuses(reference));
  expect(statuses.size).toBe(bodies.size);
  return [...statuses];
}

describe('killed at a named point and started again: nothing lost, nothing twice (P1, P4, X1, L7, W1)', () => {
  it.each(rows)('$service at $point, $as', async (row) => {
    const death = deaths.get(row);
    if (death?.status !== 'fulfilled') throw death?.reason;
    const { references } = death.value;
    await Promise.all(row.payouts.map((story, index) => expectStory(references[index] ?? '', story)));
  });
});

describe('after all that', () => {
  it('every bundle has been sent (E1)', async () => {
    await using client = await MongoClient.connect(scenario.stack.runFile().mongodbUrl);
    for (const database of ['payouts', 'ledger', 'ingress', 'reconciler', 'webhooks']) {
      const outbox = client.db(`${scenario.prefix}_${database}`).collection('outbox');
      await eventually(async () => expect(await outbox.countDocuments()).toBe(0));
    }
  });

  it('the books hold from the first entry on (L1 to L12)', async () => {
    expect(await scenario.violations()).toEqual([]);
  });

  it('the rail’s wallet agrees with our float, and people need to look at what they should (R1, R3, L12)', async () => {
    await eventually(async () => {
      await scenario.stack.operator.compare();
      const drifts = await scenario.stack.operator.drift();
      expect(drifts.map(({ drift }) => drift)).toEqual(drifts.map(() => '0'));
    }, 60_000);
    await using client = await MongoClient.connect(scenario.stack.runFile().mongodbUrl);
    const breaks = client.db(`${scenario.prefix}_reconciler`).collection('breaks');
    const expected = rows.flatMap(({ payouts }) => payouts.flatMap((story) => story.breaks));
    await eventually(async () => {
      const open = await breaks.find({ status: 'open' }).toArray();
      expect(open.map(({ kind }) => String(kind))).toEqual(expected);
    });
  });
});
