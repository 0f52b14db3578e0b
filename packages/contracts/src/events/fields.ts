/** The fields that every event begins with: its own id, and when it happened (milliseconds since the epoch). */
export const envelope = [
  { name: 'eventId', type: 'string' },
  { name: 'occurredAt', type: 'long' },
] as const;

/** The fields that every event of a payment carries: our reference, the merchant's, and the wallet. */
export const payment = [
  { name: 'reference', type: 'string', doc: 'our transaction reference' },
  { name: 'merchantReference', type: 'string' },
  { name: 'merchantId', type: 'string' },
  { name: 'currency', type: 'string' },
] as const;
