/** The fields that every event begins with: its own id, and when it happened (milliseconds since the epoch). */
export const envelope = [
  { name: 'eventId', type: 'string', doc: 'the same as in the header `event-id`' },
  { name: 'occurredAt', type: 'long', doc: 'when it happened, milliseconds since the epoch' },
] as const;

/** The fields that every event of a payment carries: our reference, the merchant's, and the wallet. */
export const payment = [
  { name: 'reference', type: 'string', doc: 'our transaction reference' },
  { name: 'merchantReference', type: 'string', doc: "the merchant's own reference" },
  { name: 'merchantId', type: 'string', doc: 'the merchant whom it is about' },
  { name: 'currency', type: 'string', doc: 'of all amounts, ISO 4217' },
] as const;
