import { recordApplied } from '@pesewa/runtime';
import type { Collection } from 'mongodb';
import { isDuplicateKey, isTransientMongoError } from '../database/mongo.ts';
import type { OutgoingEvent, Transaction } from '../outbox/outbox.ts';
import type { Transact } from '../outbox/transact.ts';
import { RegistryAwayError } from '../schemas/codec.ts';
import { advanceOffset, type ConsumerOffset, FencedError } from './offsets.ts';
import { createParking, describeFailure, type ParkingDeps } from './parking.ts';
import { PartitionStoppedError } from './stopped-partitions.ts';
import type { Reading, TopicHandler } from './topic-handler.ts';

/** What committing batches needs from the consumer. */
export interface BatchDeps extends ParkingDeps {
  readonly transact: Transact;
  readonly offsets: Collection<ConsumerOffset>;
  readonly owner: string;
  /** The number of messages parked in a row at which a partition stops. */
  readonly parkedInARowMax: number;
}

/** A promise that resolves when the events of a committed batch are in Kafka. */
export interface Sent {
  readonly sent: Promise<void>;
}

/** Commits batches of one partition: effects, parked messages and the offset in one transaction. */
export interface Batches {
  readonly commit: (
    readings: readonly Reading[],
    from: bigint,
    to: bigint,
    /** `inBackground` runs while the database commits; it must not fail. */
    inBackground?: () => void,
  ) => Promise<Sent>;
  /** The same for one message, which is parked if its handler fails on it for good. */
  readonly commitSingly: (reading: Reading | undefined, from: bigint, to: bigint) => Promise<Sent>;
}

interface TopicPartition {
  readonly topicName: string;
  readonly partition: number;
}

/**
 * How many messages of a partition were parked since the last one that was applied. It outlives the partition's
 * worker.
 */
export interface ConsecutiveParked {
  count: number;
  /**
   * The last message whose failure was logged: one that stops its partition fails again and again, and is logged
   * once.
   */
  loggedOffset?: bigint;
}

/** Builds the batches of one partition; the source names its offset and its outbox records. */
export function createPartitionBatches(
  deps: BatchDeps,
  handler: TopicHandler,
  place: TopicPartition & { readonly source: string },
  consecutiveParked: ConsecutiveParked,
): Batches {
  const { topicName, partition, source } = place;
  const parking = createParking(deps, topicName, partition);

  async function commit(
    readings: readonly Reading[],
    from: bigint,
    to: bigint,
    inBackground: () => void = () => undefined,
  ): Promise<Sent> {
    // Later messages may depend on one of an unknown type, so the batch fails and the caller commits only the
    // messages before it.
    for (const reading of readings)
      if (reading.kind === 'unknown') throw unknownType(deps.group, place, reading);
    const move = { id: source, from, to, owner: deps.owner };
    const run = (isRetry: boolean) =>
      deps.transact(`${deps.group}.batch`, { source, sequence: Number(to) }, async (transaction) => {
        const fromMs = deps.clock.nowMs();
        const discarded = await advanceOffset(deps.offsets, move, transaction.session);
        const wanted = withoutDiscarded(readings, discarded);
        const unfit = await runHandler(handler, partition, wanted, transaction, isRetry);
        const counted = countConsecutiveParked(deps, place, wanted, unfit, consecutiveParked.count);
        for (const [reading, reason] of unfit) {
          await parking.store(reading, reason, transaction.session);
          transaction.afterCommit(() => parking.report(reading, reason));
        }
        transaction.afterCommit(() => {
          consecutiveParked.count = counted;
          const applied = wanted.flatMap((reading) =>
            reading.kind === 'event' && !unfit.has(reading) ? reading.event : [],
          );
          recordApplied({ topic: topicName, partition, group: deps.group }, applied, {
            fromMs,
            toMs: deps.clock.nowMs(),
          });
          if (wanted.length < readings.length)
            deps.logger.info(
              { topic: topicName, partition },
              'discarded events arrived again, without effect',
            );
        });
        // Runs once the writes of this transaction are on their way to the server.
        setImmediate(inBackground);
      });
    try {
      return await run(false);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return run(true);
    }
  }

  async function commitSingly(reading: Reading | undefined, from: bigint, to: bigint): Promise<Sent> {
    try {
      return await commit(reading ? [reading] : [], from, to);
    } catch (error) {
      if (isFencedOrTransient(error) || error instanceof PartitionStoppedError || reading?.kind !== 'event')
        throw error;
      const { offset, message, event } = reading;
      const failed = { err: error, topic: topicName, partition, offset: offset.toString() };
      if (consecutiveParked.loggedOffset !== offset) deps.logger.error(failed, 'handler failed');
      consecutiveParked.loggedOffset = offset;
      const { eventId } = event;
      return commit([{ kind: 'poison', offset, reason: describeFailure(error), eventId, message }], from, to);
    }
  }

  return { commit, commitSingly };
}

