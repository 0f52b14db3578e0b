import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { walletKeyOf } from '@pesewa/contracts';
import type { Addresses } from '@pesewa/infrastructure';
import {
  createTopicReader,
  eventually,
  prepareTestEnvironment,
  type ReadMessage,
  topicNameOf,
} from '@pesewa/testkit';
import { expect } from 'vitest';
import type { Reported, SenderData } from './road-sender.ts';

/** As many keys as reach every partition of a topic several times. */
const keys = Array.from({ length: 64 }, (_, at) => `road-${at}`);
/** How long the members and brokers may take, once all are up, until messages go out again. */
const PROGRESS_MS = 120_000;
const DRAIN_MS = 120_000;

/** What came of the messages that were committed. */
export interface RoadFound {
  readonly committed: number;
  /** Outbox records whose commit was not confirmed, by their errors; each may be there or not. */
  readonly unconfirmed: Readonly<Record<string, number>>;
  /** Messages that are in no topic, that came first after a later one of their key, and that came again. */
  readonly lost: number;
  readonly outOfOrder: number;
  readonly repeated: number;
}

/** The road from a commit to Kafka alone: a service that sends one numbered message after another for every key. */
export interface Road extends AsyncDisposable {
  /** Waits until so many more outbox records, each with a message for every key, have been committed. */
  readonly progress: (records: number) => Promise<void>;
  /** Ends the sending, waits until the outbox is empty and reads the topic from its start. */
  readonly arrive: () => Promise<RoadFound>;
}

/**
 * Starts to send over the cluster at these addresses, from a thread of its own: whatever else keeps the tests' thread
 * busy, messages are under way. Resolves once the first ones are committed.
 */
export async function openRoad(addresses: Addresses): Promise<Road> {
  const config = await prepareTestEnvironment((name) => addresses[name]);
  const workerData: SenderData = { config, keys };
  const sender = new Worker(new URL('./road-sender.ts', import.meta.url), { workerData });
  const committed: bigint[] = [];
  const unconfirmed: Record<string, number> = {};
  let failure: unknown;
  const ended = once(sender, 'exit').catch((error: unknown) => {
    failure = error;
  });
  sender.on('message', ({ number, error }: Reported) => {
    if (error === undefined) committed.push(BigInt(number));
    else unconfirmed[error] = (unconfirmed[error] ?? 0) + 1;
  });
  const expectRunning = () => {
    if (failure !== undefined) throw new Error('the sender has failed', { cause: failure });
  };
  const progress = async (records: number) => {
    const wanted = committed.length + records;
    await eventually(() => expect(committed.length).toBeGreaterThanOrEqual(wanted), PROGRESS_MS);
    expectRunning();
  };
  await progress(1);
  return {
    progress,
    arrive: async () => {
      let isOver = false;
      void ended.then(() => {
        isOver = true;
      });
      sender.postMessage('over');
      await eventually(() => expect(isOver).toBe(true), DRAIN_MS);
      expectRunning();
      const read = await (await createTopicReader(config))(topicNameOf(config, 'ledger'));
      return { committed: committed.length * keys.length, unconfirmed, ...judge(read, committed) };
    },
    [Symbol.asyncDispose]: async () => {
      await sender.terminate();
    },
  };
}

/** Which of the committed numbers of each key are missing, came first after a later one, or came again. */
function judge(
  read: readonly ReadMessage[],
  committed: readonly bigint[],
): Pick<RoadFound, 'lost' | 'outOfOrder' | 'repeated'> {
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
