import type { TopicEvent, TopicName } from '@pesewa/contracts';
import type { ClientSession, Db } from 'mongodb';
import type { BundleDocument, Outbox } from './bundle.ts';

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

/** The outbox of a service's database. */
export function outboxOf(db: Db): Outbox {
  return db.collection<BundleDocument>('outbox');
}

/** A transaction in progress: its session, and the events that go out if it commits. */
export interface Transaction {
  readonly session: ClientSession;
  /** Adds an event to the transaction's bundle; it is encoded at once, so a malformed one aborts the transaction. */
  readonly emit: (event: OutgoingEvent) => void;
  /** Runs the action once the transaction has committed; it must not fail. */
  readonly afterCommit: (action: () => void) => void;
}
