import { type CollectionSchema, ERASURES } from '@pesewa/messaging';
import { PAUSES, paymentIndexes } from '@pesewa/payments';

/** The collections of the collection-gateway's database. */
export const collectionDatabaseSchema: readonly CollectionSchema[] = [
  { name: 'collections', indexes: paymentIndexes({ due: 'queued', unended: 'PENDING' }) },
  { name: ERASURES },
  { name: PAUSES },
  // The counts of past hours are deleted.
  { name: 'usage', indexes: [{ key: { forgetAt: 1 }, expireAfterSeconds: 0 }] },
];
