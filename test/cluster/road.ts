import { walletKeyOf } from '@pesewa/contracts';
import type { Addresses } from '@pesewa/infrastructure';
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
  prepareTestEnvironment,
  type ReadMessage,
  topicNameOf,
} from '@pesewa/testkit';
import { expect } from 'vitest';

/** As many keys as reach every partition of a topic several times. */
const keys = Array.from({ length: 64 }, (_, at) => `road-${at}`);
/** Between two outbox records, so that many wait whenever a broker breaks and a run can be read to its end. */
const PAUSE_MS = 60;
const DRAIN_MS = 120_000;

/** What came of the messages that were committed. */
export interface RoadFound {
  readonly committed: number;
  /** Messages that are in no topic, that came first after a later one of their key, and that came again. */
  readonly lost: number;
  readonly outOfOrder: number;
  readonly repeated: number;
}

/** The road from a commit to Kafka alone: a process that sends one numbered message after another for every key. */
export interface Road extends AsyncDisposable {
  /** Ends the sending, waits until the outbox is empty and reads the topic from its start. */
  readonly arrive: () => Promise<RoadFound>;
}

/** Starts to send over the cluster at these addresses. */
export async function openRoad(addresses: Addresses): Promise<Road> {
  const config = await prepareTestEnvironment(['ledger'], (name) => addresses[name]);
  const scope = openTestScope(config);
  const { messaging, commits } = await openSender(scope);
  let isOver = false;
  const sending = commitUntil(commits, () => isOver);
  return {
    arrive: async () => {
      isOver = true;
      const committed = await sending;
      await eventually(async () => expect(await outboxOf(messaging.db).countDocuments()).toBe(0), DRAIN_MS);
      const read = await (await createTopicReader(config))(topicNameOf(config, 'ledger'));
      return { committed: committed.length * keys.length, ...judge(read, committed) };
    },
    [Symbol.asyncDispose]: async () => {
      isOver = true;
      await sending.catch(() => undefined);
      await scope[Symbol.asyncDispose]();
    },
  };
}

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

/** Commits outbox records from number 1 on, each after the one before; gives those whose commit was confirmed. */
async function commitUntil(
  commits: GroupCommit<number, number>,
  isOver: () => boolean,
): Promise<readonly bigint[]> {
  const confirmed: bigint[] = [];
  for (let number = 1; !isOver(); number += 1) {
    // While the members elect a primary a commit may fail; it may be there or not, so nothing is asked of it.
    const isConfirmed = await commits.submit(number).then(
      () => true,
      () => false,
    );
    if (isConfirmed) confirmed.push(BigInt(number));
    await systemClock.sleep(PAUSE_MS);
  }
  return confirmed;
}

/** Which of the committed numbers of each key are missing, came first after a later one, or came again. */
function judge(read: readonly ReadMessage[], committed: readonly bigint[]): Omit<RoadFound, 'committed'> {
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
    lost += committed.filter((number) => !seen.has(number)).length;
  }
  return { lost, outOfOrder, repeated };
}
