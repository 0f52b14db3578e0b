import { bulkPayoutRequest, jsonNumber, payoutRecord, singlePayoutRequest } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { z } from 'zod';
import { defineOperation } from './api-operation.ts';
import { requestRefusals } from './domain/request.ts';
import type { Payout } from './store.ts';
import type { WhyWaiting } from './why-waiting.ts';

const submitted = {
  transactionStatus: 'INITIALIZED',
  merchantReference: 'inv-2031',
  transactionReference: 'po-019a6b2c4d5e7f8091a2b3c4d5e6f708',
  amount: 1500.5,
  feeAmount: 15.01,
} as const;

const single = {
  transactionReference: 'inv-2031',
  country: 'Nigeria',
  currency: 'NGN',
  channel: 'Bank Transfer',
  transactionType: '',
  beneficiary: {
    accountName: 'Ama Mensah',
    accountNumber: '0123456789',
    bankCode: '058',
    amount: 1500.5,
    narration: 'Thank you',
  },
  sender: { name: 'Demo Merchant', phoneNumber: '', email: 'payouts@example.com' },
};

const bulk = {
  transactionReference: 'batch-77',
  currency: 'NGN',
  country: 'Nigeria',
  totalAmount: 3000,
  channel: 'Bank Transfer',
  transactionType: '2',
  beneficiaries: [
    {
      accountName: 'Ama Mensah',
      accountNumber: '0123456789',
      bankCode: '058',
      amount: 1500.5,
      transactionReference: 'batch-77-1',
      narration: 'Salary',
      saveBeneficiary: false,
    },
    {
      accountName: 'Chinedu Okafor',
      accountNumber: '0987654321',
      bankCode: '044',
      amount: 1499.5,
      transactionReference: 'batch-77-2',
      narration: 'Salary',
      saveBeneficiary: false,
    },
  ],
  sender: { name: 'Demo Merchant', phoneNumber: '', email: 'payouts@example.com' },
};

/** A payout with its outcome, as lookups and webhooks show it (contract 2.4). */
export const fullPayoutRecord = payoutRecord
  .extend({ valueAmount: payoutRecord.shape.amount, statusReason: z.string() })
  .strict();

/** The operations that accept payouts and show them (contract 4.1 to 4.3). */
export const payoutOperations = {
  submitSingle: defineOperation({
    method: 'post',
    path: '/api/v1/transactions/transfer/single',
    operationId: 'submitPayout',
    tag: 'Payouts',
    summary: 'Single payout',
    description:
      'Takes a payout once and for ever: the same request again gives the same record with its state of now, other ' +
      'content under a used reference is refused with `94`. After a `91` or no answer, send it again unchanged. ' +
      'Empty, null and absent optional fields are the same. The outcome comes by webhook and by lookup.\n\n' +
      'Required besides: `transactionType`, `sender.countryCode` and `sender.currencyCode` for KES and XAF; ' +
      '`sender.phoneNumber` for XAF; `beneficiary.phoneNumber` for KES of type 2; `beneficiary.accountType`, ' +
      '`identificationType` and `identificationNumber` for South Africa; `beneficiary.nationalIdNumber` for EGP.',
    request: {
      body: {
        required: true,
        content: { 'application/json': { schema: singlePayoutRequest, example: single } },
      },
    },
    success: {
      code: 'accepted',
      description: '`09` the payout is stored and will be carried out',
      message: 'Transaction submitted successfully',
      data: payoutRecord.omit({ valueAmount: true, statusReason: true }).strict(),
      example: submitted,
    },
    refusals: requestRefusals,
  }),
  submitBulk: defineOperation({
    method: 'post',
    path: '/api/v1/transactions/transfer/bulk',
    operationId: 'submitBulkPayout',
    tag: 'Payouts',
    summary: 'Bulk payout',
    description:
      'Takes 1 to 10,000 payouts, all or none: the items must add up to `totalAmount`, every reference is used once, ' +
      'and the first bad item is named by its index. After that each item is a payout of its own, with its own lookup ' +
      'and webhook.',
    request: {
      body: { required: true, content: { 'application/json': { schema: bulkPayoutRequest, example: bulk } } },
    },
    success: {
      code: 'accepted',
      description: '`09` every item is stored and will be carried out',
      message: 'Transactions submitted successfully',
      data: null,
      example: null,
    },
    refusals: requestRefusals,
  }),
  lookUp: defineOperation({
    method: 'get',
    path: '/api/v1/transactions/{transactionReference}/query',
    operationId: 'lookUpPayout',
    tag: 'Payouts',
    summary: 'Payout status',
    description:
      'A payout by your reference, else by ours. A batch has no status of its own: look its items up.',
    request: {
      params: z.object({
        transactionReference: z
          .string()
          .meta({ description: "the merchant's reference", example: 'inv-2031' }),
      }),
    },
    success: {
      code: 'answered',
      description: '`00` the payout',
      message: 'Transaction found',
      data: fullPayoutRecord,
      example: {
        ...submitted,
        transactionStatus: 'COMPLETED',
        valueAmount: 1515.51,
        statusReason: 'Successful',
      },
    },
    refusals: ['notFound', 'unavailable'],
  }),
};

/** A payout as its acceptance is answered (contract 2.4). */
export function viewAccepted(payout: Payout) {
  return {
    transactionStatus: payout.status,
    merchantReference: payout.order.merchantReference,
    transactionReference: payout.reference,
    amount: money(payout, payout.order.amount.minor),
    feeAmount: money(payout, payout.fee),
  };
}

/**
 * A payout as a lookup answers it (contract 2.4); `valueAmount` is what it takes from the wallet (contract 10.7), and before
 * its end the reason is why it waits (contract 10.6).
 */
export function viewLookedUp(payout: Payout, whyWaiting: WhyWaiting) {
  return {
    ...viewAccepted(payout),
    valueAmount: money(payout, payout.order.amount.minor + payout.fee),
    statusReason: payout.statusReason ?? whyWaiting(payout) ?? '',
  };
}

function money(payout: Payout, minor: bigint): number {
  return jsonNumber(formatAmount(minor, payout.order.amount.currency));
}
