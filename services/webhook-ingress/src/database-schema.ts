import { type CollectionSchema, ERASURES } from '@pesewa/messaging';

/** The collections of the webhook-ingress's database. */
export const callbackDatabaseSchema: readonly CollectionSchema[] = [
  {
    name: 'callbacks',
    indexes: [
      { key: { reference: 1, id: 1 } },
      { key: { id: 1 } },
      { key: { state: 1, id: 1 }, partialFilterExpression: { state: 'failed' } },
      // Each document has its own time of deletion; a changed setting applies to later ones only.
      { key: { forgetAt: 1 }, expireAfterSeconds: 0 },
    ],
  },
  { name: ERASURES },
  // Anybody who knows the address can send garbage, so rejected requests are limited: the oldest are dropped.
  { name: 'rejected_callbacks', capped: { bytes: 32 * 1024 * 1024, documents: 10_000 } },
];
