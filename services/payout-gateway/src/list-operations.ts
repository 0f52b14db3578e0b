import { numberText, payoutStatuses, reference } from '@pesewa/contracts';
import { listParameters, nextCursorField, onlyParameters } from '@pesewa/merchant-api';
import { z } from 'zod';
import { defineOperation } from './api-operation.ts';
import { fullPayoutRecord } from './payout-operations.ts';

const acceptedAt = z.iso.datetime().meta({ description: 'when it was accepted, UTC' });

/** The parameters of the list of payouts. */
export const payoutListParameters = onlyParameters({
  status: z
    .enum(payoutStatuses, { error: `must be one of ${payoutStatuses.join(', ')}` })
    .optional()
    .meta({ description: 'those with this `transactionStatus` alone' }),
  batch: reference
    .optional()
    .meta({ description: 'the items of this batch alone, by your reference or ours' }),
  ...listParameters('po'),
});

/** The parameters of the list of batches. */
export const batchListParameters = onlyParameters(
  {
    batch: reference.optional().meta({ description: 'this batch alone, by your reference or ours' }),
    ...listParameters('ba'),
  },
  '; a batch has no status, but its items have',
);

const listedPayout = fullPayoutRecord.extend({
  currency: z.string(),
  batchReference: z.string().nullable().meta({ description: 'our reference of its batch' }),
  acceptedAt,
});

const listedBatch = z.strictObject({
  merchantReference: z.string(),
  transactionReference: z.string(),
  currency: z.string(),
  totalAmount: numberText,
  itemCount: numberText,
  acceptedAt,
});

const acceptedAtExample = '2026-11-01T08:00:00.000Z';

/** The operations that list what a merchant has sent. */
export const listOperations = {
  payouts: defineOperation({
    method: 'get',
    path: '/api/v1/transactions',
    operationId: 'listPayouts',
    tag: 'Payouts',
    summary: 'List of payouts',
    description:
      'Your payouts, single ones and items of batches, the newest first, each as its webhook shows it. A cursor stays ' +
      'valid while new payouts come.',
    request: { query: payoutListParameters },
    success: {
      code: 'answered',
      description: '`00` a page of the list',
      message: 'Transactions retrieved successfully',
      data: z.strictObject({ transactions: z.array(listedPayout), nextCursor: nextCursorField }),
      example: {
        transactions: [
          {
            transactionStatus: 'COMPLETED',
            merchantReference: 'inv-2031',
            transactionReference: 'po-019a6b2c4d5e7f8091a2b3c4d5e6f708',
            amount: 1500.5,
            feeAmount: 15.01,
            valueAmount: 1515.51,
            statusReason: 'Successful',
            currency: 'NGN',
            batchReference: null,
            acceptedAt: acceptedAtExample,
          },
        ],
        nextCursor: 'po-019a6b2c4d5e7f8091a2b3c4d5e6f708',
      },
    },
    refusals: ['malformed', 'notFound', 'unavailable'],
  }),
  batches: defineOperation({
    method: 'get',
    path: '/api/v1/batches',
    operationId: 'listBatches',
    tag: 'Payouts',
    summary: 'List of batches',
    description:
      'Your batches, the newest first, or one with `batch`. A batch has no status of its own: list its items with `batch`, ' +
      'and by their status.',
    request: { query: batchListParameters },
    success: {
      code: 'answered',
      description: '`00` a page of the list',
      message: 'Batches retrieved successfully',
      data: z.strictObject({ batches: z.array(listedBatch), nextCursor: nextCursorField }),
      example: {
        batches: [
          {
            merchantReference: 'batch-77',
            transactionReference: 'ba-019a6b2c4d5e7f8091a2b3c4d5e6f708',
            currency: 'NGN',
            totalAmount: 3000,
            itemCount: 2,
            acceptedAt: acceptedAtExample,
          },
        ],
        nextCursor: null,
      },
    },
    refusals: ['malformed', 'notFound', 'unavailable'],
  }),
};
