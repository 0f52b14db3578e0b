import { eventIdOf, type TopicEvent, type TopicName } from '@pesewa/contracts';
import type { ClientSession, Db } from 'mongodb';
import type { Outbox, OutboxRecordDocument } from './outbox-record.ts';

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
export interface Occasion {
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
}
