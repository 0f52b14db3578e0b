import { walletKeyOf } from '@pesewa/contracts';
import { systemClock } from '@pesewa/kernel';
import {
  type GroupCommit,
  type Messaging,
  type OutgoingEvent,
  openMessagingAs,
  outboxOf,
} from '@pesewa/messaging';
import {
  createTopicReader,
  eventually,
  openTestScope,
  prepareTestNames,
  type ReadMessage,
  topicNameOf,
} from '@pesewa/testkit';
import { expect, it } from 'vitest';
import { breakNodes } from './break-nodes.ts';
import { nodesPerKind, type Step, strikeKinds } from './plan/faults.ts';
import { sharedCluster } from './shared-cluster.ts';

/** Each breaks one broker after another in each way; ten for each of them are thirty. */
const rounds = Number(process.env['ROAD_ROUNDS'] ?? 2);

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** As many keys as reach every partition of a topic several times. */
const keys = Array.from({ length: 64 }, (_, at) => `road-${at}`);
/** Between two outbox records, so that many are under way whenever a broker breaks and a run can be read to its end. */
const PAUSE_MS = 25;
const DRAIN_MS = 120_000;
const ROUND_MS = 60_000;

const steps: readonly Step[] = Array.from({ length: rounds }, (_, round) =>
  strikeKinds.map((kind, at) => ({
    pauseMs: 1_500,
    strikes: [{ kind, node: 'broker', index: (round + at) % nodesPerKind } as const],
    // A pause is to outlast a broker's session of six seconds.
    downMs: kind === 'pause' ? 8_000 : 3_000,
  })),
).flat();

it(
  'whichever broker breaks, all that was committed is in Kafka, and in order for each key',
  async () => {
    const { env, brokers, members } = await sharedCluster();
    const config = await prepareTestNames(['ledger'], (name) => env[name]);
    await using scope = openTestScope(config);
    const { messaging, commits } = await openSender(scope);
    let isOver = false;
    const sending = commitUntil(commits, () => isOver);
    await breakNodes({ brokers, members }, steps, print);
    isOver = true;
    const committed = await sending;
    const drainedMs = performance.now();
    await eventually(async () => expect(await outboxOf(messaging.db).countDocuments()).toBe(0), DRAIN_MS);
    const seconds = Math.round((performance.now() - drainedMs) / 1_000);
    const read = await (await createTopicReader(config))(topicNameOf(config, 'ledger'));
    const found = judge(read, committed);
    print(
      JSON.stringify({
        strikes: steps.length,
        committed: committed * keys.length,
        drainedAfterSeconds: seconds,
        ...found,
      }),
    );
    expect(found).toMatchObject({ lost: 0, outOfOrder: 0 });
  },
  120_000 + DRAIN_MS + rounds * ROUND_MS,
);

/** A service that only sends: each item is the number of an outbox record, with a message of that number for every key. */
async function openSender(scope: ReturnType<typeof openTestScope>): Promise<{
  readonly messaging: Messaging;
  readonly commits: GroupCommit<number, number>;
}> {
  const messaging = await openMessagingAs(scope, {
    service: 'ledger',
    database: 'road',
    produces: ['ledger'],
  });
  await messaging.db.createCollection('outbox').catch(() => undefined);
  const commits = messaging.groupCommit<number, number>('road.send', async (numbers, transaction) => {
    for (const number of numbers) for (const key of keys) transaction.emit(eventOf(key, number));
    return Promise.resolve(numbers);
  });
  return { messaging, commits };
}

function eventOf(merchantId: string, number: number): OutgoingEvent {
  return {
    topic: 'ledger',
    key: walletKeyOf(merchantId, 'KES'),
    type: 'pesewa.ledger.WalletFunded',
    version: BigInt(number),
    causationId: null,
    payload: {
      eventId: `${merchantId}-${number}`,
      occurredAt: 1n,
      merchantId,
      currency: 'KES',
      amount: BigInt(number),
      commandId: `${merchantId}-${number}`,
    },
  };
}

/** Commits outbox records from number 1 on, each after the one before; gives how many. */
async function commitUntil(commits: GroupCommit<number, number>, isOver: () => boolean): Promise<number> {
  let number = 0;
  while (!isOver()) {
    number += 1;
    await commits.submit(number);
    await systemClock.sleep(PAUSE_MS);
  }
  return number;
}

/** Which of the committed numbers of each key are missing, came first after a later one, or came again. */
function judge(read: readonly ReadMessage[], committed: number) {
  const byKey = Map.groupBy(read, ({ key }) => key);
  let lost = 0;
  let outOfOrder = 0;
  let repeated = 0;
  for (const key of keys) {
    const seen = new Set<bigint>();
    let newest = 0n;
    for (const { payload } of byKey.get(walletKeyOf(key, 'KES')) ?? []) {
      const number = payload['amount'] as bigint;
      if (seen.has(number)) repeated += 1;
      else if (number < newest) outOfOrder += 1;
      seen.add(number);
      if (number > newest) newest = number;
    }
    lost += committed - seen.size;
  }
  return { lost, outOfOrder, repeated };
}
