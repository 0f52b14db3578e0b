import type { PaymentKind } from '@pesewa/contracts';
import type { Hop } from './level.ts';

const TO_PAYOUTS = { from: ['reconciler'], topics: ['payoutFacts'], by: 'payout-gateway' } as const;
const TO_COLLECTIONS = {
  from: ['reconciler'],
  topics: ['collectionFacts'],
  by: 'collection-gateway',
} as const;
const ENDS = { from: ['payouts', 'collections'], topics: ['payouts', 'collections'] } as const;
const LEDGER = { from: ['ledger'], topics: ['ledger'] } as const;

/** The hops from the reconciler to both owners of payments. */
export const toOwners: readonly Hop[] = [TO_PAYOUTS, TO_COLLECTIONS];

/** The hops from there to the webhook of an ended payment. */
export const toWebhooks: readonly Hop[] = [
  { ...ENDS, by: 'webhook-dispatcher' },
  { ...ENDS, by: 'reconciler' },
];

/** The hop from the owner of a payment to us. */
export const fromOwner: Readonly<Record<PaymentKind, Hop>> = {
  payout: { from: ['payouts'], topics: ['payouts'], by: 'reconciler' },
  collection: { from: ['collections'], topics: ['collections'], by: 'reconciler' },
};

/** The hops from us to the owner of a payment, to the entries of its end, and back; those of the other kind delay none. */
export const toEntries: Readonly<Record<PaymentKind, readonly Hop[]>> = {
  payout: [TO_PAYOUTS, ...entriesOf('payouts')],
  collection: [TO_COLLECTIONS, ...entriesOf('collections')],
};

function entriesOf(owner: 'payouts' | 'collections'): readonly Hop[] {
  const ends = { from: [owner], topics: [owner] } as const;
  return [
    { ...ends, by: 'ledger' },
    { ...ends, by: 'reconciler' },
    { ...LEDGER, by: 'reconciler' },
  ];
}

/**
 * The whole way of a payment until its owner has sent it: from us to its owner, through the ledger if it has a hold,
 * and back.
 */
export const wholeWay: Readonly<Record<PaymentKind, readonly Hop[]>> = {
  payout: [
    TO_PAYOUTS,
    { from: ['payouts'], topics: ['payouts'], by: 'ledger' },
    { ...LEDGER, by: 'payout-gateway' },
    fromOwner.payout,
  ],
  collection: [TO_COLLECTIONS, fromOwner.collection],
};
