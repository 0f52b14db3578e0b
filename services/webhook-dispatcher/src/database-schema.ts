import type { CollectionSchema } from '@pesewa/messaging';

/**
 * Each document has its own time of deletion, absent while it is unfinished; a changed setting applies to later ones
 * only.
 */
const FORGET = {
  key: { forgetAt: 1 },
  name: 'forget_ended',
  expireAfterSeconds: 0,
  partialFilterExpression: { forgetAt: { $exists: true } },
} as const;

/** The index for due deliveries, the oldest first; the state is a key so that no document is read. */
export const DUE_KEY = { state: 1, dueAt: 1, bulkhead: 1 } as const;

const PENDING = { partialFilterExpression: { state: 'pending' } } as const;

/** Nearly all deliveries end delivered: those are listed by their ids, which costs no index. */
const UNDELIVERED = {
  name: 'undelivered',
  partialFilterExpression: { state: { $in: ['pending', 'exhausted', 'discarded'] } },
} as const;

/** The collections of the webhook-dispatcher's database. */
export const webhookDatabaseSchema: readonly CollectionSchema[] = [
  {
    name: 'deliveries',
    indexes: [
      { key: DUE_KEY, ...PENDING },
      // One step by key for each bulkhead, and for each bulkhead that fails.
      { key: { state: 1, bulkhead: 1, roundAttempts: 1 }, ...PENDING },
      // Our own reference is part of the id.
      { key: { merchantReference: 1, _id: 1 } },
      { key: { state: 1, _id: 1 }, ...UNDELIVERED },
      FORGET,
    ],
  },
];
