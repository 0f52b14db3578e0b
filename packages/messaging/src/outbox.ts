import { type TopicEvent, type TopicName, topics } from '@pesewa/contracts';
import { Binary, type ClientSession, type Collection, type Db } from 'mongodb';
import type { Codec } from './codec.ts';

/** An event on its way out: its topic and key, its payload, and what it follows from. */
export type OutgoingEvent = {
  [Name in TopicName]: TopicEvent<Name> & {
    readonly topic: Name;
    readonly key: string;
    /** The version of the payment, or the sequence of the wallet, after this event. */
    readonly version: bigint;
    /** The id of the event that caused this one; null for a request from outside. */
    readonly causationId: string | null;
  };
}[TopicName];

/** A message as it will stand in Kafka; its bytes are born in the transaction. */
export interface EncodedMessage {
  readonly topic: string;
  readonly key: string;
  readonly value: Binary;
  readonly headers: Readonly<Record<string, string>>;
}

/** All the messages of one transaction: one document, deleted once they are sent. */
export interface Bundle {
  /** `<source>#<sequence>`: sorts by sequence within its source. */
  readonly _id: string;
  readonly messages: readonly EncodedMessage[];
  readonly createdAt: Date;
}

/** The outbox of a service's database. */
export function outboxOf(db: Db): Collection<Bundle> {
  return db.collection<Bundle>('outbox');
}

const SEQUENCE_DIGITS = 16;

/** The id of a bundle: unique by source and sequence, and sorted by them. */
export function bundleId(source: string, sequence: number): string {
  return `${source}#${String(sequence).padStart(SEQUENCE_DIGITS, '0')}`;
}

/** The filter of all bundles of one source. */
export function bundlesOf(source: string) {
  return { _id: { $gte: `${source}#`, $lt: `${source}$` } };
}

/** A transaction in progress: its session, and the events that go out if it commits. */
export interface Transaction {
  readonly session: ClientSession;
  /** Adds an event to the transaction's bundle; it is encoded at once, so a malformed one aborts the transaction. */
  readonly emit: (event: OutgoingEvent) => void;
  /** Runs the action once the transaction has committed; it must not fail. */
  readonly afterCommit: (action: () => void) => void;
}

/** Encodes an event with its headers (design 2). */
export function encodeEvent(codec: Codec, topicPrefix: string, event: OutgoingEvent): EncodedMessage {
  const topic = topicPrefix + topics[event.topic].name;
  return {
    topic,
    key: event.key,
    value: new Binary(codec.encode(topic, event.type, event.payload)),
    headers: {
      'event-id': event.payload.eventId,
      'event-type': event.type,
      'aggregate-version': event.version.toString(),
      ...(event.causationId !== null && { 'causation-id': event.causationId }),
    },
  };
}
