import type { AvroRecord } from './avro.ts';
import { envelope } from './fields.ts';

const delivery = [
  ...envelope,
  { name: 'deliveryId', type: 'string' },
  { name: 'merchantId', type: 'string' },
  { name: 'reference', type: 'string' },
  { name: 'attempts', type: 'int' },
] as const;

/** The outcome of webhooks to merchants (contract 10.15). */
export const webhookEvents = [
  {
    type: 'record',
    namespace: 'pesewa.webhooks',
    name: 'WebhookDelivered',
    doc: "The merchant's endpoint answered 2xx.",
    fields: delivery,
  },
  {
    type: 'record',
    namespace: 'pesewa.webhooks',
    name: 'WebhookExhausted',
    doc: 'Every attempt failed; the delivery waits for an operator to resend it.',
    fields: delivery,
  },
] as const satisfies readonly AvroRecord[];
