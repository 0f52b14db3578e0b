import { eventually } from '@pesewa/testkit';
import { MongoClient } from 'mongodb';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type CrashRow, crashLanes, type PayoutStory } from './crash-rows.ts';
import { openScenario, type Scenario } from './scenario.ts';

const PATIENCE_MS = 90_000;

let scenario: Scenario;
const rows = crashLanes.flat();
const ends = new Map(rows.map((row) => [row, Promise.withResolvers<void>()]));

beforeAll(async () => {
  scenario = await openScenario('crash', {
    // A callback outlasts the death of who takes it.
    'provider-simulator': { CALLBACK_ATTEMPTS_MAX: '9' },
    reconciler: { COMPARISON_INTERVAL: '*/5 * * * * *' },
    // The lease of a delivery is as long as its deadline makes it.
    'webhook-dispatcher': { DELIVERY_DEADLINE_MS: '1000' },
  });
  for (const lane of crashLanes) void runLane(lane);
});

afterAll(async () => {
  await Promise.allSettled([...ends.values()].map(({ promise }) => promise));
  await scenario[Symbol.asyncDispose]();
});

/** The rows of one service, one after another: the next one begins once the process is back. */
async function runLane(lane: readonly CrashRow[]): Promise<void> {
  for (const row of lane) {
    const end = ends.get(row);
    // Whoever awaits it is told; until then it is no unhandled rejection.
    end?.promise.catch(() => undefined);
    const settled = await crash(row).catch((error: unknown) => ({ settled: Promise.reject(error) }));
    const ended = settled.settled.then(end?.resolve, end?.reject);
    if (row.alone) await ended;
  }
}

/** Arms the point, makes the payouts, and sees the process die there and come back. */
async function crash(row: CrashRow): Promise<{ readonly settled: Promise<void> }> {
  const kept = scenario.stack.service(row.service);
  const deaths = () => scenario.logLines(row.service, `crash point ${row.point}`);
  const before = await deaths();
  await kept.restart({ CRASH_AT: `${row.point}:${row.pass ?? 1}` });
  const doomed = kept.pid();
  await kept.ready();
  const references = await Promise.all(row.payouts.map((story) => request(row, story)));
  await eventually(async () => expect(await deaths()).toBe(before + 1), PATIENCE_MS);
  await eventually(() => expect(kept.pid()).not.toBe(doomed), PATIENCE_MS);
  await kept.ready();
  const settled = Promise.all(row.payouts.map((story, index) => expectStory(references[index] ?? '', story)));
  settled.catch(() => undefined);
  return { settled: settled.then(() => undefined) };
}

/** An answer that never came is sent again, unchanged, as a merchant would. */
async function request({ service, point }: CrashRow, { digits }: PayoutStory): Promise<string> {
  const reference = scenario.reference(`${service}.${point}.${digits}`);
  const wish = { reference, amount: '100', accountNumber: `012345${digits}` };
  await eventually(
    async () => expect((await scenario.demo.requestPayout(wish)).responseCode).toBe('09'),
    PATIENCE_MS,
  );
  return reference;
}

async function expectStory(reference: string, story: PayoutStory): Promise<void> {
  const look = async () => {
    const { responseData } = await scenario.demo.lookUpPayout(reference);
    const ours = responseData?.transactionReference ?? '';
    return {
      status: responseData?.transactionStatus,
      entries: await scenario.entryKinds(ours),
      executions: await scenario.executions(ours),
      told: await toldOnce(reference),
    };
  };
  const { digits: _digits, ...end } = story;
  const asTold = async () => expect(await look()).toEqual({ ...end, entries: end.entries.toSorted() });
  await eventually(asTold, PATIENCE_MS).catch(() => undefined);
  await asTold();
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
  const statuses = await scenario.webhookStatuses(reference);
  expect(new Set(statuses).size).toBe(bodies.size);
  return [...new Set(statuses)].toSorted();
}

describe('killed at a named point and started again: nothing lost, nothing twice (P1, P4, X1, L7, W1)', () => {
  it.each(rows)('$service at $point', async (row) => {
    await ends.get(row)?.promise;
  });
});

describe('after all that', () => {
  it('every bundle has been sent (E1)', async () => {
    const { mongodbUrl } = scenario.stack.runFile();
    await using client = await MongoClient.connect(mongodbUrl);
    for (const database of ['payouts', 'ledger', 'ingress', 'reconciler', 'webhooks']) {
      const outbox = client.db(`${scenario.prefix}_${database}`).collection('outbox');
      await eventually(async () => expect(await outbox.countDocuments()).toBe(0));
    }
  });

  it('the rail’s wallet agrees with our float, and nobody needs to look into anything (R1, L12)', async () => {
    await eventually(async () => {
      await scenario.stack.operator.compare();
      const drifts = await scenario.stack.operator.drift();
      expect(drifts.map(({ drift }) => drift)).toEqual(drifts.map(() => '0'));
    }, 60_000);
    const { mongodbUrl } = scenario.stack.runFile();
    await using client = await MongoClient.connect(mongodbUrl);
    const breaks = client.db(`${scenario.prefix}_reconciler`).collection('breaks');
    await eventually(async () => expect(await breaks.find({ status: 'open' }).toArray()).toEqual([]));
  });
});
