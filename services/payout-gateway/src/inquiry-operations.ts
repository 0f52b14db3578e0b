import {
  accountNameRecord,
  channels,
  nameEnquiryRequest,
  numberText,
  processorRecord,
  walletRecord,
  waysAvailability,
} from '@pesewa/contracts';
import { z } from 'zod';
import { defineOperation } from './api-operation.ts';

const wallet = {
  balance: 125000.5,
  countryCode: 'NGA',
  countryAvatar: 'https://api.example.com/flags/ng.svg',
  currencyCode: 'NGN',
  currencyHtml: '&#8358;',
};

const processor = {
  blockTransaction: false,
  active: true,
  avatar: '#c8963e',
  sortCode: '058',
  shortName: 'GTBank',
  code: '058',
  name: 'Guaranty Trust Bank',
  currency: 'NGN',
  country: 'NGA',
};

const enquiry = { accountNumber: '0123456789', bankCode: '058', currency: 'NGN', country: 'NGA' };

const route = { country: z.string(), currency: z.string(), channel: z.enum(channels) };

const limit = (description: string) => numberText.nullable().meta({ description });

/** The operations that only read (contract 4.4 to 4.6). */
export const inquiryOperations = {
  balance: defineOperation({
    method: 'post',
    path: '/api/v1/wallets/balance',
    operationId: 'getBalance',
    tag: 'Inquiries',
    summary: 'Wallet balances',
    description:
      'What can be spent now, one wallet per currency; money held for payouts under way is gone from it. ' +
      'A body is ignored. A currency in which there is no wallet gives an empty list.',
    request: {
      query: z.object({
        currency: z.string().optional().meta({ description: 'shows that currency only', example: 'NGN' }),
      }),
    },
    success: {
      code: 'answered',
      description: '`00` the wallets',
      message: 'Balance retrieved successfully',
      data: z.array(walletRecord.strict()),
      example: [wallet],
    },
    refusals: ['malformed', 'unavailable'],
  }),
  processors: defineOperation({
    method: 'get',
    path: '/api/v1/banks',
    operationId: 'listProcessors',
    tag: 'Inquiries',
    summary: 'Payout processors of a country',
    description:
      'The banks and operators that payouts can go to; `code` is the `bankCode` of a payout. One that is not ' +
      '`active`, or has `blockTransaction`, is refused with `92`. An unknown country gives an empty list.',
    request: {
      query: z.object({
        country: z.string().meta({ description: 'name, two- or three-letter ISO code', example: 'NGA' }),
      }),
    },
    success: {
      code: 'answered',
      description: '`00` the processors',
      message: 'Processors retrieved successfully',
      data: z.array(processorRecord.strict()),
      example: [processor],
    },
    refusals: ['malformed', 'unavailable'],
  }),
  nameEnquiry: defineOperation({
    method: 'post',
    path: '/api/v1/transactions/name-enquiry',
    operationId: 'enquireName',
    tag: 'Inquiries',
    summary: "An account holder's name",
    description:
      'Who holds an account, before a payout goes to it. Limited per merchant and minute, apart from other requests. ' +
      'The success has no `responseCode`.',
    request: {
      body: {
        required: true,
        content: { 'application/json': { schema: nameEnquiryRequest, example: enquiry } },
      },
    },
    success: {
      code: null,
      description: 'the holder',
      message: 'Account found',
      data: accountNameRecord.strict(),
      example: {
        accountName: 'Ama Mensah',
        accountNumber: '0123456789',
        bankCode: '058',
        sessionId: 'uev-019a6b2c4d5e7f8091a2b3c4d5e6f708',
      },
    },
    refusals: ['malformed', 'notFound', 'noRoute', 'unavailable'],
  }),
  availability: defineOperation({
    method: 'get',
    path: '/api/v1/availability',
    operationId: 'getAvailability',
    tag: 'Inquiries',
    summary: 'Availability of routes',
    description:
      'Whether payouts can be sent at present, and how those of the last hour ended, all merchants together: the success ' +
      'rate, and how long they took. It is measured every half minute.',
    success: {
      code: 'answered',
      description: '`00` every route',
      message: 'Availability retrieved successfully',
      data: waysAvailability(route),
      example: {
        from: '2026-11-01T08:00:00.000Z',
        to: '2026-11-01T09:00:00.000Z',
        availability: [
          {
            country: 'NGA',
            currency: 'NGN',
            channel: 'Bank Transfer',
            status: 'OPERATIONAL',
            successRate: 0.987,
            medianSeconds: 4.2,
            p95Seconds: 31.5,
          },
        ],
      },
    },
    refusals: ['unavailable'],
  }),
  configuration: defineOperation({
    method: 'get',
    path: '/api/v1/configuration',
    operationId: 'getConfiguration',
    tag: 'Inquiries',
    summary: 'What routes take',
    description:
      'The routes that payouts can go by, with the amounts and your own limits. Banks and operators: the list of processors.',
    success: {
      code: 'answered',
      description: '`00` every route',
      message: 'Configuration retrieved successfully',
      data: z.strictObject({
        configuration: z.array(
          z.strictObject({
            ...route,
            decimals: numberText.meta({ description: 'of an amount, at most' }),
            minimumAmount: limit('your own minimum; null without one'),
            maximumAmount: limit('your limit of one payout; null without one'),
            dailyMaximumAmount: limit(
              'your limit of a UTC day, over all routes of the currency; null without one',
            ),
          }),
        ),
      }),
      example: {
        configuration: [
          {
            country: 'NGA',
            currency: 'NGN',
            channel: 'Bank Transfer',
            decimals: 2,
            minimumAmount: null,
            maximumAmount: 500000,
            dailyMaximumAmount: null,
          },
        ],
      },
    },
    refusals: [],
  }),
};
