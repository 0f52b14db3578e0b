import { collectionWebhook, numberText, waysAvailability } from '@pesewa/contracts';
import { listParameters, nextCursorField, onlyParameters } from '@pesewa/merchant-api';
import { z } from 'zod';
import { defineOperation } from './api-operation.ts';
import type { CollectionStatus } from './domain/state.ts';
import { rejectionsOf } from './status-operations.ts';

const path = '/collection/v1/collections';
const availabilityPath = '/collection/v1/availability';
const statuses = ['PENDING', 'COMPLETED', 'FAILED'] as const satisfies readonly CollectionStatus[];

/** The parameters of the list of collections. */
export const listedParameters = onlyParameters({
  status: z
    .enum(statuses, { error: `must be one of ${statuses.join(', ')}` })
    .optional()
    .meta({ description: 'those with this status alone' }),
  ...listParameters('co'),
});

/** A collection in a list: as its webhook shows it, with what was asked, and while it goes on too. */
export const listedCollection = collectionWebhook
  .omit({ transaction_status: true, current_status_date: true, received_from: true })
  .extend({
    status: z.enum(statuses),
    transaction_amount: numberText.meta({ description: 'what the customer was asked for' }),
    operator_code: z.string(),
  })
  .strict();

/** How the collections of each mobile operator fare. */
export const operatorsAvailability = waysAvailability({ operatorCode: z.string() });

const listed = {
  transaction_reference: 'co-019a6b2c4d5e7f8091a2b3c4d5e6f708',
  merchant_reference: 'order-2031',
  status: 'COMPLETED',
  transaction_amount: 100.5,
  amount_received: 100.5,
  transaction_fee: 1.51,
  currency_code: 'GMD',
  channel: 'MOBILE_MONEY',
  operator_code: 'GMQMO',
  initiated_date: '2026-01-15 12:00:00',
};

/** The operations that list a merchant's collections, and how those of each mobile operator fare. */
export const listOperations = {
  collections: defineOperation({
    path,
    operationId: 'listCollections',
    tag: 'Lists',
    summary: 'List of collections',
    description:
      'Your collections, the newest first, each as its webhook shows it. Until one is COMPLETED, amount received and fee ' +
      'are 0. A cursor stays valid while new collections come. It has no body and no `X-module`. Archived collections are ' +
      'not among them.',
    request: { query: listedParameters },
    answers: {
      200: {
        description: 'a page of the list',
        schema: z.strictObject({ collections: z.array(listedCollection), nextCursor: nextCursorField }),
        examples: {
          'a page': { collections: [listed], nextCursor: listed.transaction_reference },
          'nothing found': { collections: [], nextCursor: null },
        },
      },
      ...rejectionsOf(
        path,
        'refused: a parameter is malformed, and `error` names it; or X-business or X-app is missing or wrong',
      ),
    },
  }),
  availability: defineOperation({
    path: availabilityPath,
    operationId: 'getAvailability',
    tag: 'Lists',
    summary: 'Availability of mobile operators',
    description:
      'Whether customers of a mobile operator can be asked at present, and how the collections of the last hour ended, all ' +
      'merchants together: the success rate, in which customers who decline count as well, and how long they took. It is ' +
      'measured every half minute. It has no body and no `X-module`.',
    request: { query: z.object({}) },
    answers: {
      200: {
        description: 'every mobile operator',
        schema: operatorsAvailability,
        examples: {
          'one mobile operator': {
            from: '2026-01-15T12:00:00.000Z',
            to: '2026-01-15T13:00:00.000Z',
            availability: [
              {
                operatorCode: 'GMQMO',
                status: 'OPERATIONAL',
                successRate: 0.91,
                medianSeconds: 24.5,
                p95Seconds: 90.1,
              },
            ],
          },
        },
      },
      ...rejectionsOf(availabilityPath, 'refused: X-business or X-app is missing or wrong'),
    },
  }),
};
