import {
  checkStatusResponse,
  payinResponse,
  payoutEnvelope,
  payoutRecord,
  requestTypeOf,
} from '@pesewa/contracts';
import { formatAmount, parseAmount } from '@pesewa/kernel';
import type { z } from 'zod';
import { type Answer, exchange, postJson, ServerError } from './http.ts';

/** The fields of a payout that a caller chooses; the others are filled in. */
export interface PayoutWish {
  readonly reference: string;
  /** Decimal text, written into the body as a JSON number. */
  readonly amount: string;
  readonly currency?: string;
  readonly country?: string;
  /** By default one of the currency's processors. */
  readonly bankCode?: string;
  /** Its last four digits choose the simulator's behaviour (contract 10.18). */
  readonly accountNumber: string;
}

/** The fields of a collection that a caller chooses; the others are filled in. */
export interface CollectionWish {
  readonly reference: string;
  readonly amount: string;
  readonly operatorCode: string;
  readonly currency: string;
  readonly country: 'GM' | 'GH' | 'CI' | 'KE';
  readonly customerNumber: string;
}

const submission = payoutEnvelope.extend({ responseData: payoutRecord.optional() });

/** A payout API answer, read by its schema. */
export type PayoutAnswer = z.output<typeof submission> & { readonly httpStatus: number };

/** A merchant's client of the two APIs. */
export interface MerchantClient {
  readonly requestPayout: (wish: PayoutWish) => Promise<PayoutAnswer>;
  /** Submits payouts in the currency of the first one as one batch, all or nothing. */
  readonly requestBatch: (reference: string, wishes: readonly PayoutWish[]) => Promise<PayoutAnswer>;
  readonly lookUpPayout: (reference: string) => Promise<PayoutAnswer>;
  readonly initiateCollection: (wish: CollectionWish) => Promise<z.output<typeof payinResponse>>;
  readonly completeCollection: (
    wish: CollectionWish,
    otpCode?: string,
  ) => Promise<z.output<typeof payinResponse>>;
  readonly checkCollection: (
    wish: CollectionWish,
  ) => Promise<{ readonly responseCode: string; readonly responseMessage: string }>;
}

/** A processor of each currency, which the simulator lists as active. */
export const bankCodes: Readonly<Record<string, string>> = {
  GMD: 'GMTRB',
  GHS: '300304',
  XOF: 'CI008',
  KES: '68',
  XAF: 'CM10005',
  NGN: '058',
  ZAR: '250655',
  EGP: '0003',
};

const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The body of a payout wish. */
export function payoutBody(wish: PayoutWish): string {
  const currency = wish.currency ?? 'NGN';
  const body = {
    transactionReference: wish.reference,
    country: wish.country ?? 'Nigeria',
    currency,
    channel: 'Bank Transfer',
    beneficiary: {
      accountName: 'Ama Mensah',
      accountNumber: wish.accountNumber,
      bankCode: wish.bankCode ?? bankCodes[currency] ?? '',
      amount: JSON.rawJSON(wish.amount),
      narration: 'Thank you',
    },
    sender: { name: 'Demo Merchant', phoneNumber: '', email: 'payouts@example.com' },
  };
  return JSON.stringify(body);
}

/** The body of a batch of payout wishes in the currency of the first one. */
export function batchBody(reference: string, wishes: readonly PayoutWish[]): string {
  const { country = 'Nigeria', currency = 'NGN' } = wishes[0] ?? {};
  return JSON.stringify({
    transactionReference: reference,
    country,
    currency,
    channel: 'Bank Transfer',
    transactionType: '1',
    totalAmount: JSON.rawJSON(totalOf(wishes, currency)),
    sender: { name: 'Demo Merchant', phoneNumber: '', email: 'payouts@example.com' },
    beneficiaries: wishes.map((wish) => ({
      transactionReference: wish.reference,
      accountName: 'Ama Mensah',
      accountNumber: wish.accountNumber,
      bankCode: wish.bankCode ?? bankCodes[currency] ?? '',
      phoneNumber: '',
      amount: JSON.rawJSON(wish.amount),
      saveBeneficiary: false,
    })),
  });
}

