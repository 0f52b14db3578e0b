import type { CollectionSchema } from '@pesewa/messaging';

/**
 * Each document has its own time of deletion, absent while it is unfinished; a changed setting applies to later ones
 * only.
 */
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
