import { topics } from '@pesewa/contracts';
import {
  type Consumer,
  createGroupMember,
  type EachBatchPayload,
  type Kafka,
  type Place,
} from '@pesewa/kafka';
import type { Clock } from '@pesewa/kernel';
import type { Health } from '@pesewa/runtime';
import { type Assignment, type AssignmentDeps, createAssignment } from './assignment.ts';
import type { TopicHandler } from './received.ts';

/** Options of {@link runConsumer}. */
export interface ConsumerOptions extends Omit<AssignmentDeps, 'handlers'> {
  /** A client for one life of a consumer: kafkajs's own restarts can leave one behind (tulios/kafkajs#1147). */
  readonly connect: () => Kafka;
  readonly handlers: readonly TopicHandler[];
  readonly sessionTimeoutMs: number;
  readonly health: Health;
  /** The process's monotonic clock: it goes on while the process sleeps. */
  readonly monotonicMs: () => number;
  /** Whether the process is not ready before it has joined its group for the first time; what comes later changes nothing. */
  readonly readyOnceJoined: boolean;
}

const RESTART_PAUSE_MS = { first: 200, last: 5_000 } as const;
const LIVED_WELL_MS = 60_000;
const CLOSE_TIMEOUT_MS = 8_000;
/** Several times what the client waits for an answer, its retries included: it gives up by then, and begins anew. */
const SILENCE_MAX_MS = 300_000;
/** What our clock and the broker's may differ by, in the time of one session. */
const SESSION_SHARE_SURE = 0.9;

/** What is known of the consumer's life. */
interface Signs {
  joined: boolean;
  hasJoined: boolean;
  /** When it was last born, or had an answer of Kafka, by the monotonic clock: a step of the other must not restart everything. */
  lastHeardMs: number;
  /** The batches in our hands, each with when it was last heard of. */
  readonly batches: Set<{ lastSeenMs: number }>;
}

/**
 * Consumes a service's topics for as long as the process lives: chunks in one transaction each, positions in MongoDB.
 *
 * It outlives Kafka's absence, and takes nothing out of rotation meanwhile: a consumer that has died is replaced by a new
 * one. Whether the process is ready without ever having joined is the service's to say (ADR 52).
 */
export function runConsumer(options: ConsumerOptions): AsyncDisposable {
  const closing = new AbortController();
  const { clock, health, group } = options;
  const signs: Signs = {
    joined: false,
    hasJoined: false,
    lastHeardMs: options.monotonicMs(),
    batches: new Set(),
  };
  const unjoined = 'not joined its group: Kafka does not answer, or another member is joining';
  health.addDetail(`consumer ${group}`, () => (signs.joined ? undefined : unjoined));
  if (options.readyOnceJoined) {
    health.addReadiness(`consumer ${group}`, () => {
      if (!signs.hasJoined) throw new Error(unjoined);
    });
  }
  health.addLiveness(`consumer ${group}`, () => {
    // Without a batch in our hands the silence is Kafka's, which a restart of ours does not end. Each batch is looked at by
    // itself: one that stands still holds up its partition, however well the others move.
    const stalledMs = Math.max(2 * options.sessionTimeoutMs, LIVED_WELL_MS);
    const sinceMs = clock.nowMs() - stalledMs;
    if ([...signs.batches].some(({ lastSeenMs }) => lastSeenMs < sinceMs)) throw new Error('stalled');
    // One that has neither an answer nor given up within that time does nothing any more, whatever Kafka does.
    if (signs.lastHeardMs < options.monotonicMs() - SILENCE_MAX_MS) throw new Error('silent');
  });
  const running = live(options, signs, closing.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await running;
    },
  };
}

async function live(options: ConsumerOptions, signs: Signs, closing: AbortSignal): Promise<void> {
  let pauseMs: number = RESTART_PAUSE_MS.first;
  while (!closing.aborted) {
    const bornMs = options.clock.nowMs();
    signs.lastHeardMs = options.monotonicMs();
    const error = await consumeUntilCrash(options, signs, closing);
    signs.joined = false;
    if (closing.aborted) return;
    options.logger.warn({ err: error, group: options.group }, 'the consumer begins anew');
    if (options.clock.nowMs() - bornMs > LIVED_WELL_MS) pauseMs = RESTART_PAUSE_MS.first;
    await options.clock.sleep(pauseMs, closing);
    pauseMs = Math.min(pauseMs * 2, RESTART_PAUSE_MS.last);
  }
}

