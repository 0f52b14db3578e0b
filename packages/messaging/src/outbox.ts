import { eventIdOf, type TopicEvent, type TopicName } from '@pesewa/contracts';
import type { ClientSession, Db } from 'mongodb';
import type { BundleDocument, Outbox } from './bundle.ts';

/** A payload without its id, which is given only where it is that of the command which the event carries. */
type Unidentified<Event> = Event extends { readonly type: string; readonly payload: object }
  ? {
      readonly type: Event['type'];
      readonly payload: Omit<Event['payload'], 'eventId'> & { readonly eventId?: string };
    }
  : never;

/** An event on its way out: its topic and key, its payload, and what it follows from; its id is derived from them. */
export type OutgoingEvent = {
  [Name in TopicName]: Unidentified<TopicEvent<Name>> & {
    readonly topic: Name;
    readonly key: string;
    /** The version of the payment, or the sequence of the wallet, after this event. */
    readonly version: bigint;
    /** The id of the event that caused this one; null for a request from outside. */
    readonly causationId: string | null;
    /** The trace that it belongs to (W3C); by default that of the event that caused it, or else a new one. */
    readonly traceparent?: string;
  };
}[TopicName];

/** Where what happened to a payment comes from: the event behind it, and when it was recorded. */
export interface Occasion {
  readonly causationId: string | null;
  readonly atMs: number;
}

/** The id that the event goes out under. */
export function idOf(event: OutgoingEvent): string {
  return event.payload.eventId ?? eventIdOf(event);
}

/** The outbox of a service's database. */
export function outboxOf(db: Db): Outbox {
  return db.collection<BundleDocument>('outbox');
}

/** A transaction in progress: its session, and the events that go out if it commits. */
export interface Transaction {
  readonly session: ClientSession;
  /**
   * Adds an event to the transaction's bundle; it is encoded at once, so a malformed one aborts the transaction.
   * `traceparent` counts where the event names none.
   */
  readonly emit: (event: OutgoingEvent, traceparent?: string) => void;
  /** Runs the action once the transaction has committed; it must not fail. */
  readonly afterCommit: (action: () => void) => void;
}
