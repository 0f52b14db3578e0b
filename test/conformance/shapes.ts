import { numberText } from '@pesewa/contracts';
import { z } from 'zod';

// The shapes follow the contract and are strict: an additional field fails as a missing one does.

const text = z.string().min(1);

/** The envelope (contract 2.1). */
export const envelope = z.strictObject({
  isSuccessful: z.boolean(),
  responseCode: z.string().optional(),
  responseMessage: text,
  responseData: z.unknown().optional(),
});

/** The record of an accepted payout (contract 2.4, 4.1). */
export const submitted = z.strictObject({
  transactionStatus: z.enum(['INITIALIZED', 'COMPLETED', 'FAILED', 'REVERSED']),
  merchantReference: text,
  transactionReference: text,
  amount: numberText,
  feeAmount: numberText,
});

/** The record in a lookup's answer and in a webhook (contract 2.4, 4.3, 6.1). */
export const lookedUp = z.strictObject({
  ...submitted.shape,
  valueAmount: numberText,
  statusReason: z.string(),
});

/** A payout webhook's body (contract 6.1). */
export const webhook = z.strictObject({ data: lookedUp });

/** The wallets of a balance answer (contract 2.5). */
export const wallets = z.array(
  z.strictObject({
    balance: numberText,
    countryCode: z.string().regex(/^[A-Z]{3}$/),
    countryAvatar: z.url(),
    currencyCode: z.string().regex(/^[A-Z]{3}$/),
    currencyHtml: text,
  }),
);

/** The processors of a country (contract 2.6). */
export const processors = z.array(
  z.strictObject({
    blockTransaction: z.boolean(),
    active: z.boolean(),
    avatar: z.string(),
    sortCode: z.string(),
    shortName: z.string(),
    code: text,
    name: text,
    currency: z.string().regex(/^[A-Z]{3}$/),
    country: z.string().regex(/^[A-Z]{3}$/),
  }),
);

/** An account holder's name (contract 2.7). */
export const holder = z.strictObject({
  accountName: text,
  accountNumber: text,
  bankCode: text,
  sessionId: text,
});
