import type { PaymentKind } from '@pesewa/contracts';
import type { Hop } from './level.ts';

const TO_PAYOUTS = { from: ['reconciler'], topics: ['payoutFacts'], by: 'payout-gateway' } as const;
const TO_COLLECTIONS = {
  from: ['reconciler'],
  topics: ['collectionFacts'],
  by: 'collection-gateway',
} as const;

const ofPayouts = (by: string): Hop => ({ from: ['payouts'], topics: ['payouts'], by });
const ofCollections = (by: string): Hop => ({ from: ['collections'], topics: ['collections'], by });
const ofLedger = (by: string): Hop => ({ from: ['ledger'], topics: ['ledger'], by });
const ofBoth = (by: string): Hop => ({
  from: ['payouts', 'collections'],
  topics: ['payouts', 'collections'],
  by,
});

/** The hops from the reconciler to both owners of payments. */
export const toOwners: readonly Hop[] = [TO_PAYOUTS, TO_COLLECTIONS];

/** The hops from there to the webhook of an ended payment. */
export const toWebhooks: readonly Hop[] = [ofBoth('webhook-dispatcher'), ofBoth('reconciler')];

/** The hop from the owner of a payment to us. */
export const fromOwner: Readonly<Record<PaymentKind, Hop>> = {
  payout: ofPayouts('reconciler'),
  collection: ofCollections('reconciler'),
};

/** The hops from us to the owner of a payment, to the entries of its end, and back; those of the other kind delay none. */
export const toEntries: Readonly<Record<PaymentKind, readonly Hop[]>> = {
  payout: [TO_PAYOUTS, ofPayouts('ledger'), fromOwner.payout, ofLedger('reconciler')],
  collection: [TO_COLLECTIONS, ofCollections('ledger'), fromOwner.collection, ofLedger('reconciler')],
};

/**
 * The whole way of a payment until its owner has sent it: from us to its owner, through the ledger if it has a hold,
 * and back.
 */
export const wholeWay: Readonly<Record<PaymentKind, readonly Hop[]>> = {
  payout: [TO_PAYOUTS, ofPayouts('ledger'), ofLedger('payout-gateway'), fromOwner.payout],
  collection: [TO_COLLECTIONS, fromOwner.collection],
};
