import {
  bankCodes,
  type SampleCollection as CollectionRequest,
  checkStatusResponse,
  collectionBody,
  collectionHeaders,
  type SamplePayout as PayoutRequest,
  payinHeaders,
  payinResponse,
  payoutBody,
  payoutEnvelope,
  payoutHeaders,
  payoutRecord,
} from '@pesewa/contracts';
import { formatAmount, parseAmount } from '@pesewa/kernel';
import type { z } from 'zod';
import { type Answer, exchange, postJson, ServerError } from './http.ts';

export type { CollectionRequest, PayoutRequest };

const submission = payoutEnvelope.extend({ responseData: payoutRecord.optional() });

/** A payout API answer, read by its schema. */
export type PayoutAnswer = z.output<typeof submission> & { readonly httpStatus: number };

/** A merchant's client of the two APIs. */
export type MerchantClient = ReturnType<typeof createMerchantClient>;

/** The body of a batch of payout requests in the currency of the first one. */
export function batchBody(reference: string, requests: readonly PayoutRequest[]): string {
  const { country = 'Nigeria', currency = 'NGN' } = requests[0] ?? {};
  return JSON.stringify({
    transactionReference: reference,
    country,
    currency,
    channel: 'Bank Transfer',
    transactionType: '1',
    totalAmount: JSON.rawJSON(totalOf(requests, currency)),
    sender: { name: 'Demo Merchant', phoneNumber: '', email: 'payouts@example.com' },
    beneficiaries: requests.map((request) => ({
      transactionReference: request.reference,
      accountName: 'Ama Mensah',
      accountNumber: request.accountNumber,
      bankCode: request.bankCode ?? bankCodes[currency] ?? '',
      phoneNumber: '',
      amount: JSON.rawJSON(request.amount),
      saveBeneficiary: false,
    })),
  });
}

function totalOf(requests: readonly PayoutRequest[], currency: string): string {
  const minor = requests.reduce((sum, { amount }) => {
    const parsed = parseAmount(amount, currency);
    if (!parsed.ok) throw new RangeError(`${amount} is no amount in ${currency}`);
    return sum + parsed.value.minor;
  }, 0n);
  return formatAmount(minor, currency);
}

/** The body of an answer; a 5xx may have a different form (contract 7). */
function read<Schema extends z.ZodType>(schema: Schema, { status, body }: Answer): z.output<Schema> {
  const parsed = schema.safeParse(body);
  if (parsed.success) return parsed.data;
  // A refusal of check-status says nothing about the collection; it only asks to try later (429) or again (5xx). A server
  // that has waited too long for the rest of a request answers 408 without a body.
  throw status >= 500 || status === 429 || status === 408
    ? new ServerError(`the answer is ${status}`)
    : parsed.error;
}

/** Builds a merchant's client; every answer is parsed with its contract schema. */
export function createMerchantClient(options: {
  readonly transferUrl: string;
  readonly collectionsUrl: string;
  readonly publicKey: string;
}) {
  const { transferUrl, collectionsUrl } = options;
  const headers = payoutHeaders(options.publicKey);
  const asPayout = (answer: Answer): PayoutAnswer => ({
    ...read(submission, answer),
    httpStatus: answer.status,
  });
  const collect = async (path: string, request: CollectionRequest, otpCode?: string) => {
    const answer = await postJson(
      `${collectionsUrl}/collection/v1/${path}`,
      collectionBody(request, otpCode),
      payinHeaders(options.publicKey, request),
    );
    return read(payinResponse, answer);
  };
  return {
    requestPayout: async (request: PayoutRequest) =>
      asPayout(
        await postJson(`${transferUrl}/api/v1/transactions/transfer/single`, payoutBody(request), headers),
      ),
    /** Submits payouts in the currency of the first one as one batch, all or nothing. */
    requestBatch: async (reference: string, requests: readonly PayoutRequest[]) => {
      const url = `${transferUrl}/api/v1/transactions/transfer/bulk`;
      return asPayout(await postJson(url, batchBody(reference, requests), headers));
    },
    lookUpPayout: async (reference: string) =>
      asPayout(
        await exchange(`${transferUrl}/api/v1/transactions/${encodeURIComponent(reference)}/query`, {
          headers,
        }),
      ),
    initiateCollection: (request: CollectionRequest) => collect('payin', request),
    completeCollection: (request: CollectionRequest, otpCode?: string) =>
      collect('complete-payin', request, otpCode),
    checkCollection: async (request: Pick<CollectionRequest, 'reference' | 'country'>) => {
      const body = JSON.stringify({
        requestHeader: { clientId: '', requestType: `${request.country}-Collections` },
        transactionReference: request.reference,
        transactionCountry: request.country,
      });
      const answer = await postJson(
        `${collectionsUrl}/collection/v1/check-status`,
        body,
        collectionHeaders(options.publicKey, request.reference),
      );
      return read(checkStatusResponse, answer).serverResponse.responseDetails;
    },
  };
}
