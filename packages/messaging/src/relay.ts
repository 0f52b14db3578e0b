import type { CrashPoint, Logger } from '@pesewa/runtime';
import type { Kafka, Message } from 'kafkajs';
import type { Bundle, Outbox } from './bundle.ts';
import { createProducer } from './kafka.ts';

/** The one road from the outbox to Kafka: first in, first out, one send outstanding. */
export interface Relay extends AsyncDisposable {
  /** Takes over a committed bundle; resolves once Kafka has it on every in-sync replica. */
  readonly send: (bundle: Bundle) => Promise<void>;
  /** Whether the bundle is on its way already. */
  readonly holds: (id: string) => boolean;
}

const MESSAGES_PER_SEND_MAX = 2_000;
const BUNDLES_WAITING_MAX = 20_000;
const CLOSE_TIMEOUT_MS = 5_000;

interface Waiting {
  readonly bundle: Bundle;
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

  async function drain(): Promise<void> {
    while (waiting.length > 0 && !closed) {
      const batch = takeBatch(waiting);
      options.crashPoint('relay.before-send');
      await producer.sendBatch({
        acks: -1,
        timeout: 30_000,
        topicMessages: byTopic(batch.map(({ bundle }) => bundle)),
      });
      options.crashPoint('relay.after-send');
      for (const { sent } of batch) sent.resolve();
      await removing;
      const ids = batch.map(({ bundle }) => bundle._id);
      removing = removeSent(options, ids).then(() => {
        for (const id of ids) held.delete(id);
      });
    }
  }

  function start(): void {
    sending ??= drain()
      .catch((error: unknown) => {
        options.logger.error({ err: error }, 'the relay stumbled; the sweeper sends what is left');
        for (const { bundle, sent } of waiting.splice(0)) {
          held.delete(bundle._id);
          sent.reject(error instanceof Error ? error : new Error('relay failed'));
        }
      })
      .finally(() => {
        sending = undefined;
        if (waiting.length > 0 && !closed) start();
      });
  }

  return {
    send: async (bundle) => {
      if (waiting.length >= BUNDLES_WAITING_MAX || closed) return;
      const sent = Promise.withResolvers<void>();
      held.add(bundle._id);
      waiting.push({ bundle, sent });
      start();
      await sent.promise;
    },
    holds: (id) => held.has(id),
    [Symbol.asyncDispose]: async () => {
      await Promise.race([(sending ?? Promise.resolve()).then(() => removing), bound(CLOSE_TIMEOUT_MS)]);
      closed = true;
      await Promise.race([producer.disconnect(), bound(CLOSE_TIMEOUT_MS)]);
    },
  };
}

function bound(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs).unref();
  });
}

function takeBatch(waiting: Waiting[]): readonly Waiting[] {
  let messages = 0;
  let bundles = 0;
  for (const { bundle } of waiting) {
    if (bundles > 0 && messages + bundle.messages.length > MESSAGES_PER_SEND_MAX) break;
    messages += bundle.messages.length;
    bundles += 1;
  }
  return waiting.splice(0, bundles);
}

function byTopic(bundles: readonly Bundle[]): { topic: string; messages: Message[] }[] {
  const messages = new Map<string, Message[]>();
  for (const bundle of bundles) {
    for (const message of bundle.messages) {
      const list = messages.get(message.topic) ?? [];
      if (list.length === 0) messages.set(message.topic, list);
      list.push({ key: message.key, value: message.value, headers: { ...message.headers } });
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
