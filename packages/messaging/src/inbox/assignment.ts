import { topics } from '@pesewa/contracts';
import type { PartitionBounds, Positions, TopicPartition } from '@pesewa/kafka';
import type { FollowedPartitions } from '../metrics.ts';
import type { Ownership } from '../outbox/ownership.ts';
import { isFencedOrTransient } from './batch.ts';
import {
  consumeBatch,
  type FetchedBatch,
  type FetchedBatchDeps,
  LostPartitionError,
  type OwnedPartition,
  RETRY_PAUSE_MS,
} from './fetched-batch.ts';
import { createPartitionWorker, type PartitionDeps, partitionSource } from './partition.ts';
import { type KafkaPartition, openPartition } from './partition-opening.ts';
import { PartitionStoppedError } from './stopped-partitions.ts';
import type { TopicHandler } from './topic-handler.ts';

/** The dependencies of the partitions of one group membership. */
export interface AssignmentDeps extends PartitionDeps, FetchedBatchDeps {
  readonly handlers: ReadonlyMap<string, TopicHandler>;
  readonly positions: Positions;
  readonly ownership: Ownership;
  readonly followed: FollowedPartitions;
  readonly abort: (error: Error) => void;
}

/** Controls where a member of the group goes on in each partition. */
export interface PartitionControl {
  readonly pause: (place: TopicPartition) => void;
  readonly resumeAt: (place: TopicPartition, next: bigint) => void;
  /** Commits to Kafka that the group goes on at this offset. */
  readonly commit: (place: TopicPartition, next: bigint) => Promise<void>;
}

/** The partitions that a process owns from one join of its group to the next. */
export type Assignment = ReturnType<typeof createAssignment>;

const STOPPED_PAUSE_MS = 15_000;

function newOwnedPartition(place: TopicPartition, handler: TopicHandler, source: string): OwnedPartition {
  const lost = new AbortController();
  return {
    place,
    handler,
    source,
    lost,
    consecutiveParked: { count: 0 },
    worker: undefined,
    hasMismatch: false,
  };
}

/** Builds an {@link Assignment}. */
export function createAssignment(deps: AssignmentDeps, flow: PartitionControl) {
  const partitions = new Map<string, OwnedPartition>();
  const idOf = ({ topic, partition }: TopicPartition) => `${topic}/${partition}`;
  const opener = createOpener(deps, flow);
  const inProgress = new Set<Promise<void>>();

  async function apply(payload: FetchedBatch): Promise<void> {
    const { batch } = payload;
    const held = partitions.get(idOf(batch));
    const [first] = batch.messages;
    if (!held?.worker || !first) return;
    if (!isNextInOrder(held, BigInt(first.offset))) {
      opener.reopen(held);
      return;
    }
    try {
      await consumeBatch(deps, held, held.worker, payload);
    } catch (error) {
      if (endsMembership(error)) throw error;
      if (error instanceof LostPartitionError || held.lost.signal.aborted) return;
      if (error instanceof PartitionStoppedError) opener.stop(held, error);
      else if (isFencedOrTransient(error)) opener.reopen(held);
      else {
        deps.abort(error instanceof Error ? error : new Error('consumer failed'));
        throw error;
      }
    }
  }

  return {
    /**
     * Takes partitions over. Each is read from its position on, after that was checked and its unsent events were sent.
     */
    take: (places: readonly TopicPartition[]) => {
      const all = deps.positions.bounds(deps.topicPrefix + deps.group, places);
      // Each partition gets this rejection below.
      all.catch(() => undefined);
      for (const [index, place] of places.entries()) {
        const handler = deps.handlers.get(place.topic);
        if (!handler) continue;
        const source = partitionSource(deps, handler, place.partition);
        // A join may follow another without a release in between, so the partition's earlier owner here is ended
        // first.
        partitions.get(idOf(place))?.lost.abort();
        void deps.relay.release(source);
        const held = newOwnedPartition(place, handler, source);
        partitions.set(idOf(place), held);
        deps.ownership.take(source);
        deps.followed.follow(place, () => held.worker?.next());
        flow.pause(place);
        opener.open(held, async () => (await all)[index]);
      }
    },
    consume: async (payload: FetchedBatch) => {
      const done = apply(payload);
      inProgress.add(done);
      await done.finally(() => inProgress.delete(done));
    },
    /** Gives up all partitions; resolves when nothing of theirs is on its way to Kafka, so that a successor is alone. */
    release: async () => {
      const all = [...partitions.values()];
      partitions.clear();
      for (const { lost, place, source } of all) {
        lost.abort();
        deps.ownership.lose(source);
        deps.stopped.release(place);
        deps.followed.release(place);
        flow.pause(place);
      }
      // A join may come during one fetch while batches of other fetches are still being applied.
      await Promise.allSettled(inProgress);
      await Promise.all(all.map(({ source }) => deps.relay.release(source)));
    },
  };
}

