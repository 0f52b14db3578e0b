import { type AvroRecord, envelope } from './avro.ts';

const delivery = [
  ...envelope,
  { name: 'deliveryId', type: 'string' },
  { name: 'merchantId', type: 'string', doc: 'the merchant whom it is about' },
  { name: 'reference', type: 'string', doc: 'our transaction reference' },
  { name: 'attempts', type: 'int' },
] as const;

const endpoint = [
  ...envelope,
  { name: 'merchantId', type: 'string', doc: 'the merchant whom it is about' },
  { name: 'endpoint', type: 'string', doc: 'payouts, collections, or the origin of addresses in requests' },
  { name: 'failingSince', type: 'long', doc: 'the first failure without a success since, milliseconds' },
  {
    name: 'lastSuccessAt',
    type: ['null', 'long'],
    default: null,
    doc: 'the last success that is known, milliseconds',
  },
] as const;

/** The outcome of webhooks to merchants (contract 10.15), and what becomes of their endpoints (ADR 73). */
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
  {
    type: 'record',
    namespace: 'pesewa.webhooks',
    name: 'WebhookDiscarded',
    doc: 'The merchant has no address for it; nothing is sent unless an operator resends it.',
    fields: delivery,
  },
  {
    type: 'record',
    namespace: 'pesewa.webhooks',
    name: 'WebhookEndpointWarned',
    doc: 'The endpoint has failed for a day; it is disabled if it goes on failing.',
    fields: endpoint,
  },
  {
    type: 'record',
    namespace: 'pesewa.webhooks',
    name: 'WebhookEndpointDisabled',
    doc: 'The endpoint has failed for days; its webhooks are kept until it is enabled.',
    fields: endpoint,
  },
  {
    type: 'record',
    namespace: 'pesewa.webhooks',
    name: 'WebhookEndpointEnabled',
    doc: 'A disabled endpoint gets its webhooks again, including those that were kept.',
    fields: [
      ...endpoint,
      {
        name: 'enabledBy',
        type: ['null', 'string'],
        default: null,
        doc: "the operator; null if the merchant's address has changed",
      },
    ],
  },
] as const satisfies readonly AvroRecord[];
