import type { PageCursor } from '@pesewa/contracts';
import type { KafkaMessage } from '@pesewa/kafka';
import { Binary, type ClientSession, type Collection, type Db, type Filter } from 'mongodb';
import { afterCursor, nextCursor } from '../database/cursor-pagination.ts';
import type { MessageContent, ParkedMessage, ParkedState } from './parked-message.ts';
import { headerOf } from './topic-handler.ts';

/** A parked message with the content to read it from again; without it if the message was too large to keep. */
export interface StoredParkedMessage extends ParkedMessage {
  readonly kept: MessageContent | null;
  /** How often it was changed. A change is written only if this number is still the same. */
  readonly changes: number;
}

/** Which parked messages a list shows, the newest first. */
export interface ParkedQuery {
  readonly state?: ParkedState | undefined;
  readonly topic?: string | undefined;
  /** Only those that wait for people, and that it is proposed to discard. */
  readonly isProposed?: boolean;
  readonly after?: PageCursor | undefined;
  readonly limit: number;
}

/** A page of a list, and the cursor of the next one. */
export interface ParkedPage {
  readonly items: readonly ParkedMessage[];
  readonly next: PageCursor | null;
}

/** The parked messages of a service's database. */
export type ParkedStore = ReturnType<typeof openParkedStore>;

/** A parked message as MongoDB holds it. */
type ParkedDocument = Omit<StoredParkedMessage, 'id' | 'kept'> & {
  readonly _id: string;
  readonly kept: (Omit<MessageContent, 'value'> & { readonly value: Binary | null }) | null;
};

/** Opens the store. */
export function openParkedStore(db: Db) {
  const collection = db.collection<ParkedDocument>('parked');
  const find = async (id: string, session?: ClientSession): Promise<StoredParkedMessage | undefined> => {
    const found = await collection.findOne({ _id: id }, { ...(session && { session }) });
    return found ? fromDocument(found) : undefined;
  };
  return {
    find,
    /** Stores a message; if it is stored already, its record stays as it is. */
    add: async (message: StoredParkedMessage, session: ClientSession) => {
      const stored = await find(message.id, session);
      // The same message comes again after its position was set back. A different one at this place means that the
      // topic was created anew.
      if (stored && isSame(stored, message)) return;
      await collection.replaceOne({ _id: message.id }, toDocument(message), { upsert: true, session });
    },
    /** Writes a change; false if somebody else has written one since. */
    replace: async (
      { id: _id, changes }: StoredParkedMessage,
      after: StoredParkedMessage,
      session?: ClientSession,
    ) => {
      const next = toDocument({ ...after, changes: changes + 1 });
      const { matchedCount } = await collection.replaceOne({ _id, changes }, next, {
        ...(session && { session }),
      });
      return matchedCount === 1;
    },
    /**
     * Discards the other copies of a discarded event in its partition, which exist if it was published and parked again.
     */
    discardCopies: async (
      { id, topic, partition, eventId, discard }: StoredParkedMessage,
      session: ClientSession,
    ) => {
      const copies = { _id: { $ne: id }, state: 'parked', topic, partition, eventId } as const;
      await collection.updateMany(
        copies,
        { $set: { state: 'discarded', discard }, $inc: { changes: 1 } },
        { session },
      );
    },
    list: (query: ParkedQuery): Promise<ParkedPage> => list(collection, query),
    /** How many messages wait, by topic. */
    countWaiting: async (timeoutMs: number): Promise<ReadonlyMap<string, number>> => {
      const counts = collection.aggregate<{ readonly _id: string; readonly count: number }>(
        [{ $match: { state: 'parked' } }, { $group: { _id: '$topic', count: { $count: {} } } }],
        { maxTimeMS: timeoutMs },
      );
      return new Map((await counts.toArray()).map(({ _id, count }) => [_id, Number(count)]));
    },
  };
}

/** The ids of the events of a partition that were discarded. */
export function findDiscardedEventIds(
  db: Db,
  { topic, partition }: Pick<ParkedMessage, 'topic' | 'partition'>,
  session: ClientSession,
): Promise<readonly string[]> {
  const discarded = { state: 'discarded', topic, partition, eventId: { $ne: '' } } as const;
  return db.collection<ParkedDocument>('parked').distinct('eventId', discarded, { session });
}

async function list(
  collection: Collection<ParkedDocument>,
  { state, topic, isProposed, after, limit }: ParkedQuery,
): Promise<ParkedPage> {
  const filter: Filter<ParkedDocument> = {
    ...(state !== undefined && { state }),
    ...(topic !== undefined && { topic }),
    ...(isProposed && { state: 'parked', 'discard.status': 'proposed' }),
    ...afterCursor('parkedAt', after),
  };
  const page = { sort: { parkedAt: -1, _id: -1 }, limit, projection: { 'kept.value': 0 } } as const;
  const found = await collection.find(filter, page).toArray();
  return {
    items: found.map(({ _id, kept: _kept, ...message }) => ({ id: _id, ...message })),
    next: nextCursor(found, limit, ({ parkedAt }) => parkedAt),
  };
}

function isSame(one: StoredParkedMessage, other: StoredParkedMessage): boolean {
  const bytes = ({ kept }: StoredParkedMessage) => Buffer.from(kept?.value ?? []);
  return (
    one.eventId === other.eventId &&
    one.eventType === other.eventType &&
    one.key === other.key &&
    one.valueBytes === other.valueBytes &&
    bytes(one).equals(bytes(other))
  );
}

function toDocument({ id, kept, ...message }: StoredParkedMessage): ParkedDocument {
  const value = kept?.value ?? null;
  return { _id: id, ...message, kept: kept && { ...kept, value: value && new Binary(value) } };
}

function fromDocument({ _id, kept, ...message }: ParkedDocument): StoredParkedMessage {
  return { id: _id, ...message, kept: kept && { ...kept, value: kept.value && kept.value.value() } };
}

/** The headers of a message that a handler needs. */
const HEADERS = ['event-id', 'event-type', 'aggregate-version', 'causation-id', 'traceparent'];
/** No topic of ours accepts a larger message. Larger ones from elsewhere must not fill the database. */
const KEPT_BYTES_MAX = 1_048_576;
const SHOWN_LENGTH_MAX = 200;

/**
 * The part of a parked message's record that comes from the message itself, with the id of the event it was read as.
 */
export function keepMessage(
  message: Pick<KafkaMessage, 'key' | 'value' | 'headers'>,
  eventId: string,
): Pick<StoredParkedMessage, 'key' | 'eventType' | 'eventId' | 'valueBytes' | 'kept'> {
  const key = message.key?.toString() ?? '';
  const headers = Object.fromEntries(
    HEADERS.flatMap((name) =>
      message.headers?.[name] === undefined ? [] : [[name, headerOf(message, name)]],
    ),
  );
  const valueBytes = message.value?.length ?? 0;
  const bytes = valueBytes + Buffer.byteLength(key) + Buffer.byteLength(Object.values(headers).join(''));
  const shown = (text: string) => text.slice(0, SHOWN_LENGTH_MAX);
  return {
    key: shown(key),
    eventType: shown(headers['event-type'] ?? ''),
    eventId: shown(eventId),
    valueBytes,
    kept: bytes > KEPT_BYTES_MAX ? null : { key, headers, value: message.value },
  };
}

/** A kept message in the form in which Kafka gave it. */
export function toKafkaMessage(offset: bigint, { key, headers, value }: MessageContent): KafkaMessage {
  return {
    key: Buffer.from(key),
    value: value && Buffer.from(value),
    headers,
    offset: String(offset),
    timestamp: '0',
    attributes: 0,
  };
}
