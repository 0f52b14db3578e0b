import type { CrashPoint, Logger } from '@pesewa/runtime';
import type { Kafka, Message } from 'kafkajs';
import { BUNDLE_BYTES_MAX, type Bundle, bytesOf, isSwept, type Outbox } from './bundle.ts';
import { createProducer } from './kafka.ts';

/** The one road from the outbox to Kafka: first in, first out, one send outstanding. */
export interface Relay extends AsyncDisposable {
  /** Takes over a committed bundle; resolves once Kafka has it on every in-sync replica. */
  readonly send: (bundle: Bundle) => Promise<void>;
  /** Whether the bundle is on its way already, by this process; what others send is not known. */
  readonly holds: (id: string) => boolean;
  /** Whether it takes further bundles of group commits; what it does not take is left in the outbox. */
  readonly hasRoom: () => boolean;
}

const MESSAGES_PER_SEND_MAX = 2_000;
const BYTES_WAITING_MAX = 64 * 1_024 * 1_024;
const CLOSE_TIMEOUT_MS = 5_000;

interface Waiting {
  readonly bundle: Bundle;
  readonly bytes: number;
  readonly sent: PromiseWithResolvers<void>;
}

/**
 * Opens the relay of a process. A send never gives up; a bundle whose process dies is left to the sweeper, and one
 * that doesn't fit into memory while Kafka is away as well.
 */
export async function openRelay(options: {
  readonly kafka: Kafka;
  readonly outbox: Outbox;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
}): Promise<Relay> {
  const producer = createProducer(options.kafka);
  await producer.connect();
  const waiting: Waiting[] = [];
  const held = new Set<string>();
  let sending: Promise<void> | undefined;
  let removing: Promise<void> = Promise.resolve();
  let closed = false;
  let waitingBytes = 0;

  const hasRoom = () => !closed && waitingBytes < BYTES_WAITING_MAX;

  async function sendOnce(batch: readonly Waiting[]): Promise<void> {
    options.crashPoint('relay.before-send');
    const topicMessages = byTopic(batch.map(({ bundle }) => bundle));
    await producer.sendBatch({ acks: -1, timeout: 30_000, topicMessages });
    options.crashPoint('relay.after-send');
  }

  async function drain(): Promise<void> {
    while (waiting.length > 0 && !closed) {
      const batch = takeBatch(waiting);
      waitingBytes -= batch.reduce((sum, { bytes }) => sum + bytes, 0);
      const ids = await deliver(batch, sendOnce, giveBack);
      await removing;
      removing = removeSent(options, ids).then(() => {
        options.crashPoint('relay.after-mark');
        for (const id of ids) held.delete(id);
      });
    }
  }

  function giveBack({ bundle, sent }: Waiting, error: unknown): void {
    options.logger.error(
      { err: error, bundle: bundle._id },
      'Kafka refuses a bundle; it stays in the outbox',
    );
    held.delete(bundle._id);
    sent.reject(error instanceof Error ? error : new Error('refused by Kafka'));
  }

  function start(): void {
    sending ??= drain().finally(() => {
      sending = undefined;
      if (waiting.length > 0 && !closed) start();
    });
  }

  return {
    send: async (bundle) => {
      // Only what the sweeper will send may be left out; what consumers wait for is bounded by their own waiting.
      if (closed || (isSwept(bundle._id) && !hasRoom())) return;
      const sent = Promise.withResolvers<void>();
      const bytes = bytesOf(bundle.messages);
      waitingBytes += bytes;
      held.add(bundle._id);
      waiting.push({ bundle, bytes, sent });
      start();
      await sent.promise;
    },
    holds: (id) => held.has(id),
    hasRoom,
    [Symbol.asyncDispose]: async () => {
      await Promise.race([(sending ?? Promise.resolve()).then(() => removing), bound(CLOSE_TIMEOUT_MS)]);
      closed = true;
      await Promise.race([producer.disconnect(), bound(CLOSE_TIMEOUT_MS)]);
    },
  };
}

/** Sends a batch; where Kafka refuses it, bundle by bundle, so that only the culprit fails. Gives what was sent. */
async function deliver(
  batch: readonly Waiting[],
  sendOnce: (batch: readonly Waiting[]) => Promise<void>,
  giveBack: (refused: Waiting, error: unknown) => void,
): Promise<readonly string[]> {
  try {
    await sendOnce(batch);
    for (const { sent } of batch) sent.resolve();
    return batch.map(({ bundle }) => bundle._id);
  } catch (error) {
    const [only] = batch;
    if (only && batch.length === 1) {
      giveBack(only, error);
      return [];
    }
  }
  const sent: string[] = [];
  for (const single of batch) sent.push(...(await deliver([single], sendOnce, giveBack)));
  return sent;
}

function bound(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs).unref();
  });
}

function takeBatch(waiting: Waiting[]): readonly Waiting[] {
  let messages = 0;
  let bytes = 0;
  let bundles = 0;
  for (const next of waiting) {
    messages += next.bundle.messages.length;
    bytes += next.bytes;
    if (bundles > 0 && (messages > MESSAGES_PER_SEND_MAX || bytes > BUNDLE_BYTES_MAX)) break;
    bundles += 1;
  }
  return waiting.splice(0, bundles);
}

/** To kafkajs a message needs a value; what is sent is its body (see kafkajs-patches). */
function byTopic(bundles: readonly Bundle[]): { topic: string; messages: Message[] }[] {
  const messages = new Map<string, Message[]>();
  for (const bundle of bundles) {
    for (const { topic, key, body } of bundle.messages) {
      const message = { key, value: body, body };
      const list = messages.get(topic);
      if (list) list.push(message);
      else messages.set(topic, [message]);
    }
  }
  return [...messages].map(([topic, list]) => ({ topic, messages: list }));
}

async function removeSent(
  options: { readonly outbox: Outbox; readonly logger: Logger },
  ids: readonly string[],
): Promise<void> {
  try {
    await options.outbox.deleteMany({ _id: { $in: [...ids] } }, { writeConcern: { w: 1 } });
  } catch (error) {
    options.logger.warn(
      { err: error, bundles: ids.length },
      'sent bundles stay in the outbox and will be sent again',
    );
  }
}
