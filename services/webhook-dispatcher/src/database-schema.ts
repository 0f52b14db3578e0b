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

/**
 * The index for what is owed, by endpoint and the oldest first: due deliveries are found by a key for each endpoint, and
 * those of disabled endpoints too. The id is in it so that no document is read.
 */
export const DUE_KEY = { state: 1, bulkhead: 1, dueAt: 1, _id: 1 } as const;

const OWED = { partialFilterExpression: { state: { $in: ['pending', 'deferred'] } } } as const;

/** The index for what a merchant is owed and was, in the order of creation; nothing in it ever changes (ADR 83). */
const MERCHANT_KEY = { merchantId: 1, createdAt: 1, _id: 1 } as const;

/** Nearly all deliveries end delivered and never are in these indexes. */
const ENDED_UNDELIVERED = {
  partialFilterExpression: { state: { $in: ['exhausted', 'discarded'] } },
} as const;

/** The index for what each endpoint was not delivered, by id. */
export const UNDELIVERED_AT_ENDPOINT = 'undelivered_at_endpoint';

/** The collections of the webhook-dispatcher's database. */
export const webhookDatabaseSchema: readonly CollectionSchema[] = [
  {
    name: 'deliveries',
    indexes: [
      { key: DUE_KEY, ...OWED },
      // Our own reference is part of the id.
      { key: { merchantReference: 1, _id: 1 } },
      { key: MERCHANT_KEY },
      { key: { state: 1, _id: 1 }, name: 'undelivered', ...ENDED_UNDELIVERED },
      { key: { state: 1, bulkhead: 1, _id: 1 }, name: UNDELIVERED_AT_ENDPOINT, ...ENDED_UNDELIVERED },
      { key: { state: 1, ...MERCHANT_KEY }, name: 'undelivered_of_merchant', ...ENDED_UNDELIVERED },
      FORGET,
    ],
  },
  { name: 'endpoints', indexes: [{ key: { state: 1, failingSince: 1 } }, FORGET] },
];
