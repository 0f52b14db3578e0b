import type { RouteConfig } from '@hono/zod-openapi';
import { collectionWebhook } from '@pesewa/contracts';
import { buildOpenApiDocument } from '@pesewa/merchant-api';
import { collectionOperations } from './collection-operations.ts';
import { listOperations } from './list-operations.ts';
import { statusOperations } from './status-operations.ts';

/** Every operation of the collection API, in the order of contract 4, then the list. */
export const operations: readonly (RouteConfig & { readonly getRoutingPath: () => string })[] = [
  ...Object.values(collectionOperations),
  ...Object.values(statusOperations),
  ...Object.values(listOperations),
];

const completed = {
  transaction_reference: 'co-019a6b2c4d5e7f8091a2b3c4d5e6f708',
  transaction_status: 'Funds Received',
  transaction_fee: 1.51,
  amount_received: 100.5,
  initiated_date: '2026-01-15 12:00:00',
  current_status_date: '2026-01-15 12:00:41',
  received_from: {},
  merchant_reference: 'order-2031',
  status: 'COMPLETED',
  channel: 'MOBILE_MONEY',
  currency_code: 'GMD',
};

/** Our webhook to a merchant about a collection's outcome (contract 6.2). */
export const webhook: RouteConfig = {
  method: 'post',
  path: 'collectionOutcome',
  operationId: 'collectionOutcome',
  tags: ['Webhooks'],
  summary: "A collection's outcome",
  description:
    "Sent once to the collection's `webhookUrl`, else to your own address; repeated until you answer 2xx, so take a repeat " +
    'of one `transaction_reference` as the same. Times are UTC. The headers `webhook-id`, `webhook-timestamp` and ' +
    '`webhook-signature` follow Standard Webhooks.',
  security: [],
  request: {
    body: {
      required: true,
      content: {
        'application/json': {
          schema: collectionWebhook.strict(),
          examples: {
            'payment received': { value: completed },
            'failed or expired': {
              value: {
                ...completed,
                transaction_status: 'Transaction Failed',
                transaction_fee: 0,
                amount_received: 0,
                status: 'FAILED',
                failure_reason: 'INSUFFICIENT FUNDS',
              },
            },
          },
        },
      },
    },
  },
  responses: { 200: { description: 'taken; any 2xx counts' } },
};

/** Builds the OpenAPI 3.1 document of the collection API from the operations that its routes are registered by. */
export function createOpenApiDocument(): object {
  return buildOpenApiDocument({
    title: 'Pesewa collection API',
    description:
      'Mobile money collections in the Gambia, Ghana, Cote d’Ivoire and Kenya. Amounts are JSON numbers, exact to the ' +
      'minor unit of their currency. Checks go in this order: who asks, how often, form, X-module, duplicate, mobile operator, ' +
      'amount. An unknown path is 404 and a wrong method 405, in the four fields of a rejected status check.',
    keyHeader: 'X-business',
    keyScope: 'collections',
    tags: [
      { name: 'Collections', description: 'initiate and complete collections' },
      { name: 'Status', description: 'where a collection stands' },
      { name: 'Lists', description: 'the collections of a time' },
    ],
    operations,
    webhook,
  });
}
