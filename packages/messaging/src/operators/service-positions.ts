import { type TopicName, topics } from '@pesewa/contracts';
import type { Positions, TopicPartition } from '@pesewa/kafka';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import type { ClientSession, Collection, Db, MongoClient } from 'mongodb';
import { isDuplicateKey, transactionOptions } from '../database/mongo.ts';
import { type ConsumerOffset, findOffset, offsetsOf } from '../inbox/offsets.ts';
import { findDiscardedEventIds } from '../inbox/parked-store.ts';
import { checkPosition, type Position, type PositionFacts } from '../inbox/position.ts';
import { type PlanRefusal, planRealignment, type Realignment, type RealignPlan } from './realignment.ts';

/** A partition that a service consumes, as its database and Kafka have it. */
export interface PartitionPosition extends PositionFacts {
  /** `<group>/<topic>/<partition>` */
  readonly id: string;
  readonly stored: ConsumerOffset | null;
  readonly position: Position;
  /** Its last realignment. */
  readonly realignment: Realignment | null;
}

/** Who wants a stopped partition to go on, and why. */
export interface RealignRequest extends TopicPartition {
  readonly reason: string;
  readonly by: string;
  /** Whether the database was repaired just now, if it was restored from a backup. */
  readonly isRepaired?: boolean;
}

/** Why an operator's request was refused; the position has not changed. */
export type RealignRefusal = PlanRefusal | 'realign.unknown' | 'realign.moved';

/**
 * The operators' actions on the positions of a service (ADR 43). Rejects while Kafka or the database does not answer.
 */
export interface ServicePositions {
  readonly list: () => Promise<readonly PartitionPosition[]>;
  readonly plan: (
    place: TopicPartition,
    isRepaired?: boolean,
  ) => Promise<Result<RealignPlan & { readonly seen: PartitionPosition }, RealignRefusal>>;
  readonly realign: (request: RealignRequest) => Promise<Result<Realignment, RealignRefusal>>;
}

/** The dependencies of {@link ServicePositions}. */
export interface ServicePositionsDeps {
  readonly client: MongoClient;
  readonly db: Db;
  readonly positions: Pick<Positions, 'bounds' | 'places'>;
  readonly group: string;
  readonly topicPrefix: string;
  /** The consumed topics by their full names. */
  readonly consumed: ReadonlyMap<string, TopicName>;
  readonly clock: Clock;
}

type RealignmentDocument = Omit<Realignment, 'id'> & { readonly _id: string };

/** Somebody else has moved the position since it was read. */
class MovedError extends Error {
  override readonly name = 'MovedError';
}

/** Builds {@link ServicePositions}. */
export function createServicePositions(deps: ServicePositionsDeps): ServicePositions {
  const { client, db, consumed, clock } = deps;
  const realignments = db.collection<RealignmentDocument>('realignments');
  const look = createLook(deps, offsetsOf(db), realignments);

  const plan: ServicePositions['plan'] = async (place, isRepaired = false) => {
    const [seen] = (await isConsumed(deps, place)) ? await look([place]) : [];
    if (!seen) return refuse('realign.unknown');
    const planned = planRealignment(seen, seen.position, isRepaired);
    return planned.ok ? accept({ ...planned.value, seen }) : planned;
  };

  return {
    plan,
    list: async () => (consumed.size === 0 ? [] : look(await deps.positions.places([...consumed.keys()]))),
    realign: async ({ topic, partition, reason, by: requestedBy, isRepaired }) => {
      const planned = await plan({ topic, partition }, isRepaired);
      if (!planned.ok) return planned;
      const { seen, ...foreseen } = planned.value;
      const { id, stored } = seen;
      const by = { reason, requestedBy, at: new Date(clock.nowMs()) };
      const { id: _id, ...document } = { ...foreseen, id, from: stored?.next ?? null, ...by };
      try {
        await client.withSession((session) =>
          session.withTransaction(async () => {
            await moveOffset(db, seen, document, session);
            await realignments.replaceOne({ _id }, document, { upsert: true, session });
          }, transactionOptions),
        );
      } catch (error) {
        if (error instanceof MovedError || isDuplicateKey(error)) return refuse('realign.moved');
        throw error;
      }
      return accept({ ...document, id });
    },
  };
}

const idOf = (group: string, { topic, partition }: TopicPartition): string =>
  `${group}/${topic}/${partition}`;
const fromDocument = ({ _id, ...document }: RealignmentDocument): Realignment => ({ id: _id, ...document });

async function isConsumed(
  { consumed, positions }: ServicePositionsDeps,
  { topic, partition }: TopicPartition,
): Promise<boolean> {
  if (!consumed.has(topic)) return false;
  return (await positions.places([topic])).some((place) => place.partition === partition);
}

/** Builds the function that reads where partitions stand. */
function createLook(
  { group, topicPrefix, positions, consumed }: ServicePositionsDeps,
  offsets: Collection<ConsumerOffset>,
  realignments: Collection<RealignmentDocument>,
): (places: readonly TopicPartition[]) => Promise<readonly PartitionPosition[]> {
  const storedOf = (places: readonly TopicPartition[]) =>
    Promise.all(places.map((place) => findOffset(offsets, idOf(group, place))));

  return async (places) => {
    const before = await storedOf(places);
    const all = await positions.bounds(topicPrefix + group, places);
    const after = await storedOf(places);
    const ids = places.map((place) => idOf(group, place));
    const noted = await realignments.find({ _id: { $in: ids } }).toArray();
    const lastById = new Map(noted.map((document) => [document._id, fromDocument(document)]));
    return all.flatMap((bounds, index): PartitionPosition[] => {
      const topic = consumed.get(bounds.topic);
      if (!topic) return [];
      const id = idOf(group, bounds);
      const stored = after[index] ?? null;
      const standing = { group, stored, bounds, partitions: topics[topic].partitions };
      // A position that moved while it was read is fine. It can't be compared with Kafka's bounds, which are of an
      // earlier moment.
      const moves = stored !== null && stored.next !== before[index]?.next;
      const position = moves ? ({ kind: 'continues', next: stored.next } as const) : checkPosition(standing);
      return [{ ...standing, stored, id, position, realignment: lastById.get(id) ?? null }];
    });
  };
}

/** Moves a position to a realignment's target, unless it has moved since it was read. */
async function moveOffset(
  db: Db,
  { id, stored, bounds }: PartitionPosition,
  { next, requestedBy }: Pick<Realignment, 'next' | 'requestedBy'>,
  session: ClientSession,
): Promise<void> {
  const { committed, topicId } = bounds;
  const offsets = offsetsOf(db);
  const discarded = await findDiscardedEventIds(db, bounds, session);
  const moved: Omit<ConsumerOffset, '_id'> = {
    next,
    topicId,
    owner: `operator ${requestedBy}`,
    ...(committed !== undefined && { acceptedCommitted: committed }),
    ...(discarded.length > 0 && { discarded }),
  };
  if (stored === null) {
    await offsets.insertOne({ _id: id, ...moved }, { session });
    return;
  }
  const at = { _id: id, next: stored.next, topicId: stored.topicId };
  const { matchedCount } = await offsets.replaceOne(at, moved, { session });
  if (matchedCount === 0) throw new MovedError(`${id} is not where it was`);
}
