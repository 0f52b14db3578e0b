import { type TopicName, topics } from '@pesewa/contracts';
import type { Positions, TopicPartition } from '@pesewa/kafka';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import type { ClientSession, Collection, Db, MongoClient } from 'mongodb';
import { isDuplicateKey, transactionOptions } from '../database/mongo.ts';
import { type ConsumerOffset, findOffset, offsetsOf } from '../inbox/offsets.ts';
import { findDiscardedEventIds } from '../inbox/parked-store.ts';
import { checkPosition, type Position, type PositionFacts } from '../inbox/position.ts';
import {
  checkRealignment,
  decideRealignment,
  type PlanRefusal,
  planRealignment,
  type Realignment,
  type RealignmentDecision,
  type RealignmentRefusal,
  type RealignPlan,
  type RealignTarget,
} from './realignment.ts';

/** A partition that a service consumes, as its database and Kafka have it. */
export interface PartitionPosition extends PositionFacts {
  /** `<group>/<topic>/<partition>` */
  readonly id: string;
  readonly stored: ConsumerOffset | null;
  readonly position: Position;
  /** Its last realignment. */
  readonly realignment: Realignment | null;
}

/** Where an operator wants a stopped partition to go on. */
export interface RealignRequest extends TopicPartition {
  readonly to: RealignTarget;
  readonly reason: string;
  readonly by: string;
}

/** Why an operator's request was refused; the position has not changed. */
export type RealignRefusal = PlanRefusal | RealignmentRefusal | 'realign.unknown' | 'realign.moved';

/**
 * The operators' actions on the positions of a service (ADR 43). Rejects while Kafka or the database does not answer.
 */
export interface ServicePositions {
  /** All of them, or those whose realignment is proposed: where none is, Kafka is not asked. */
  readonly list: (only?: 'proposed') => Promise<readonly PartitionPosition[]>;
  readonly plan: (
    place: TopicPartition,
    to: RealignTarget,
  ) => Promise<Result<RealignPlan & { readonly seen: PartitionPosition }, RealignRefusal>>;
  /** Realigns a stopped partition or, if that skips messages, proposes to. */
  readonly realign: (request: RealignRequest) => Promise<Result<Realignment, RealignRefusal>>;
  readonly decide: (
    place: TopicPartition,
    decision: RealignmentDecision,
  ) => Promise<Result<Realignment, RealignRefusal>>;
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

/** Somebody else has moved the position or decided since it was read. */
class MovedError extends Error {
  override readonly name = 'MovedError';
}

/** Builds {@link ServicePositions}. */
export function createServicePositions(deps: ServicePositionsDeps): ServicePositions {
  const offsets = offsetsOf(deps.db);
  const realignments = deps.db.collection<RealignmentDocument>('realignments');
  const look = createLook(deps, offsets, realignments);
  const now = () => new Date(deps.clock.nowMs());

  async function write(
    before: Realignment | null,
    after: Realignment,
    move?: PartitionPosition,
  ): Promise<Result<Realignment, RealignRefusal>> {
    try {
      await deps.client.withSession((session) =>
        session.withTransaction(async () => {
          if (move) await moveOffset(deps.db, move, after, session);
          await noteRealignment(realignments, before, after, session);
        }, transactionOptions),
      );
    } catch (error) {
      if (error instanceof MovedError || isDuplicateKey(error)) return refuse('realign.moved');
      throw error;
    }
    return accept(after);
  }

  const plan: ServicePositions['plan'] = async (place, to) => {
    const [seen] = (await isConsumed(deps, place)) ? await look([place]) : [];
    if (!seen) return refuse('realign.unknown');
    const planned = planRealignment(seen, seen.position, to);
    return planned.ok ? accept({ ...planned.value, seen }) : planned;
  };

  return {
    plan,
    list: async (only) => {
      const proposed = only && (await realignments.find({ status: only }).toArray()).map(({ _id }) => _id);
      if (proposed?.length === 0 || deps.consumed.size === 0) return [];
      const places = await deps.positions.places([...deps.consumed.keys()]);
      return look(places.filter((place) => proposed?.includes(idOf(deps.group, place)) ?? true));
    },
    realign: async ({ topic, partition, to, reason, by }) => {
      const planned = await plan({ topic, partition }, to);
      if (!planned.ok) return planned;
      const { seen, ...foreseen } = planned.value;
      const { topicId } = seen.bounds;
      const wanted = { ...foreseen, id: seen.id, topicId, from: fromOf(seen), reason };
      const made: Realignment = { ...wanted, requestedBy: by, at: now(), status: 'done' };
      if (foreseen.skipped === 0n) return write(seen.realignment, made, seen);
      const judged = checkRealignment(seen.realignment, { ...made, status: 'proposed' });
      if (!judged.ok) return judged;
      return judged.value === 'repeated' && seen.realignment
        ? accept(seen.realignment)
        : write(seen.realignment, { ...made, status: 'proposed' });
    },
    decide: async (place, decision) => {
      const id = idOf(deps.group, place);
      const found = await realignments.findOne({ _id: id });
      const decided = decideRealignment(found && fromDocument(found), { ...decision, at: now() });
      if (!decided.ok) return decided;
      const { realignment, isFresh } = decided.value;
      if (!isFresh) return accept(realignment);
      if (decision.verdict === 'reject') return write(found && fromDocument(found), realignment);
      const planned = await plan(place, realignment.next);
      if (!planned.ok) return planned;
      const { seen } = planned.value;
      // A proposal is valid only for the topic and the position that it was made for.
      if (seen.bounds.topicId !== realignment.topicId || fromOf(seen) !== realignment.from)
        return refuse('realign.moved');
      return write(found && fromDocument(found), realignment, seen);
    },
  };
}

const idOf = (group: string, { topic, partition }: TopicPartition): string =>
  `${group}/${topic}/${partition}`;
const fromOf = ({ stored }: PartitionPosition): bigint | null => stored?.next ?? null;
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
    const noted = await realignments
      .find({ _id: { $in: places.map((place) => idOf(group, place)) } })
      .toArray();
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

/** Writes the new state of a realignment, unless somebody else has written one since it was read. */
async function noteRealignment(
  realignments: Collection<RealignmentDocument>,
  before: Realignment | null,
  { id: _id, ...document }: Realignment,
  session: ClientSession,
): Promise<void> {
  if (before === null) {
    await realignments.insertOne({ _id, ...document }, { session });
    return;
  }
  const { status, at } = before;
  const { matchedCount } = await realignments.replaceOne({ _id, status, at }, document, { session });
  if (matchedCount === 0) throw new MovedError(`the realignment of ${_id} is not what it was`);
}

/** Moves a position to a realignment's target, unless it has moved since it was read. */
async function moveOffset(
  db: Db,
  { id, stored, bounds }: PartitionPosition,
  { next, topicId, requestedBy }: Realignment,
  session: ClientSession,
): Promise<void> {
  const { committed } = bounds;
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
