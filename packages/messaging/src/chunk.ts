import type { Collection } from 'mongodb';
import { isDuplicateKey, isPassing } from './mongo.ts';
import { advanceOffset, type ConsumerOffset, FencedError } from './offsets.ts';
import { createParking, type ParkingDeps } from './parking.ts';
import type { AnyEvent, Reading, Received, TopicHandler } from './received.ts';
import type { RawTransaction, Transact } from './transact.ts';

/** What committing chunks needs to know of the consumer. */
export interface ChunkDeps extends ParkingDeps {
  readonly transact: Transact;
  readonly offsets: Collection<ConsumerOffset>;
  readonly owner: string;
}

/** When the events of a committed chunk have reached Kafka. */
export interface Sent {
  readonly sent: Promise<void>;
}

/** Commits what was read of one partition: effects, parked messages and the offset in one transaction. */
export interface Chunks {
  readonly commit: (
    readings: readonly Reading[],
    from: bigint,
    to: bigint,
    /** Work for the time in which the database commits; it must not fail. */
    meanwhile?: () => void,
  ) => Promise<Sent>;
  /** The same for one message; if the handler fails on it for good, it is parked. */
  readonly commitSingly: (reading: Reading | undefined, from: bigint, to: bigint) => Promise<Sent>;
}

/** Builds the chunks of one partition; the source names its offset and its bundles. */
export function createChunks(
  deps: ChunkDeps,
  handler: TopicHandler,
  place: { readonly topicName: string; readonly partition: number; readonly source: string },
): Chunks {
  const { topicName, partition, source } = place;
  const parking = createParking(deps, topicName, partition);

  async function commit(
    readings: readonly Reading[],
    from: bigint,
    to: bigint,
    meanwhile: () => void = () => undefined,
  ): Promise<Sent> {
    const move = { id: source, from, to, owner: deps.owner };
    const run = (careful: boolean) =>
      deps.transact(`${deps.group}.chunk`, { source, sequence: Number(to) }, async (transaction) => {
        await advanceOffset(deps.offsets, move, transaction.session);
        const unfit = await handle(readings, transaction, careful);
        for (const [reading, reason] of unfit) {
          transaction.send(parking.message(reading, reason));
          transaction.afterCommit(() => parking.announce(reading, reason));
        }
        // Once what is written now is on its way to the server.
        setImmediate(meanwhile);
      });
    try {
      return await run(false);
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
      return run(true);
    }
  }

  /** Hands the events over; gives what is to be parked, with the reasons. */
  async function handle(
    readings: readonly Reading[],
    transaction: RawTransaction,
    careful: boolean,
  ): Promise<readonly [Reading, string][]> {
    const reasons = new Map<string, string>();
    const events: Received<AnyEvent>[] = [];
    for (const reading of readings) if (reading.kind === 'event') events.push(reading.event);
    if (events.length > 0) {
      const { session, emit, afterCommit } = transaction;
      const park = (eventId: string, reason: string) => void reasons.set(eventId, reason);
      await handler.handle(events, { session, partition, emit, afterCommit, park, careful });
    }
    const unfit: [Reading, string][] = [];
    for (const reading of readings) {
      const reason = reading.kind === 'poison' ? reading.reason : reasons.get(reading.event.eventId);
      if (reason !== undefined) unfit.push([reading, reason]);
    }
    return unfit;
  }

  async function commitSingly(reading: Reading | undefined, from: bigint, to: bigint): Promise<Sent> {
    try {
      return await commit(reading ? [reading] : [], from, to);
    } catch (error) {
      if (mustStop(error) || reading?.kind !== 'event') throw error;
      const { offset, event } = reading;
      deps.logger.error(
        { err: error, topic: topicName, partition, offset: offset.toString() },
        'handler failed',
      );
      const reason = `the handler failed: ${error instanceof Error ? error.name : 'unknown'}`;
      return commit([{ kind: 'poison', offset, reason, eventType: event.type, key: event.key }], from, to);
    }
  }

  return { commit, commitSingly };
}

/** Whether the error says that the partition must be looked at anew, or that the fault will pass. */
export const mustStop = (error: unknown): boolean => error instanceof FencedError || isTransient(error);

/** Faults of the connection or the cluster: they pass, so the chunk is retried in place. */
export function isTransient(error: unknown): boolean {
  return isPassing(error) || (error instanceof Error && error.name.startsWith('Kafka'));
}
