import type { CrashPoint } from '@pesewa/runtime';
import type { MongoClient } from 'mongodb';
import { type Bundle, cutBundles, type EncodedMessage, type Outbox, packBundle } from './bundle.ts';
import type { MessageEncoder } from './message-encoder.ts';
import type { Transaction } from './outbox.ts';
import type { Relay } from './relay.ts';
import { type Conflicts, runTransaction, type TransactionDeps } from './transaction.ts';

/** Where a bundle comes from and where it stands in that source's order. */
export interface BundleOrigin {
  readonly source: string;
  readonly sequence: number;
}

/** What a committed transaction gave, and when its events have reached Kafka. */
export interface Committed<Value> {
  readonly value: Value;
  readonly sent: Promise<void>;
}

/** A transaction that may also send what is encoded already. */
export interface RawTransaction extends Transaction {
  readonly send: (message: EncodedMessage) => void;
}

/** Runs work in one majority transaction whose events go out if, and only if, it commits; conflicts are retried. */
export type Transact = <Value>(
  name: string,
  origin: BundleOrigin,
  work: (transaction: RawTransaction) => Promise<Value>,
  conflicts?: Conflicts,
) => Promise<Committed<Value>>;

/**
 * Builds {@link Transact}. The work may run more than once (a conflict or a lost connection reruns it, for some seconds), so it must do nothing but read and
 * write MongoDB through the session; never a call to the outside.
 */
export function createTransact(
  options: TransactionDeps & {
    readonly client: MongoClient;
    readonly outbox: Outbox;
    readonly relay: Relay;
    readonly encoder: MessageEncoder;
    readonly crashPoint: CrashPoint;
    /** Hears of the types of events that were committed, to be published. */
    readonly emitted: (types: readonly string[]) => void;
  },
): Transact {
  return async (name, origin, work, conflicts = 'retry') => {
    let messages: EncodedMessage[] = [];
    let actions: (() => void)[] = [];
    let bundles: readonly Bundle[] = [];
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
        bundles = cutBundles(origin, messages, new Date(options.clock.nowMs()));
        if (bundles.length > 0) await options.outbox.insertMany(bundles.map(packBundle), { session });
        options.crashPoint(`${name}.before-commit`);
        return result;
      }),
    );
    options.crashPoint(`${name}.after-commit`);
    for (const action of actions) action();
    options.emitted(types);
    const sent = Promise.all(bundles.map(options.relay.send)).then(() => undefined);
    // Whoever needs to know awaits `sent`; for everyone else the sweeper stands behind a failed send.
    sent.catch(() => undefined);
    return { value, sent };
  };
}
