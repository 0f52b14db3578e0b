import type { CollectionSchema } from '@pesewa/messaging';

/**
 * Each document has its own time of deletion, absent while it is unfinished; a changed setting applies to later ones
 * only.
 */
const FORGET = { key: { forgetAt: 1 }, expireAfterSeconds: 0 } as const;

/** The index for due deliveries, the oldest first; the state is a key so that no document is read. */
export const DUE_KEY = { state: 1, dueAt: 1, bulkhead: 1 } as const;

const PENDING = { partialFilterExpression: { state: 'pending' } } as const;

/** The collections of the webhook-dispatcher's database. */
export const webhookDatabaseSchema: readonly CollectionSchema[] = [
  {
    name: 'deliveries',
    indexes: [
      { key: DUE_KEY, ...PENDING },
      // One step by key for each bulkhead, and for each bulkhead that fails.
      { key: { state: 1, bulkhead: 1, roundAttempts: 1 }, ...PENDING },
      { key: { reference: 1, _id: 1 } },
      { key: { merchantReference: 1, _id: 1 } },
      { key: { state: 1, _id: 1 } },
      FORGET,
    ],
  },
  { name: 'attempts', indexes: [{ key: { deliveryId: 1, at: 1 } }, FORGET] },
];
