import { topics } from '@pesewa/contracts';
import {
  type Consumer,
  createGroupMember,
  type EachBatchPayload,
  type Kafka,
  type TopicPartition,
} from '@pesewa/kafka';
import type { Health } from '@pesewa/runtime';
import { type Assignment, type AssignmentDeps, createAssignment } from './assignment.ts';
import type { TopicHandler } from './topic-handler.ts';

/** Options of {@link runConsumer}. */
export interface ConsumerOptions extends Omit<AssignmentDeps, 'handlers'> {
  /**
   * Makes the client of one consumer; each new consumer needs a new one, because kafkajs's own restarts can leave a
   * consumer behind (tulios/kafkajs#1147).
   */
  readonly connect: () => Kafka;
  readonly handlers: readonly TopicHandler[];
  readonly sessionTimeoutMs: number;
  readonly health: Health;
  /** The process's monotonic clock, which also counts the time in which the process is suspended. */
  readonly monotonicMs: () => number;
  /**
   * Whether the process becomes ready only when it has joined its group for the first time. Leaving the group later
   * changes nothing.
   */
  readonly readyOnceJoined: boolean;
}

const RESTART_PAUSE_MS = { first: 200, last: 5_000 } as const;
const STABLE_AFTER_MS = 60_000;
const CLOSE_TIMEOUT_MS = 8_000;
/**
 * Several times the client's timeout for an answer, its retries included: a working consumer has given up and begun
 * anew by then.
 */
const SILENCE_MAX_MS = 300_000;
/** The share of a session's time that we rely on: our clock and the broker's may run at slightly different speeds. */
const SESSION_SAFE_SHARE = 0.9;

/**
 * What the liveness and readiness of the consumer are judged by. All its times are by the monotonic clock: a step of the
 * wall clock must not restart all replicas.
 */
interface ConsumerHealth {
  joined: boolean;
  hasJoined: boolean;
  /** When it last started or had an answer from Kafka. */
  lastAnswerMs: number;
  /** The batches being consumed, each with the time of its last progress. */
  readonly batches: Set<{ lastProgressMs: number }>;
}

/**
 * Consumes a service's topics for as long as the process lives: each batch in one transaction, with positions in
 * MongoDB.
 *
 * The way of a message: the consumer joins the group → `Assignment` takes the partitions over → `openPartition` compares each
 * position with Kafka's → `consumeBatch` cuts what was fetched → `PartitionWorker` isolates what can't be applied → `Batches`
 * commits effects, offset and events.
 *
 * It survives an absence of Kafka and does not make the process unready meanwhile: a failed consumer is replaced by a
 * new one. The service chooses whether the process may become ready before it has joined for the first time (ADR 52).
 */
export function runConsumer(options: ConsumerOptions): AsyncDisposable {
  const closing = new AbortController();
  const { health, group, monotonicMs } = options;
  const signs: ConsumerHealth = {
    joined: false,
    hasJoined: false,
    lastAnswerMs: monotonicMs(),
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
    // Without a batch in progress the silence is Kafka's, and restarting us would not end it. Each batch is checked by
    // itself, because one that hangs holds up its partition even if the others move.
    const stalledMs = Math.max(2 * options.sessionTimeoutMs, STABLE_AFTER_MS);
    const sinceMs = monotonicMs() - stalledMs;
    if ([...signs.batches].some(({ lastProgressMs }) => lastProgressMs < sinceMs)) throw new Error('stalled');
    // A consumer that has had no answer for this long and has not given up either is stuck, whatever Kafka does.
    if (signs.lastAnswerMs < monotonicMs() - SILENCE_MAX_MS) throw new Error('silent');
  });
  const running = runUntilClosed(options, signs, closing.signal);
  return {
    [Symbol.asyncDispose]: async () => {
      closing.abort();
      await running;
    },
  };
}

async function runUntilClosed(
  options: ConsumerOptions,
  signs: ConsumerHealth,
  closing: AbortSignal,
): Promise<void> {
  let pauseMs: number = RESTART_PAUSE_MS.first;
  while (!closing.aborted) {
    const startedMs = options.monotonicMs();
    signs.lastAnswerMs = startedMs;
    const error = await consumeUntilCrash(options, signs, closing);
    signs.joined = false;
    if (closing.aborted) return;
    options.logger.warn({ err: error, group: options.group }, 'the consumer begins anew');
    if (options.monotonicMs() - startedMs > STABLE_AFTER_MS) pauseMs = RESTART_PAUSE_MS.first;
    await options.clock.sleep(pauseMs, closing);
    pauseMs = Math.min(pauseMs * 2, RESTART_PAUSE_MS.last);
  }
}

/** Runs one consumer until it ends; gives the error that ended it. */
async function consumeUntilCrash(
  options: ConsumerOptions,
  signs: ConsumerHealth,
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
        // kafkajs can't pause partitions of a member that has stopped, and such a member fetches nothing anyway.
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
  trackConsumer(consumer, options, signs, {
    joined: (places) => assignment.take(places),
    ended: end.resolve,
  });
  const started = start(consumer, [...handlers.keys()], (payload) =>
    trackBatch(signs, options.monotonicMs, payload, assignment.consume),
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

/** Consumes a batch, whose progress is seen. */
async function trackBatch(
  { batches }: ConsumerHealth,
  monotonicMs: () => number,
  payload: EachBatchPayload,
  consume: Assignment['consume'],
): Promise<void> {
  const batch = { lastProgressMs: monotonicMs() };
  batches.add(batch);
  const progressed = () => {
    batch.lastProgressMs = monotonicMs();
  };
  try {
    await consume({ ...payload, progressed });
  } finally {
    batches.delete(batch);
  }
}

async function start(
  consumer: Consumer,
  names: string[],
  eachBatch: (payload: EachBatchPayload) => Promise<void>,
): Promise<void> {
  await consumer.connect();
  await consumer.subscribe({ topics: names, fromBeginning: true });
  await consumer.run({
    autoCommit: true,
    eachBatchAutoResolve: false,
    partitionsConsumedConcurrently: 8,
    eachBatch,
  });
}

/** Follows a consumer's events: its liveness, the partitions it gets, and until when no other member can have them. */
function trackConsumer(
  consumer: Consumer,
  options: ConsumerOptions,
  signs: ConsumerHealth,
  on: {
    readonly joined: (places: readonly TopicPartition[]) => void;
    readonly ended: (error: unknown) => void;
  },
): void {
  const { events } = consumer;
  let heartbeatSentMs = 0;
  const extendSafeTime = () =>
    options.ownership.partitionsSafeUntil(heartbeatSentMs + options.sessionTimeoutMs * SESSION_SAFE_SHARE);
  consumer.on(events.REQUEST, ({ payload }) => {
    signs.lastAnswerMs = options.monotonicMs();
    // The broker counts a session from when the request arrives. We count from when it was sent, which is never later.
    if (['Heartbeat', 'SyncGroup'].includes(payload.apiName))
      heartbeatSentMs = options.ownership.nowMs() - payload.duration;
  });
  consumer.on(events.HEARTBEAT, extendSafeTime);
  consumer.on(events.GROUP_JOIN, ({ payload }) => {
    signs.joined = true;
    signs.hasJoined = true;
    extendSafeTime();
    on.joined(
      Object.entries(payload.memberAssignment).flatMap(([topic, partitions]) =>
        partitions.map((partition) => ({ topic, partition })),
      ),
    );
  });
  consumer.on(events.CRASH, ({ payload }) => on.ended(payload.error));
}
