import { currencyCode, numberText, pageLimit } from '@pesewa/contracts';
import { listParameters, nextCursorField, onlyParameters } from '@pesewa/merchant-api';
import { z } from 'zod';
import { defineOperation } from './api-operation.ts';
import { type LineType, lineTypes } from './domain/statement.ts';

const PAGE = { most: 500, byDefault: 100 } as const;
const FORMATS = ['json', 'csv'] as const;

const { from, to } = listParameters('po');

/** The parameters of a wallet's statement. */
export const statementParameters = onlyParameters({
  currency: z
    .string({ error: 'is required: the currency of the wallet' })
    .refine((text) => currencyCode(text) !== undefined, { error: 'must be an ISO 4217 code such as KES' })
    .meta({ description: "the wallet's currency", example: 'NGN' }),
  from: from.meta({ description: 'lines of this time or later', example: '2026-11-01T00:00:00Z' }),
  to: to.meta({ description: 'lines before this time', example: '2026-12-01T00:00:00Z' }),
  cursor: z
    .string()
    .max(50, { error: 'must be a nextCursor of this statement' })
    .optional()
    .meta({ description: 'the `nextCursor` of the page before, with the same other parameters' }),
  limit: pageLimit(PAGE.most, PAGE.byDefault).meta({
    description: `how many lines a page has, at most ${PAGE.most}; ${PAGE.byDefault} if it is left out`,
  }),
  format: z
    .enum(FORMATS, { error: `must be one of ${FORMATS.join(', ')}` })
    .optional()
    .meta({ description: 'json or csv; what `Accept` asks for if it is left out, else json' }),
}).refine((given) => !given.from || !given.to || Date.parse(given.from) <= Date.parse(given.to), {
  error: 'must not be before from',
  path: ['to'],
});

const moment = z.strictObject({
  bookedBalance: numberText.meta({ description: '`balance` and `heldBalance` together' }),
  balance: numberText.meta({ description: 'what could be spent, as the balance operation shows it' }),
  heldBalance: numberText.meta({ description: 'amounts and fees of payouts that were under way' }),
});

const time = z.iso.datetime();

const line = z.strictObject({
  bookedAt: time.meta({ description: 'when it was booked, UTC' }),
  type: z.enum(Object.keys(lineTypes) as [LineType, ...LineType[]]),
  description: z.string().meta({ description: '`type` in words' }),
  merchantReference: z
    .string()
    .nullable()
    .meta({ description: 'your reference of the payment; null if there is none' }),
  transactionReference: z.string().meta({ description: 'our reference of it' }),
  amount: numberText.meta({ description: 'the change of `bookedBalance`: below zero if money left' }),
  feeAmount: numberText
    .nullable()
    .meta({ description: 'of a collection: our fee, which `amount` is already without; else null' }),
  bookedBalance: numberText.meta({ description: 'after this line' }),
});

/** The columns of a statement as CSV. */
export const csvColumns = [
  'bookedAt',
  'type',
  'description',
  'merchantReference',
  'transactionReference',
  'currency',
  'amount',
  'feeAmount',
  'bookedBalance',
] as const;

const ours = 'po-019a6b2c4d5e7f8091a2b3c4d5e6f708';

/** The operation that shows what changed a wallet (contract 10.22). */
export const statementOperations = {
  statement: defineOperation({
    method: 'get',
    path: '/api/v1/wallets/statement',
    operationId: 'getWalletStatement',
    tag: 'Inquiries',
    summary: 'Statement of a wallet',
    description:
      'What changed the booked balance of your wallet, the oldest first, with the balances at both ends of the period. ' +
      'Money that is held for a payout under way is still booked, and is not in `balance`. A cursor stays valid while new lines ' +
      'come. As CSV the first page begins with the columns and the opening balance, the last one ends with the closing balance, ' +
      'and the cursor of the next page is in the header `x-next-cursor`: pages put one after the other are one file.',
    request: { query: statementParameters },
    success: {
      code: 'answered',
      description: '`00` a page of the statement',
      message: 'Statement retrieved successfully',
      data: z.strictObject({
        currency: z.string(),
        from: time.nullable(),
        to: time.nullable(),
        opening: moment.meta({ description: 'before the first line of the period' }),
        closing: moment.meta({ description: 'after its last line' }),
        lines: z.array(line),
        nextCursor: nextCursorField,
      }),
      example: {
        currency: 'NGN',
        from: '2026-11-01T00:00:00.000Z',
        to: '2026-12-01T00:00:00.000Z',
        opening: { bookedBalance: 10000, balance: 10000, heldBalance: 0 },
        closing: { bookedBalance: 8484.49, balance: 8484.49, heldBalance: 0 },
        lines: [
          {
            bookedAt: '2026-11-02T08:00:00.000Z',
            type: 'PAYOUT',
            description: lineTypes.PAYOUT,
            merchantReference: 'inv-2031',
            transactionReference: ours,
            amount: -1500.5,
            feeAmount: null,
            bookedBalance: 8499.5,
          },
          {
            bookedAt: '2026-11-02T08:00:00.000Z',
            type: 'PAYOUT_FEE',
            description: lineTypes.PAYOUT_FEE,
            merchantReference: 'inv-2031',
            transactionReference: ours,
            amount: -15.01,
            feeAmount: null,
            bookedBalance: 8484.49,
          },
        ],
        nextCursor: null,
      },
      csv: `${csvColumns.join(',')}\r\n2026-11-02T08:00:00.000Z,PAYOUT,Payout,inv-2031,${ours},NGN,-1500.5,,8499.5\r\n`,
    },
    refusals: ['malformed', 'notFound', 'unavailable'],
  }),
};
