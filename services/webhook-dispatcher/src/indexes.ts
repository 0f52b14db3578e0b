import type { CollectionSchema } from '@pesewa/messaging';

/** The moment is in each document, and absent while it is open: another setting counts for those that come after it. */
const FORGET = { key: { forgetAt: 1 }, expireAfterSeconds: 0 } as const;

/** The collections of the webhook-dispatcher's database. */
export const webhookCollections: readonly CollectionSchema[] = [
  {
    name: 'deliveries',
    indexes: [
      { key: { dueAt: 1, lane: 1 }, partialFilterExpression: { state: 'pending' } },
      { key: { reference: 1, _id: 1 } },
      { key: { merchantReference: 1, _id: 1 } },
      { key: { state: 1, _id: 1 } },
      FORGET,
    ],
  },
  { name: 'attempts', indexes: [{ key: { deliveryId: 1, at: 1 } }, FORGET] },
];
