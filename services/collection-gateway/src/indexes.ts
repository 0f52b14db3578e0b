import { type CollectionSchema, ERASURES, paymentIndexes } from '@pesewa/messaging';

/** The collections of the collection-gateway's database. */
export const collectionCollections: readonly CollectionSchema[] = [
  { name: 'collections', indexes: paymentIndexes({ due: 'queued', unended: 'PENDING' }) },
  { name: ERASURES },
  // Hours that are over are forgotten.
  { name: 'usage', indexes: [{ key: { forgetAt: 1 }, expireAfterSeconds: 0 }] },
];
