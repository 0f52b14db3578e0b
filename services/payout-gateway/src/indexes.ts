import { type CollectionSchema, ERASURES, paymentIndexes } from '@pesewa/messaging';

/** The collections of the payout-gateway's database. */
export const payoutCollections: readonly CollectionSchema[] = [
  {
    name: 'payouts',
    indexes: [
      ...paymentIndexes({ due: 'held', unended: 'INITIALIZED', claimedWithin: ['rail', 'lane'] }),
      // What people decided while an attempt was under way; there is next to nothing of it.
      { key: { dueAt: 1 }, partialFilterExpression: { 'decided.stands': true } },
    ],
  },
  { name: ERASURES },
  { name: 'batches' },
  { name: 'marks' },
  { name: 'processors' },
  { name: 'wallets' },
  // Days that are long over are forgotten.
  { name: 'usage', indexes: [{ key: { forgetAt: 1 }, expireAfterSeconds: 0 }] },
];