/** The readings without the events that operators have discarded, of which there are hardly ever any. */
function withoutDiscarded(readings: readonly Reading[], ids: readonly string[]): readonly Reading[] {
  if (ids.length === 0) return readings;
  return readings.filter((reading) => reading.kind !== 'event' || !ids.includes(reading.event.eventId));
}

/** Hands the events to their handler; gives the readings to park, with the reasons. */
export async function runHandler(
  handler: TopicHandler,
  partition: number,
  readings: readonly Reading[],
  transaction: Omit<Transaction, 'emit'> & {
    readonly emit: (event: OutgoingEvent, traceparent?: string) => void;
  },
  isRetry: boolean,
): Promise<ReadonlyMap<Reading, string>> {
  const handed = readings.filter((reading) => reading.kind === 'event');
  const events = handed.map(({ event }) => event);
  const reasons = new Map<Reading, string>();
  if (events.length > 0) {
    const { session, afterCommit, afterRollback } = transaction;
    // An event belongs to the trace of the event that caused it.
    const traces = new Map(events.map(({ eventId, traceparent }) => [eventId, traceparent]));
    const emit = (event: OutgoingEvent) =>
      transaction.emit(event, event.causationId === null ? undefined : traces.get(event.causationId));
    const park = (index: number, reason: string) => {
      const reading = handed[index];
      if (!reading) throw new RangeError(`there is no event ${index} to park`);
      reasons.set(reading, reason);
    };
    await handler.handle(events, { session, partition, emit, afterCommit, afterRollback, park, isRetry });
  }
  const unfit = new Map<Reading, string>();
  for (const reading of readings) {
    const reason = reading.kind === 'poison' ? reading.reason : reasons.get(reading);
    if (reason !== undefined) unfit.set(reading, reason);
  }
  return unfit;
}

function unknownType(
  group: string,
  { topicName, partition }: TopicPartition,
  { eventType, offset }: Extract<Reading, { readonly kind: 'unknown' }>,
): PartitionStoppedError {
  return new PartitionStoppedError(
    `${topicName}, partition ${partition}, offset ${offset}: this version does not know the type ${eventType}`,
    `deploy a version of ${group} that knows it`,
  );
}

/**
 * How many messages are parked in a row after these readings; a handled message begins the count anew. Many in a row
 * are a fault of ours and not of the messages; then the next one is not parked (ADR 8).
 */
function countConsecutiveParked(
  { group, parkedInARowMax }: Pick<BatchDeps, 'group' | 'parkedInARowMax'>,
  { topicName, partition }: TopicPartition,
  readings: readonly Reading[],
  unfit: ReadonlyMap<Reading, string>,
  before: number,
): number {
  let inARow = before;
  for (const reading of readings) {
    const reason = unfit.get(reading);
    inARow = reason === undefined ? 0 : inARow + 1;
    if (inARow > parkedInARowMax)
      throw new PartitionStoppedError(
        `${topicName}, partition ${partition}, offset ${reading.offset}: ${parkedInARowMax} messages in a row were parked, and this one can't be applied either (${reason})`,
        `see pesewa parked list --service ${group}, fix what is wrong, restart ${group}, and replay what was parked`,
      );
  }
  return inARow;
}

/** Whether the error means that the partition must be checked anew, or that the fault is transient. */
export const isFencedOrTransient = (error: unknown): boolean =>
  error instanceof FencedError || isTransient(error);

/** Whether the error is a transient fault of the connection or the cluster; the batch is then retried in place. */
export function isTransient(error: unknown): boolean {
  return (
    isTransientMongoError(error) ||
    error instanceof RegistryAwayError ||
    (error instanceof Error && error.name.startsWith('Kafka'))
  );
}