/** Opens partitions, retrying for as long as each is ours. */
function createOpener(deps: AssignmentDeps, flow: PartitionControl) {
  const boundsOf = async ({ place }: OwnedPartition) =>
    (await deps.positions.bounds(deps.topicPrefix + deps.group, [place]))[0];

  async function tryOpen(
    held: OwnedPartition,
    initialBounds: KafkaPartition['initialBounds'],
  ): Promise<void> {
    const next = await openPartition(deps, held, {
      initialBounds,
      readBounds: () => boundsOf(held),
      offsetForTime: (timeMs) => deps.positions.offsetForTime(held.place, timeMs),
      commit: (offset) => flow.commit(held.place, offset),
    });
    if (held.lost.signal.aborted) return;
    held.worker = createPartitionWorker(
      deps,
      held.handler,
      held.place.partition,
      next,
      held.consecutiveParked,
    );
    if (held.hasMismatch) deps.stopped.delete(held.place);
    flow.resumeAt(held.place, next);
  }

  async function open(
    held: OwnedPartition,
    readBounds: () => Promise<PartitionBounds | undefined>,
  ): Promise<void> {
    let read = readBounds;
    for (let tries = 0; !held.lost.signal.aborted; tries += 1) {
      let pauseMs = Math.min(RETRY_PAUSE_MS.first * 2 ** Math.min(tries, 10), RETRY_PAUSE_MS.last);
      try {
        return await tryOpen(held, read);
      } catch (error) {
        if (held.lost.signal.aborted) return;
        if (error instanceof PartitionStoppedError) {
          held.hasMismatch = true;
          deps.stopped.add(held.place, error);
          pauseMs = STOPPED_PAUSE_MS;
        } else deps.logger.warn({ err: error, ...held.place }, 'a partition cannot be taken over yet');
      }
      await deps.clock.sleep(pauseMs, held.lost.signal);
      read = () => boundsOf(held);
    }
  }

  async function openLater(held: OwnedPartition): Promise<void> {
    await deps.clock.sleep(STOPPED_PAUSE_MS, held.lost.signal);
    await open(held, () => boundsOf(held));
  }

  return {
    open: (held: OwnedPartition, readBounds: KafkaPartition['initialBounds']): void =>
      void open(held, readBounds),
    /** Checks anew where a partition stands; nothing of it is consumed meanwhile. */
    reopen: (held: OwnedPartition): void => {
      held.worker = undefined;
      flow.pause(held.place);
      void open(held, () => boundsOf(held));
    },
    /** Stops a partition until an operator lets it go on; it is checked again at intervals. */
    stop: (held: OwnedPartition, error: PartitionStoppedError): void => {
      held.worker = undefined;
      held.hasMismatch = false;
      flow.pause(held.place);
      deps.stopped.add(held.place, error);
      void openLater(held);
    },
  };
}

/** Errors that end the group membership: kafkajs joins again after them. */
const endsMembership = (error: unknown): boolean => error instanceof Error && error.name.startsWith('Kafka');

/**
 * Whether a batch begins at the expected offset. Only a compacted topic may miss offsets; if the expected offset is
 * gone, kafkajs silently begins anew at the other end (tulios/kafkajs#1119).
 */
function isNextInOrder(held: OwnedPartition, first: bigint): boolean {
  const next = held.worker?.next() ?? first;
  return topics[held.handler.topic].cleanup === 'compact' ? first >= next : first === next;
}