/** One life of a consumer: gives what ended it. */
async function consumeUntilCrash(
  options: ConsumerOptions,
  signs: Signs,
  closing: AbortSignal,
): Promise<unknown> {
  const handlers = new Map(
    options.handlers.map((handler) => [options.topicPrefix + topics[handler.topic].name, handler]),
  );
  const end = Promise.withResolvers<unknown>();
  let isMember = true;
  closing.addEventListener('abort', () => end.resolve(undefined), { once: true });
  const assignment: Assignment = createAssignment(
    { ...options, handlers },
    {
      pause: ({ topic, partition }) => {
        // A member that has stopped pauses nothing, and fetches nothing.
        if (isMember) consumer.pause([{ topic, partitions: [partition] }]);
      },
      resumeAt: ({ topic, partition }, next) => {
        consumer.seek({ topic, partition, offset: next.toString() });
        consumer.resume([{ topic, partitions: [partition] }]);
      },
      commit: ({ topic, partition }, next) =>
        consumer.commitOffsets([{ topic, partition, offset: next.toString() }]),
    },
  );
  const consumer = createGroupMember(options.connect(), {
    groupId: options.topicPrefix + options.group,
    sessionTimeoutMs: options.sessionTimeoutMs,
    beforeHandOver: () => assignment.release(),
  });
  watch(consumer, options, signs, { joined: (places) => assignment.take(places), ended: end.resolve });
  const started = start(consumer, [...handlers.keys()], (payload) =>
    watchBatch(signs, options.clock, payload, assignment.consume),
  );
  started.catch(end.resolve);
  const reason = await end.promise;
  signs.joined = false;
  isMember = false;
  await Promise.race([
    started
      .catch(() => undefined)
      .then(() => consumer.disconnect())
      .then(() => assignment.release()),
    options.clock.sleep(CLOSE_TIMEOUT_MS),
  ]).catch((error: unknown) => options.logger.warn({ err: error }, 'the consumer did not close in order'));
  return reason;
}

/** Has a batch consumed; it is heard of whenever it goes on, and whenever it waits for what is not in our hands. */
async function watchBatch(
  { batches }: Signs,
  clock: Clock,
  payload: EachBatchPayload,
  consume: Assignment['consume'],
): Promise<void> {
  const batch = { lastSeenMs: clock.nowMs() };
  batches.add(batch);
  const heartbeat = async () => {
    batch.lastSeenMs = clock.nowMs();
    await payload.heartbeat();
  };
  try {
    await consume({ ...payload, heartbeat });
  } finally {
    batches.delete(batch);
  }
}

async function start(consumer: Consumer, names: string[], eachBatch: Assignment['consume']): Promise<void> {
  await consumer.connect();
  await consumer.subscribe({ topics: names, fromBeginning: true });
  await consumer.run({
    autoCommit: true,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: 8,
    eachBatch,
  });
}

/** Follows a consumer's events: how it lives, what it gets, and until when it can be sure of that. */
function watch(
  consumer: Consumer,
  options: ConsumerOptions,
  signs: Signs,
  on: { readonly joined: (places: readonly Place[]) => void; readonly ended: (error: unknown) => void },
): void {
  const { events } = consumer;
  let heartbeatSentMs = 0;
  const sure = () =>
    options.ownership.sureUntil(heartbeatSentMs + options.sessionTimeoutMs * SESSION_SHARE_SURE);
  consumer.on(events.REQUEST, ({ payload }) => {
    signs.lastHeardMs = options.monotonicMs();
    // The broker counts a session from the request's arrival, which is no earlier than its departure.
    if (['Heartbeat', 'SyncGroup'].includes(payload.apiName))
      heartbeatSentMs = options.monotonicMs() - payload.duration;
  });
  consumer.on(events.HEARTBEAT, sure);
  consumer.on(events.GROUP_JOIN, ({ payload }) => {
    signs.joined = true;
    signs.hasJoined = true;
    sure();
    on.joined(
      Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
        partitions.map((partition) => ({ topic, partition })),
      ),
    );
  });
  consumer.on(events.CRASH, ({ payload }) => on.ended(payload.error));
}
