import { type CollectionSchema, ERASURES } from '@pesewa/messaging';
import { PAUSES, paymentIndexes } from '@pesewa/payments';

/** The collections of the payout-gateway's database. */
export const payoutDatabaseSchema: readonly CollectionSchema[] = [
  {
    name: 'payouts',
    indexes: [
      ...paymentIndexes({ due: 'held', unended: 'INITIALIZED', claimedWithin: ['rail', 'queue'] }),
      // Payouts decided by people while an attempt was in progress; there are very few.
      { key: { dueAt: 1 }, partialFilterExpression: { 'decided.isPending': true } },
    ],
  },
  { name: ERASURES },
  { name: PAUSES },
  { name: 'marks' },
  { name: 'processors' },
  { name: 'wallets' },
  // The counts of past days are deleted.
  { name: 'usage', indexes: [{ key: { forgetAt: 1 }, expireAfterSeconds: 0 }] },
];
