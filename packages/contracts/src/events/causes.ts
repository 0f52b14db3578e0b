import type { EventType } from './identities.ts';

/**
 * What makes an event happen: another event, whose id is in the header `causation-id`; or, without that header, a
 * request from outside (of a merchant, a rail or an operator) or a time at which we check something ourselves.
 */
export type EventCause = EventType | 'request' | 'time';

const HOLD = ['pesewa.ledger.HoldPlaced'] as const;
const FACT = ['pesewa.rails.RailStatusObserved'] as const;
const ORDERS = [
  'pesewa.ledger.FundWallet',
  'pesewa.ledger.FundFloat',
  'pesewa.ledger.WithdrawWallet',
  'pesewa.ledger.WithdrawFloat',
  'pesewa.ledger.AdjustWallet',
  'pesewa.ledger.BookSuspense',
] as const;
const BOOKED = [
  'pesewa.payouts.PayoutAccepted',
  'pesewa.payouts.PayoutCompleted',
  'pesewa.payouts.PayoutFailed',
  'pesewa.payouts.PayoutReversed',
  'pesewa.collections.CollectionCompleted',
] as const;
const DECIDED = ['pesewa.rails.PayoutOutcomeDecided'] as const;
const ATTEMPTED = [
  'pesewa.collections.CollectionInitiated',
  'pesewa.collections.CollectionCompletionRequested',
  'pesewa.rails.RailStatusObserved',
] as const;
/** The events by which the reconciler may have last heard of a payment: those of its owner, and callbacks. */
const HEARD = [
  'pesewa.payouts.PayoutAccepted',
  'pesewa.payouts.PayoutSubmitted',
  'pesewa.payouts.PayoutCompleted',
  'pesewa.payouts.PayoutFailed',
  'pesewa.payouts.PayoutReversed',
  'pesewa.collections.CollectionInitiated',
  'pesewa.collections.CollectionCompletionRequested',
  'pesewa.collections.CollectionCompletionClosed',
  'pesewa.collections.CollectionCompleted',
  'pesewa.collections.CollectionFailed',
  'pesewa.rails.CallbackReceived',
] as const;
const ENDED = [
  'pesewa.payouts.PayoutCompleted',
  'pesewa.payouts.PayoutFailed',
  'pesewa.payouts.PayoutReversed',
  'pesewa.collections.CollectionCompleted',
  'pesewa.collections.CollectionFailed',
] as const;
const REQUEST = ['request'] as const;

/** What makes each event happen. An event with neither `request` nor `time` always names the event that caused it. */
export const eventCauses = {
  'pesewa.payouts.PayoutAccepted': REQUEST,
  // The hold leads to the attempt, or the fact that an earlier attempt never arrived.
  'pesewa.payouts.PayoutSubmitted': [...HOLD, ...FACT],
  'pesewa.payouts.PayoutCompleted': [...HOLD, ...FACT, ...DECIDED],
  'pesewa.payouts.PayoutFailed': [...HOLD, 'pesewa.ledger.HoldRefused', ...FACT, ...DECIDED],
  'pesewa.payouts.PayoutReversed': FACT,
  'pesewa.collections.CollectionInitiated': REQUEST,
  'pesewa.collections.CollectionCompletionRequested': REQUEST,
  'pesewa.collections.CollectionCompletionClosed': ATTEMPTED,
  'pesewa.collections.CollectionCompleted': [...ATTEMPTED, 'pesewa.rails.CollectionAmountDecided'],
  'pesewa.collections.CollectionFailed': ATTEMPTED,
  'pesewa.ledger.FundWallet': REQUEST,
  'pesewa.ledger.FundFloat': REQUEST,
  'pesewa.ledger.WithdrawWallet': REQUEST,
  'pesewa.ledger.WithdrawFloat': REQUEST,
  'pesewa.ledger.AdjustWallet': REQUEST,
  'pesewa.ledger.BookSuspense': REQUEST,
  'pesewa.ledger.HoldPlaced': ['pesewa.payouts.PayoutAccepted'],
  'pesewa.ledger.HoldRefused': ['pesewa.payouts.PayoutAccepted'],
  'pesewa.ledger.HoldCaptured': ['pesewa.payouts.PayoutCompleted'],
  'pesewa.ledger.HoldReleased': ['pesewa.payouts.PayoutFailed'],
  'pesewa.ledger.CollectionCredited': ['pesewa.collections.CollectionCompleted'],
  'pesewa.ledger.PayoutRefunded': ['pesewa.payouts.PayoutReversed'],
  'pesewa.ledger.WalletFunded': ['pesewa.ledger.FundWallet'],
  'pesewa.ledger.FloatFunded': ['pesewa.ledger.FundFloat'],
  'pesewa.ledger.WalletWithdrawn': ['pesewa.ledger.WithdrawWallet'],
  'pesewa.ledger.FloatWithdrawn': ['pesewa.ledger.WithdrawFloat'],
  'pesewa.ledger.WalletAdjusted': ['pesewa.ledger.AdjustWallet'],
  'pesewa.ledger.SuspenseBooked': ['pesewa.ledger.BookSuspense'],
  'pesewa.ledger.CommandRefused': ORDERS,
  'pesewa.ledger.PageWritten': [...BOOKED, ...ORDERS],
  'pesewa.ledger.OrderDecided': REQUEST,
  'pesewa.wallets.WalletBalanceChanged': [...BOOKED, ...ORDERS],
  'pesewa.rails.CallbackReceived': REQUEST,
  // No event, if the coverage audit has reported the payment.
  'pesewa.rails.RailStatusObserved': [...HEARD, 'time'],
  'pesewa.rails.CollectionAmountDecided': REQUEST,
  'pesewa.rails.PayoutOutcomeDecided': REQUEST,
  'pesewa.rails.RepublishRequested': ['time'],
  'pesewa.rails.RailAvailabilityReported': ['time'],
  'pesewa.reconciliation.StuckSettled': ENDED,
  'pesewa.reconciliation.BreakOpened': [...HEARD, 'pesewa.reconciliation.DriftMeasured', 'request', 'time'],
  'pesewa.reconciliation.BreakResolved': [
    ...HEARD,
    'pesewa.ledger.WalletAdjusted',
    'pesewa.ledger.SuspenseBooked',
    'pesewa.reconciliation.DriftMeasured',
    'request',
    'time',
  ],
  'pesewa.reconciliation.DriftMeasured': ['time'],
  'pesewa.webhooks.WebhookDelivered': ENDED,
  'pesewa.webhooks.WebhookExhausted': ENDED,
  'pesewa.webhooks.WebhookDiscarded': ENDED,
  'pesewa.webhooks.WebhookEndpointWarned': ENDED,
  'pesewa.webhooks.WebhookEndpointDisabled': ENDED,
  // The address of the merchant is compared from time to time.
  'pesewa.webhooks.WebhookEndpointEnabled': ['request', 'time'],
} as const satisfies { readonly [Type in EventType]: readonly [EventCause, ...EventCause[]] };

/** Whether an event may have no `causation-id`. */
export function mayLackCause(type: EventType): boolean {
  const causes: readonly EventCause[] = eventCauses[type];
  return causes.includes('request') || causes.includes('time');
}
