import { z } from 'zod';
import { numberText } from '../json.ts';
import { line } from '../text.ts';

/** A wallet in a balance answer (contract 2.5). */
export const walletRecord = z.object({
  balance: numberText,
  countryCode: z.string(),
  countryAvatar: z.string(),
  currencyCode: z.string(),
  currencyHtml: z.string(),
});

/** A bank or mobile operator in an answer of the processors list (contract 2.6). */
export const processorRecord = z.object({
  blockTransaction: z.boolean(),
  active: z.boolean(),
  avatar: z.string(),
  sortCode: z.string(),
  shortName: z.string(),
  code: z.string(),
  name: z.string(),
  currency: z.string(),
  country: z.string(),
});

/** The account that a name enquiry asks for (contract 4.6). */
export const nameEnquiryRequest = z.object(
  { accountNumber: line(40), bankCode: line(20), currency: line(3), country: line(60) },
  { error: 'the body must be an object' },
);

/** The holder of an account (contract 2.7). */
export const accountNameRecord = z.object({
  accountName: z.string(),
  accountNumber: z.string(),
  bankCode: z.string(),
  sessionId: z.string(),
});
