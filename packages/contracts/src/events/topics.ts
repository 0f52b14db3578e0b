import { type AvroPayload, type AvroRecord, type FullName, fullName } from './avro.ts';
import { collectionEvents } from './collections.ts';
import { ledgerCommands, ledgerEvents, walletEvents } from './ledger.ts';
import { payoutEvents } from './payouts.ts';
import { collectionFacts, payoutFacts, railAvailability, railCallbacks } from './rails.ts';
import { reconciliationEvents } from './reconciliation.ts';
import { webhookEvents } from './webhooks.ts';

/** A topic: what it carries, how it is keyed and kept. The partition count is fixed for life. */
export interface Topic {
  readonly name: string;
  readonly key: string;
  readonly partitions: number;
  readonly cleanup: 'delete' | 'compact';
  readonly retentionDays: number;
  readonly events: readonly AvroRecord[];
}

const walletKey = 'wallet (`merchantId:currency`)';
const referenceKey = 'our transaction reference';
const PARTITIONS = 8;

/** Every topic between services (ARCHITECTURE.md). */
export const topics = {
  payouts: {
    name: 'payouts.events.v1',
    key: walletKey,
    partitions: PARTITIONS,
    cleanup: 'delete',
    retentionDays: 14,
    events: payoutEvents,
  },
  collections: {
    name: 'collections.events.v1',
    key: walletKey,
    partitions: PARTITIONS,
    cleanup: 'delete',
    retentionDays: 14,
    events: collectionEvents,
  },
  ledgerCommands: {
    name: 'ledger.commands.v1',
    key: walletKey,
    partitions: PARTITIONS,
    cleanup: 'delete',
    retentionDays: 14,
    events: ledgerCommands,
  },
  ledger: {
    name: 'ledger.events.v1',
    key: walletKey,
    partitions: PARTITIONS,
    cleanup: 'delete',
    retentionDays: 90,
    events: ledgerEvents,
  },
  wallets: {
    name: 'wallets.balances.v1',
    key: walletKey,
    partitions: PARTITIONS,
    cleanup: 'compact',
    retentionDays: 14,
    events: walletEvents,
  },
  railCallbacks: {
    name: 'rails.callbacks.v1',
    key: referenceKey,
    partitions: PARTITIONS,
    cleanup: 'delete',
    retentionDays: 14,
    events: railCallbacks,
  },
  payoutFacts: {
    name: 'rails.payout-facts.v1',
    key: referenceKey,
    partitions: PARTITIONS,
    cleanup: 'delete',
    retentionDays: 14,
    events: payoutFacts,
  },
  collectionFacts: {
    name: 'rails.collection-facts.v1',
    key: referenceKey,
    partitions: PARTITIONS,
    cleanup: 'delete',
    retentionDays: 14,
    events: collectionFacts,
  },
  railAvailability: {
    name: 'rails.availability.v1',
    key: '`kind:rail` or `kind:rail:operatorCode`',
    partitions: 2,
    cleanup: 'compact',
    retentionDays: 14,
    events: railAvailability,
  },
  reconciliation: {
    name: 'reconciliation.events.v1',
    key: '`reference`; of DriftMeasured `rail:currency`',
    partitions: 2,
    cleanup: 'delete',
    retentionDays: 90,
    events: reconciliationEvents,
  },
  webhooks: {
    name: 'webhooks.events.v1',
    key: '`merchantId`',
    partitions: 2,
    cleanup: 'delete',
    retentionDays: 14,
    events: webhookEvents,
  },
} as const satisfies Record<string, Topic>;

/** The name of a topic in {@link topics}. */
export type TopicName = keyof typeof topics;

type SchemaOf<Name extends TopicName> = (typeof topics)[Name]['events'][number];

type EventOf<Schema> = Schema extends AvroRecord
  ? { readonly type: FullName<Schema>; readonly payload: AvroPayload<Schema> }
  : never;

/** Every event of a topic as `{ type, payload }`, distinguished by its full record name. */
export type TopicEvent<Name extends TopicName> = EventOf<SchemaOf<Name>>;

/** Every schema of every topic, once, even if several topics carry it. */
export function allSchemas(): readonly AvroRecord[] {
  return [...new Set(Object.values<Topic>(topics).flatMap(({ events }) => events))];
}

/** The registry subject of a record on a topic: `<topic>-<full record name>`. */
export function subjectOf(topicName: string, schema: AvroRecord): string {
  return `${topicName}-${fullName(schema)}`;
}

/** The key of all events that move one wallet's money (ARCHITECTURE.md). */
export function walletKeyOf(merchantId: string, currency: string): string {
  return `${merchantId}:${currency}`;
}

/**
 * The dispatcher keeps a finished webhook for at least this many days. If a webhook is missing within that time, it
 * never existed.
 */
export const WEBHOOK_KEEP_DAYS_MIN = 30;

/** How a payment has ended, by the event that reports it. */
export const paymentEnds = {
  'pesewa.payouts.PayoutCompleted': 'completed',
  'pesewa.payouts.PayoutFailed': 'failed',
  'pesewa.payouts.PayoutReversed': 'reversed',
  'pesewa.collections.CollectionCompleted': 'completed',
  'pesewa.collections.CollectionFailed': 'failed',
} as const;

/**
 * The id of the webhook that a merchant is owed for an end of a payment. The service that sends it and those that check
 * for it derive the same id. It has no dot, because Standard Webhooks separates the signed parts by dots.
 */
export function webhookIdOf(reference: string, end: 'completed' | 'failed' | 'reversed'): string {
  return `${reference}-${end}`;
}
