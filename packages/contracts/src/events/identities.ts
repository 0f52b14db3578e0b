import { eventIdFrom } from '@pesewa/kernel';
import type { TopicEvent, TopicName } from './topics.ts';

/** Every event that is published, on any topic. */
export type PublishedEvent = TopicEvent<TopicName>;

/** The full record name of an event. */
export type EventType = PublishedEvent['type'];

type PayloadOf<Type extends EventType> = Extract<PublishedEvent, { readonly type: Type }>['payload'];

/**
 * The fields that distinguish an event from all others of its type: fields of its payload, and `version`, which is in
 * its header. `own`: the event carries a command and has the command's id.
 */
type Identity<Type extends EventType> =
  | 'own'
  | readonly (Exclude<keyof PayloadOf<Type>, 'eventId'> | 'version')[];

const PAYMENT = ['reference'] as const;
const COMMAND = ['commandId'] as const;
const DELIVERY = ['deliveryId', 'attempts'] as const;
const BREAK = ['breakId', 'version'] as const;
// Each happens at most once to a time without success.
const ENDPOINT = ['merchantId', 'endpoint', 'failingSince'] as const;

/**
 * The fields that the id of each event is derived from (ADR 37). What can happen to a payment only once needs only its
 * reference.
 */
export const eventIdentities = {
  'pesewa.payouts.PayoutAccepted': PAYMENT,
  'pesewa.payouts.PayoutSubmitted': ['reference', 'attempt', 'answer', 'refused'],
  'pesewa.payouts.PayoutCompleted': PAYMENT,
  'pesewa.payouts.PayoutFailed': PAYMENT,
  'pesewa.payouts.PayoutReversed': PAYMENT,
  'pesewa.collections.CollectionInitiated': PAYMENT,
  // A completion that is given back and then made again has the same number.
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
  // A restored ledger may write another page with the same number.
  'pesewa.ledger.PageWritten': ['chain', 'number', 'hash'],
  'pesewa.ledger.OrderDecided': ['commandId', 'status'],
  // A restored ledger may reach other balances with the same number.
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
  'pesewa.rails.RailAvailabilityReported': ['kind', 'rail', 'operatorCode', 'status', 'occurredAt'],
  'pesewa.reconciliation.StuckSettled': PAYMENT,
  'pesewa.reconciliation.BreakOpened': BREAK,
  'pesewa.reconciliation.BreakResolved': BREAK,
  'pesewa.reconciliation.DriftMeasured': ['runId'],
  'pesewa.webhooks.WebhookDelivered': DELIVERY,
  'pesewa.webhooks.WebhookExhausted': DELIVERY,
  'pesewa.webhooks.WebhookDiscarded': DELIVERY,
  'pesewa.webhooks.WebhookEndpointWarned': ENDPOINT,
  'pesewa.webhooks.WebhookEndpointDisabled': ENDPOINT,
  'pesewa.webhooks.WebhookEndpointEnabled': ENDPOINT,
} as const satisfies { readonly [Type in EventType]: Identity<Type> };

/** What the id of an event is derived from: its type, its content and its version. */
export interface Identifiable {
  readonly type: EventType;
  readonly payload: object;
  /** The version in its header `aggregate-version`. */
  readonly version: bigint;
}

/**
 * The id of an event, derived from its type and the fields that {@link eventIdentities} lists; a reader who knows those
 * can therefore determine which event an id belongs to.
 *
 * @throws TypeError if a listed field is missing, and for commands, which have ids of their own
 */
export function eventIdOf({ type, payload, version }: Identifiable): string {
  const identity = eventIdentities[type];
  if (identity === 'own') throw new TypeError(`${type} brings its own id`);
  const fields = payload as Readonly<Record<string, unknown>>;
  let meaning: string = type;
  for (const name of identity) meaning += partOf(type, name, name === 'version' ? version : fields[name]);
  return eventIdFrom(meaning);
}

/** Writes each part with its length, so that different lists of parts give different texts. */
function partOf(type: EventType, name: string, value: unknown): string {
  if (value === null) return ' null';
  if (typeof value !== 'string' && !isPlain(value)) throw new TypeError(`${type} has no ${name}`);
  const text = value.toString();
  return ` ${text.length}:${text}`;
}

function isPlain(value: unknown): value is bigint | number | boolean {
  return typeof value === 'bigint' || typeof value === 'number' || typeof value === 'boolean';
}
