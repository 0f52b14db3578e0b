import { eventIdFrom } from '@pesewa/kernel';
import type { AvroPayload, AvroRecord, FullName } from './avro.ts';
import type { parkedEvents } from './operations.ts';
import type { TopicEvent, TopicName } from './topics.ts';

type Parked<Schema> = Schema extends AvroRecord
  ? { readonly type: FullName<Schema>; readonly payload: AvroPayload<Schema> }
  : never;

/** Every event that is published, on whichever topic. */
export type PublishedEvent = TopicEvent<TopicName> | Parked<(typeof parkedEvents)[number]>;

/** The full record name of an event. */
export type EventType = PublishedEvent['type'];

type PayloadOf<Type extends EventType> = Extract<PublishedEvent, { readonly type: Type }>['payload'];

/**
 * What distinguishes an event from every other one of its type: fields of its payload, and `version`, the one of its header.
 * `own`: the id is given, being that of the command that the event carries.
 */
type Identity<Type extends EventType> =
  | 'own'
  | readonly (Exclude<keyof PayloadOf<Type>, 'eventId'> | 'version')[];

const PAYMENT = ['reference'] as const;
const COMMAND = ['commandId'] as const;
const DELIVERY = ['deliveryId', 'attempts'] as const;
const BREAK = ['breakId', 'version'] as const;

/** From what the id of each event is derived (ADR 37). What can happen once to a payment needs no more than its reference. */
export const eventIdentities = {
  'pesewa.payouts.PayoutAccepted': PAYMENT,
  'pesewa.payouts.PayoutSubmitted': ['reference', 'attempt', 'answer', 'refused'],
  'pesewa.payouts.PayoutCompleted': PAYMENT,
  'pesewa.payouts.PayoutFailed': PAYMENT,
  'pesewa.payouts.PayoutReversed': PAYMENT,
  'pesewa.collections.CollectionInitiated': PAYMENT,
  // A try that is given back is made again under its number.
  'pesewa.collections.CollectionCompletionRequested': ['reference', 'attempt', 'version'],
  'pesewa.collections.CollectionCompletionClosed': ['reference', 'version'],
  'pesewa.collections.CollectionCompleted': PAYMENT,
  'pesewa.collections.CollectionFailed': PAYMENT,
  'pesewa.ledger.FundWallet': 'own',
  'pesewa.ledger.FundFloat': 'own',
  'pesewa.ledger.WithdrawWallet': 'own',
  'pesewa.ledger.WithdrawFloat': 'own',
  'pesewa.ledger.AdjustWallet': 'own',
  'pesewa.ledger.BookSuspense': 'own',
  'pesewa.ledger.HoldPlaced': PAYMENT,
  'pesewa.ledger.HoldRefused': PAYMENT,
  'pesewa.ledger.HoldCaptured': PAYMENT,
  'pesewa.ledger.HoldReleased': PAYMENT,
  'pesewa.ledger.CollectionCredited': PAYMENT,
  'pesewa.ledger.PayoutRefunded': PAYMENT,
  'pesewa.ledger.WalletFunded': COMMAND,
  'pesewa.ledger.FloatFunded': COMMAND,
  'pesewa.ledger.WalletWithdrawn': COMMAND,
  'pesewa.ledger.FloatWithdrawn': COMMAND,
  'pesewa.ledger.WalletAdjusted': COMMAND,
  'pesewa.ledger.SuspenseBooked': COMMAND,
  'pesewa.ledger.CommandRefused': COMMAND,
  // A ledger that was restored may write another page under the same number.
  'pesewa.ledger.PageWritten': ['chain', 'number', 'hash'],
  'pesewa.ledger.OrderDecided': ['commandId', 'status'],
  // A ledger that was restored may come to other balances under the same number.
  'pesewa.wallets.WalletBalanceChanged': ['merchantId', 'currency', 'sequence', 'available', 'held'],
  'pesewa.rails.CallbackReceived': ['rail', 'kind', 'reference', 'digest', 'proven', 'occurredAt'],
  'pesewa.rails.RailStatusObserved': [
    'rail',
    'reference',
    'source',
    'polledAt',
    'status',
    'amount',
    'fee',
    'reason',
  ],
  'pesewa.rails.CollectionAmountDecided': ['breakId', 'amount', 'railFee', 'occurredAt'],
  'pesewa.rails.PayoutOutcomeDecided': ['breakId', 'outcome', 'railFee', 'proposedAt', 'occurredAt'],
  'pesewa.rails.RepublishRequested': ['reference', 'step', 'occurredAt'],
  'pesewa.reconciliation.StuckSettled': PAYMENT,
  'pesewa.reconciliation.BreakOpened': BREAK,
  'pesewa.reconciliation.BreakAssigned': BREAK,
  'pesewa.reconciliation.BreakExplained': BREAK,
  'pesewa.reconciliation.BreakResolved': BREAK,
  'pesewa.reconciliation.DriftMeasured': ['runId'],
  'pesewa.webhooks.WebhookDelivered': DELIVERY,
  'pesewa.webhooks.WebhookExhausted': DELIVERY,
  'pesewa.messaging.MessageParked': ['consumerGroup', 'topic', 'partition', 'offset'],
} as const satisfies { readonly [Type in EventType]: Identity<Type> };

/** What the id of an event is made of: its type, and what it says. */
export interface Identifiable {
  readonly type: EventType;
  readonly payload: object;
  /** Of its header `aggregate-version`. */
  readonly version: bigint;
}

/**
 * The id of an event, derived from its type and from what {@link eventIdentities} names of it; so a reader who knows these
 * can tell which event it was.
 *
 * @throws TypeError where a named field is missing, and for commands, which bring ids of their own
 */
export function eventIdOf({ type, payload, version }: Identifiable): string {
  const identity = eventIdentities[type];
  if (identity === 'own') throw new TypeError(`${type} brings its own id`);
  const fields = payload as Readonly<Record<string, unknown>>;
  let meaning: string = type;
  for (const name of identity) meaning += partOf(type, name, name === 'version' ? version : fields[name]);
  return eventIdFrom(meaning);
}

/** Each part with its length, so that no two rows of parts read the same. */
function partOf(type: EventType, name: string, value: unknown): string {
  if (value === null) return ' null';
  if (typeof value !== 'string' && !isPlain(value)) throw new TypeError(`${type} has no ${name}`);
  const text = value.toString();
  return ` ${text.length}:${text}`;
}

function isPlain(value: unknown): value is bigint | number | boolean {
  return typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean';
}
