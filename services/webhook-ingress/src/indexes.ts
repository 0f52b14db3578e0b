import { type CollectionSchema, ERASURES } from '@pesewa/messaging';

/** The collections of the webhook-ingress's database. */
export const callbackCollections: readonly CollectionSchema[] = [
  {
    name: 'callbacks',
    indexes: [
      { key: { reference: 1, id: 1 } },
      { key: { id: 1 } },
      { key: { state: 1, id: 1 }, partialFilterExpression: { state: 'failed' } },
      // The moment is in each document: another setting counts for those that come after it.
      { key: { forgetAt: 1 }, expireAfterSeconds: 0 },
    ],
  },
  { name: ERASURES },
  // Whoever knows the address can send garbage, so what is rejected is bounded: the oldest makes room.
  { name: 'rejected_callbacks', capped: { bytes: 32 * 1024 * 1024, documents: 10_000 } },
];
