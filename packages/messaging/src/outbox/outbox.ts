import { eventIdOf, type TopicEvent, type TopicName } from '@pesewa/contracts';
import { varIntReader, varIntSize, writeVarInt } from '@pesewa/kafka';
import { Binary, type ClientSession, type Collection, type Db, type FindOptions } from 'mongodb';
import { LATEST } from '../database/mongo.ts';

/** A payload without its id. An event that carries a command keeps the id, which is the command's. */
type Unidentified<Event> = Event extends { readonly type: string; readonly payload: object }
  ? {
      readonly type: Event['type'];
      readonly payload: Omit<Event['payload'], 'eventId'> & { readonly eventId?: string };
    }
  : never;

/** An event to publish: its topic, key and payload, and the event that caused it. Its id is derived from them. */
export type OutgoingEvent = {
  [Name in TopicName]: Unidentified<TopicEvent<Name>> & {
    readonly topic: Name;
    readonly key: string;
    /** The version of the payment, or the sequence of the wallet, after this event. */
    readonly version: bigint;
    /** The id of the event that caused this one; null if a request from outside did. */
    readonly causationId: string | null;
    /** The trace of the event (W3C); if left out, the trace of the event that caused it, or a new one. */
    readonly traceparent?: string;
  };
}[TopicName];

/** What made something happen to a payment: the event behind it, and when it was recorded. */
export interface Cause {
  readonly causationId: string | null;
  readonly atMs: number;
}

/** The id that the event is published under. */
export function idOf(event: OutgoingEvent): string {
  return event.payload.eventId ?? eventIdOf(event);
}

/** The outbox of a service's database. */
export function outboxOf(db: Db): Outbox {
  return db.collection<OutboxRecordDocument>('outbox');
}

/** When the oldest record of an outbox was written; undefined if none waits. */
export async function oldestOf(outbox: Outbox, timeoutMs: number): Promise<Date | undefined> {
  // The natural order is nearly that of insertion. An index for this one time would slow down every commit.
  const order = { sort: { $natural: 1 }, projection: { createdAt: 1 }, maxTimeMS: timeoutMs } as const;
  return (await outbox.findOne({}, order))?.createdAt;
}

/** A transaction in progress: its session, and the events that are published if it commits. */
export interface Transaction {
  readonly session: ClientSession;
  /**
   * Adds an event to the transaction's outbox record. It is encoded at once, so a malformed one aborts the transaction.
   * `traceparent` is used if the event has none.
   */
  readonly emit: (event: OutgoingEvent, traceparent?: string) => void;
  /** Runs the action once the transaction has committed; it must not fail. */
  readonly afterCommit: (action: () => void) => void;
  /**
   * Runs the action if this run of the transaction leaves nothing behind or its outcome is unknown, before it runs
   * again; it must not fail.
   */
  readonly afterRollback: (action: () => void) => void;
}

/** A message as Kafka will store it; its bytes are written inside the transaction. */
export interface EncodedMessage {
  readonly topic: string;
  readonly key: string;
  /** Key, value and headers, as a record of a Kafka batch holds them. */
  readonly body: Buffer;
}

/** All the messages of one transaction. */
export interface OutboxRecord {
  /** `<source>#<sequence>`, further parts with `.<part>`: sorts by sequence within its source. */
  readonly _id: string;
  readonly messages: readonly EncodedMessage[];
  readonly createdAt: Date;
}

/** An outbox record as MongoDB holds it: one document, its messages packed, deleted once they are sent. */
export interface OutboxRecordDocument {
  readonly _id: string;
  readonly createdAt: Date;
  /** How many messages are packed. */
  readonly count: number;
  readonly topics: readonly string[];
  /** For each message: the number of its topic, the length of its body, and the body as Kafka will store it. */
  readonly packed: Binary;
}

/**
 * Builds the stored form of an outbox record. It is packed, because thousands of small fields would cost more than the
 * messages themselves.
 */
export function packOutboxRecord({ _id, messages, createdAt }: OutboxRecord): OutboxRecordDocument {
  const topics: string[] = [];
  let bytes = 0;
  for (const { topic, body } of messages) {
    if (!topics.includes(topic)) topics.push(topic);
    bytes += varIntSize(topics.indexOf(topic)) + varIntSize(body.length) + body.length;
  }
  const packed = Buffer.allocUnsafe(bytes);
  let at = 0;
  for (const { topic, body } of messages) {
    at = writeVarInt(packed, topics.indexOf(topic), at);
    at = writeVarInt(packed, body.length, at);
    packed.set(body, at);
    at += body.length;
  }
  return { _id, createdAt, count: messages.length, topics, packed: new Binary(packed) };
}

