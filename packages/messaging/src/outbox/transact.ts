import type { CrashPoint } from '@pesewa/runtime';
import type { MongoClient } from 'mongodb';
import { type Conflicts, runTransaction, type TransactionDeps } from '../database/transaction.ts';
import type { MessageEncoder } from './message-encoder.ts';
import {
  cutOutboxRecords,
  type EncodedMessage,
  type Outbox,
  type OutboxRecord,
  packOutboxRecord,
  type Transaction,
} from './outbox.ts';
import type { Relay } from './relay.ts';

/** The source of an outbox record and its place in that source's order. */
export interface OutboxRecordOrigin {
  readonly source: string;
  readonly sequence: number;
}

/** The outcome of a committed transaction, and a promise that resolves when its events are in Kafka. */
export interface Committed<Value> {
  readonly value: Value;
  readonly sent: Promise<void>;
}

/** A transaction that can also send messages that are encoded already. */
export interface RawTransaction extends Transaction {
  readonly send: (message: EncodedMessage) => void;
}

/**
 * Runs work in one majority transaction whose events are published if and only if it commits; conflicts are retried.
 */
export type Transact = <Value>(
  name: string,
  origin: OutboxRecordOrigin,
  work: (transaction: RawTransaction) => Promise<Value>,
  conflicts?: Conflicts,
) => Promise<Committed<Value>>;

/**
 * Builds {@link Transact}. The work may run more than once: a conflict or a lost connection reruns it, for some
 * seconds. So it may only read and write MongoDB through the session, and must never call the outside.
 */
export function createTransact(
  options: TransactionDeps & {
    readonly client: MongoClient;
    readonly outbox: Outbox;
    readonly relay: Relay;
    readonly encoder: MessageEncoder;
    readonly crashPoint: CrashPoint;
    /** Called with the types of the events that were committed and will be published. */
    readonly emitted: (types: readonly string[]) => void;
  },
): Transact {
  return async (name, origin, work, conflicts = 'retry') => {
    let messages: EncodedMessage[] = [];
    let actions: (() => void)[] = [];
    let outboxRecords: readonly OutboxRecord[] = [];
    let types: string[] = [];
    const value = await options.client.withSession((session) =>
      runTransaction(options, session, conflicts, async () => {
        messages = [];
        actions = [];
        types = [];
        const result = await work({
          session,
          emit: (event, traceparent) => {
            messages.push(options.encoder.event(event, traceparent));
            types.push(event.type);
          },
          send: (message) => void messages.push(message),
          afterCommit: (action) => void actions.push(action),
        });
        outboxRecords = cutOutboxRecords(origin, messages, new Date(options.clock.nowMs()));
        if (outboxRecords.length > 0)
          await options.outbox.insertMany(outboxRecords.map(packOutboxRecord), { session });
        options.crashPoint(`${name}.before-commit`);
        return result;
      }),
    );
    options.crashPoint(`${name}.after-commit`);
    for (const action of actions) action();
    options.emitted(types);
    const sent = Promise.all(outboxRecords.map(options.relay.send)).then(() => undefined);
    // Callers that need to know await `sent`; for all others the sweeper repeats a failed send.
    sent.catch(() => undefined);
    return { value, sent };
  };
}
