import { collectionWebhook, numberText, waysAvailability } from '@pesewa/contracts';
import { listParameters, nextCursorField, onlyParameters } from '@pesewa/merchant-api';
import { z } from 'zod';
import { defineOperation } from './api-operation.ts';
import type { CollectionStatus } from './domain/state.ts';
import { rejectionsOf } from './status-operations.ts';

const path = '/collection/v1/collections';
const availabilityPath = '/collection/v1/availability';
const configurationPath = '/collection/v1/configuration';
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

const amount = (description: string) => numberText.nullable().meta({ description });

/** What the collections of each mobile operator take, for the merchant that asks (contract 10.24). */
export const operatorsConfiguration = z.strictObject({
  configuration: z.array(
    z.strictObject({
      operatorCode: z.string(),
      country: z.string(),
      currency: z.string(),
      requestType: z.string(),
      decimals: numberText.meta({ description: 'of an amount, at most' }),
      amountStep: numberText.meta({ description: 'amounts are multiples of it' }),
      minimumAmount: amount('your own minimum; null without one'),
      maximumAmount: amount('your limit of one collection; null without one'),
      dailyMaximumAmount: amount(
        'your limit of a UTC day, over all operators of the currency; null without one',
      ),
      numberPrefixes: z.array(z.string()).meta({
        description:
          'how the numbers that it was given begin; a customer may have taken one to another operator. Empty: it has no numbers of its own',
      }),
      flows: z.array(
        z.strictObject({
          transactionType: z.string().nullable().meta({ description: 'null: whichever' }),
          otpIsRequired: z.boolean(),
          lengthOfOtp: numberText,
          paymentCompletionRequired: z.boolean(),
          redirectionRequired: z.boolean(),
        }),
      ),
    }),
  ),
});

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

/** The operations that list a merchant's collections, what mobile operators take, and how those of each fare. */
export const listOperations = {
  collections: defineOperation({
    path,
    operationId: 'listCollections',
    tag: 'Lists',
    summary: 'List of collections',
    description:
      'Your collections, the newest first, each as its webhook shows it. Until one is COMPLETED, amount received and fee ' +
      'are 0. A cursor stays valid while new collections come. It has no body and no `X-module`.',
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
  configuration: defineOperation({
    path: configurationPath,
    operationId: 'getConfiguration',
    tag: 'Lists',
    summary: 'What mobile operators take',
    description:
      'The mobile operators that customers can be asked by: amounts, your limits, how their numbers begin, and what a ' +
      'payin of each asks of you next, in the fields of its answer. It has no body and no `X-module`.',
    request: { query: z.object({}) },
    answers: {
      200: {
        description: 'every mobile operator',
        schema: operatorsConfiguration,
        examples: {
          'one mobile operator': {
            configuration: [
              {
                operatorCode: 'GMQMO',
                country: 'GM',
                currency: 'GMD',
                requestType: 'B',
                decimals: 2,
                amountStep: 0.01,
                minimumAmount: null,
                maximumAmount: 50000,
                dailyMaximumAmount: null,
                numberPrefixes: ['2203'],
                flows: [
                  {
                    transactionType: null,
                    otpIsRequired: true,
                    lengthOfOtp: 6,
                    paymentCompletionRequired: true,
                    redirectionRequired: false,
                  },
                ],
              },
            ],
          },
        },
      },
      ...rejectionsOf(configurationPath, 'refused: X-business or X-app is missing or wrong'),
    },
  }),
};
