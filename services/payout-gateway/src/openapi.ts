import type { RouteConfig } from '@hono/zod-openapi';
import { buildOpenApiDocument } from '@pesewa/merchant-api';
import { z } from 'zod';
import { inquiryOperations } from './inquiry-operations.ts';
import { listOperations } from './list-operations.ts';
import { fullPayoutRecord, payoutOperations } from './payout-operations.ts';
import { statementOperations } from './statement-operations.ts';

/** Every operation of the payout API, in the order of contract 4, then the lists and the statement. */
export const operations: readonly (RouteConfig & { readonly getRoutingPath: () => string })[] = [
  ...Object.values(payoutOperations),
  ...Object.values(inquiryOperations),
  ...Object.values(listOperations),
  ...Object.values(statementOperations),
].map(({ route }) => route);

const webhookExample = {
  data: {
    transactionStatus: 'COMPLETED',
    merchantReference: 'inv-2031',
    transactionReference: 'po-019a6b2c4d5e7f8091a2b3c4d5e6f708',
    amount: 1500.5,
    feeAmount: 15.01,
    valueAmount: 1515.51,
    statusReason: 'Successful',
  },
};

const webhook: RouteConfig = {
  method: 'post',
  path: 'payoutOutcome',
  operationId: 'payoutOutcome',
  tags: ['Webhooks'],
  summary: "A payout's outcome",
  description:
    'Sent to your payout webhook address once for each terminal state, so a reversal is a second one; repeated until you ' +
    'answer 2xx. The headers `webhook-id`, `webhook-timestamp` and `webhook-signature` follow Standard Webhooks.',
  security: [],
  request: {
    body: {
      required: true,
      content: {
        'application/json': { schema: z.strictObject({ data: fullPayoutRecord }), example: webhookExample },
      },
    },
  },
  responses: { 200: { description: 'taken; any 2xx counts' } },
};

/** Builds the OpenAPI 3.1 document of the payout API from the operations that its routes are registered by. */
export function createOpenApiDocument(): object {
  return buildOpenApiDocument({
    title: 'Pesewa payout API',
    description:
      'Payouts to bank accounts and mobile money wallets, and what one asks before and after them. Amounts are JSON ' +
      'numbers, exact to the minor unit of their currency. Every answer, refusals included, has the same envelope.',
    keyHeader: 'x-api-key',
    keyScope: 'payouts',
    tags: [
      { name: 'Payouts', description: 'submit payouts and look them up' },
      { name: 'Inquiries', description: 'balances, statements, processors, account holders' },
    ],
    operations,
    webhook,
  });
}
