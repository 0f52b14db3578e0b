import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { topics } from '@pesewa/contracts';
import { createTopicReader, eventually, type TopicReader } from '@pesewa/testkit';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withShortSessions } from './crash-runner.ts';
import { openScenario, type Scenario } from './scenario.ts';

const places = [
  { currency: 'NGN', country: 'Nigeria' },
  { currency: 'GHS', country: 'Ghana' },
  { currency: 'GMD', country: 'Gambia' },
  { currency: 'XOF', country: 'Ivory Coast' },
] as const;

let scenario: Scenario;
let topicPrefix: string;
let readTopic: TopicReader;

beforeAll(async () => {
  scenario = await openScenario('ledger-replicas', withShortSessions());
  topicPrefix = `${scenario.prefix}.`;
  const { kafkaBrokers, schemaRegistryUrl } = scenario.stack.runFile();
  readTopic = await createTopicReader({
    KAFKA_BROKERS: kafkaBrokers,
    SCHEMA_REGISTRY_URL: schemaRegistryUrl,
    TOPIC_PREFIX: topicPrefix,
  });
});

afterAll(async () => {
  await scenario[Symbol.asyncDispose]();
});

/** The state of a process as the operating system reports it; `T` is stopped. */
async function stateOf(pid: number): Promise<string> {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'state=', '-p', String(pid)]);
  return stdout.trim().slice(0, 1);
}

/** Pays once from each of four wallets, and waits until every payout is done and reported. */
async function payFromEachWallet(label: string): Promise<void> {
  const references = await Promise.all(
    places.map(async (place, index) => {
      const reference = scenario.reference(`${label}-${index}`);
      const request = { reference, amount: '100', accountNumber: '0123459999', ...place };
      expect((await scenario.demo.requestPayout(request)).responseCode).toBe('09');
      return reference;
    }),
  );
  for (const reference of references) {
    const ours = await scenario.payoutBecomes(reference, 'COMPLETED');
    await eventually(async () => {
      expect(await scenario.entryKinds(ours)).toEqual(['capture', 'fee', 'hold', 'railCost']);
      expect(await scenario.webhookStatuses(reference)).toEqual(['COMPLETED']);
    });
  }
}

/** The sequence numbers of each wallet's balances, in Kafka's order. */
async function sequencesByWallet(): Promise<ReadonlyMap<string, readonly bigint[]>> {
  const messages = await readTopic(topicPrefix + topics.wallets.name);
  const byWallet = Map.groupBy(messages, ({ key }) => key);
  return new Map(
    [...byWallet].map(([key, list]) => [key, list.map(({ payload }) => payload['sequence'] as bigint)]),
  );
}

describe('two replicas of the ledger (E3)', () => {
  it('one that slept through its session publishes nothing after its successor', async () => {
    const replica = await scenario.stack.replicate('ledger', { CRASH_AT: 'relay.before-send:2:freeze' });
    const frozen = replica.service.pid();
    let round = 0;
    await eventually(async () => {
      round += 1;
      await payFromEachWallet(`before-${round}`);
      expect(await stateOf(frozen)).toBe('T');
    }, 90_000);
    try {
      await payFromEachWallet('meanwhile');
    } finally {
      process.kill(frozen, 'SIGCONT');
    }
    for (const label of ['after', 'later']) await payFromEachWallet(label);
    expect(await scenario.logLines('ledger', 'cannot go on')).toBe(0);
    const sequences = await sequencesByWallet();
    expect(sequences.size).toBeGreaterThanOrEqual(places.length);
    for (const [wallet, numbers] of sequences) {
      const inOrder = numbers.toSorted((one, other) => Number(one - other));
      expect(numbers, `the balances of ${wallet}, as they were published`).toEqual(inOrder);
    }
  });

  it('leave books that hold from the first entry on (L1 to L12)', async () => {
    await eventually(async () => expect(await scenario.violations()).toEqual([]));
  });
});