/** Rebuilds an outbox record from its stored form. */
export function unpackOutboxRecord({
  _id,
  createdAt,
  count,
  topics,
  packed,
}: OutboxRecordDocument): OutboxRecord {
  const bytes = Buffer.from(packed.buffer);
  const reader = varIntReader(bytes, 0);
  const messages = Array.from({ length: count }, (): EncodedMessage => {
    const topic = topics[reader.next()];
    const length = reader.next();
    const body = bytes.subarray(reader.at, reader.at + length);
    reader.at += Math.max(0, length);
    if (topic === undefined || reader.at > bytes.length)
      throw new RangeError(`the outbox record ${_id} is not what was packed`);
    return { topic, key: keyOf(body), body };
  });
  return { _id, createdAt, messages };
}

function keyOf(body: Buffer): string {
  const reader = varIntReader(body, 0);
  const length = reader.next();
  return body.toString('utf8', reader.at, reader.at + length);
}

/** The outbox of a service. */
export type Outbox = Collection<OutboxRecordDocument>;

/**
 * Reads outbox records by their ids, in the order of these; undefined for one that was removed, because another process
 * has sent it. A new primary that does not know of it yet does not look as if it were removed: newer ones would overtake
 * it.
 */
export async function readOutboxRecords(
  outbox: Outbox,
  ids: readonly string[],
): Promise<readonly (OutboxRecord | undefined)[]> {
  const read = (options?: FindOptions) => outbox.find({ _id: { $in: [...ids] } }, options).toArray();
  const found = await read();
  const certain = found.length < ids.length ? await read(LATEST) : found;
  const byId = new Map(certain.map((document) => [document._id, unpackOutboxRecord(document)]));
  return ids.map((id) => byId.get(id));
}

const SEQUENCE_DIGITS = 16;
const PART_DIGITS = 4;

/** The id of an outbox record: unique by source, sequence and part, and sorted by them. */
export function outboxRecordId(source: string, sequence: number, part = 0): string {
  const id = `${source}#${String(sequence).padStart(SEQUENCE_DIGITS, '0')}`;
  return part === 0 ? id : `${id}.${String(part).padStart(PART_DIGITS, '0')}`;
}

/** Less than a broker's limit for one batch of one partition (1 MiB), even if all of it goes to one partition. */
export const OUTBOX_RECORD_BYTES_MAX = 900 * 1_024;

/** The most that a record takes in addition to its body: its length, attributes and deltas. */
const OVERHEAD_BYTES = 16;

/** The most bytes that a message takes on its way to Kafka. */
function sizeOf(message: EncodedMessage): number {
  return message.body.length + OVERHEAD_BYTES;
}

/** The most bytes that messages take on their way to Kafka. */
export function bytesOf(messages: readonly EncodedMessage[]): number {
  let bytes = 0;
  for (const message of messages) bytes += sizeOf(message);
  return bytes;
}

/** Cuts the messages of a transaction into outbox records that a broker accepts, in their order. */
export function splitIntoOutboxRecords(
  origin: { readonly source: string; readonly sequence: number },
  messages: readonly EncodedMessage[],
  createdAt: Date,
): readonly OutboxRecord[] {
  const outboxRecords: OutboxRecord[] = [];
  const add = (part: readonly EncodedMessage[]) =>
    outboxRecords.push({
      _id: outboxRecordId(origin.source, origin.sequence, outboxRecords.length),
      messages: part,
      createdAt,
    });
  let first = 0;
  let end = 0;
  let room = OUTBOX_RECORD_BYTES_MAX;
  for (const message of messages) {
    const bytes = sizeOf(message);
    if (bytes > room && end > first) {
      add(messages.slice(first, end));
      first = end;
      room = OUTBOX_RECORD_BYTES_MAX;
    }
    room -= bytes;
    end += 1;
  }
  // Nearly always one outbox record has all of them, and nothing is copied.
  if (end > first) add(first === 0 ? messages : messages.slice(first));
  return outboxRecords;
}

/**
 * The source of a process's group commits with one name. A partition's source is its group, topic and number instead.
 */
export function groupCommitSource(name: string, owner: string): string {
  return `commit/${name}/${owner}`;
}

/** The source of an outbox record, by its id. */
export function sourceOf(id: string): string {
  return id.slice(0, id.lastIndexOf('#'));
}

/** The process that made the group commits of a source. */
export function ownerOf(source: string): string {
  return source.slice(source.lastIndexOf('/') + 1);
}

/** Whether the sweeper may send an outbox record; a partition's outbox records are sent by the partition's owner only. */
export function isGroupCommit(id: string): boolean {
  return id.startsWith('commit/');
}

/** The filter for the outbox records of all group commits, which is all outbox records but those of partitions. */
export const recordsOfGroupCommits = { _id: { $gte: 'commit/', $lt: 'commit0' } };

/** The filter of all outbox records of one source. */
export function outboxRecordsOf(source: string) {
  return { _id: { $gte: `${source}#`, $lt: `${source}$` } };
}