function totalOf(wishes: readonly PayoutWish[], currency: string): string {
  const minor = wishes.reduce((sum, { amount }) => {
    const parsed = parseAmount(amount, currency);
    if (!parsed.ok) throw new RangeError(`${amount} is no amount in ${currency}`);
    return sum + parsed.value.minor;
  }, 0n);
  return formatAmount(minor, currency);
}

/** The body of a collection, with the customer's OTP if one is given. */
export function collectionBody(wish: CollectionWish, otpCode?: string): string {
  const needsType = wish.country === 'GH' || wish.country === 'KE';
  return JSON.stringify({
    requestHeader: { clientId: '', requestType: requestTypeOf(wish.country) },
    customerName: 'Kofi Boateng',
    customerEmail: 'kofi@example.com',
    customerNumber: wish.customerNumber,
    transactionReference: wish.reference,
    transactionDescription: 'An order',
    transactionAmount: JSON.rawJSON(wish.amount),
    transactionCurrency: wish.currency,
    transactionCountry: wish.country,
    ...(needsType && { transactionType: '1' }),
    successUrl: '',
    errorUrl: '',
    cancelUrl: '',
    operatorCode: wish.operatorCode,
    webhookUrl: '',
    ...(otpCode !== undefined && { otpCode }),
  });
}

/** The headers of payin and complete-payin (contract 5). */
export function payinHeaders(publicKey: string, wish: CollectionWish): Record<string, string> {
  return collectionHeaders(publicKey, `${wish.amount}${wish.reference}${wish.customerNumber}`);
}

function collectionHeaders(publicKey: string, module: string): Record<string, string> {
  return { 'x-business': base64(publicKey), 'x-app': 'api', 'x-module': base64(module) };
}

/** The body of an answer; a 5xx may have a different form (contract 7). */
function read<Schema extends z.ZodType>(schema: Schema, { status, body }: Answer): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  // A refusal of check-status says nothing about the collection; it only asks to try later (429) or again (5xx).
  throw status >= 500 || status === 429 ? new ServerError(`the answer is ${status}`) : parsed.error;
}

/** Builds a merchant's client; every answer is parsed with its contract schema. */
export function createMerchantClient(options: {
  readonly transferUrl: string;
  readonly collectionsUrl: string;
  readonly publicKey: string;
}): MerchantClient {
  const { transferUrl, collectionsUrl } = options;
  const key = base64(options.publicKey);
  const asPayout = (answer: Answer): PayoutAnswer => ({
    ...read(submission, answer),
    httpStatus: answer.status,
  });
  const collect = async (path: string, wish: CollectionWish, otpCode?: string) => {
    const answer = await postJson(
      `${collectionsUrl}/collection/v1/${path}`,
      collectionBody(wish, otpCode),
      payinHeaders(options.publicKey, wish),
    );
    return read(payinResponse, answer);
  };
  return {
    requestPayout: async (wish) =>
      asPayout(
        await postJson(`${transferUrl}/api/v1/transactions/transfer/single`, payoutBody(wish), {
          'x-api-key': key,
        }),
      ),
    requestBatch: async (reference, wishes) => {
      const url = `${transferUrl}/api/v1/transactions/transfer/bulk`;
      return asPayout(await postJson(url, batchBody(reference, wishes), { 'x-api-key': key }));
    },
    lookUpPayout: async (reference) =>
      asPayout(
        await exchange(`${transferUrl}/api/v1/transactions/${encodeURIComponent(reference)}/query`, {
          headers: { 'x-api-key': key },
        }),
      ),
    initiateCollection: (wish) => collect('payin', wish),
    completeCollection: (wish, otpCode) => collect('complete-payin', wish, otpCode),
    checkCollection: async (wish) => {
      const body = JSON.stringify({
        requestHeader: { clientId: '', requestType: `${wish.country}-Collections` },
        transactionReference: wish.reference,
        transactionCountry: wish.country,
      });
      const answer = await postJson(
        `${collectionsUrl}/collection/v1/check-status`,
        body,
        collectionHeaders(options.publicKey, wish.reference),
      );
      return read(checkStatusResponse, answer).serverResponse.responseDetails;
    },
  };
}
