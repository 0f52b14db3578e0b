import {
  checkStatusCodes,
  completionFlow,
  findCollectionRefusal,
  findMobileOperator,
  jsonNumber,
  replaceInvisible,
  servedCountries,
  twoLetterCode,
} from '@pesewa/contracts';
import { formatAmount, unreachable } from '@pesewa/kernel';
import { z } from 'zod';
import type { Answered } from '../call.ts';
import {
  BUSY_RETRY_MS,
  type CompletionResult,
  type InitiationResult,
  type LookupResult,
  malformed,
  type NotSent,
  notSent,
  type OutgoingCollection,
  refusedUs,
  type Unknown,
  unknown,
} from '../rail.ts';
import { base64, reasonLine } from '../text.ts';

const ADDRESS_LENGTH_MAX = 2_048;
/** A value that is not a text counts as absent and does not invalidate the answer. */
const lenientText = z.string().optional().catch(undefined);

/** An answer of payin or complete-payin as rails send it: only code and message decide (contract 2.9). */
const collectionAnswer = z.object({
  responseDetails: z.object({
    responseCode: z.enum(['09', '06']),
    responseMessage: z.enum(['PENDING', 'FAILED']),
    failedReason: lenientText,
  }),
  paymentCompletionUrl: lenientText,
  redirectionUrl: lenientText,
});

/** An answer of check-status as rails send it, in any words (contract 2.10). */
const checkAnswer = z.object({
  serverResponse: z.object({
    responseDetails: z.object({ responseMessage: z.string(), responseCode: z.string() }),
  }),
});

type CollectionAnswer = z.output<typeof collectionAnswer>;

/** The two-letter code of a country, given with two or three letters (contract 2.8). */
function collectionCountry(country: string): string {
  return country.length === 3 ? (twoLetterCode(country) ?? country) : country;
}

/** The body of a collection and its security value (contract 2.8, 5), both made from the same amount text. */
export function collectionRequest(order: OutgoingCollection & { readonly otpCode?: string | undefined }): {
  readonly body: unknown;
  readonly securityModule: string;
} {
  const amount = formatAmount(order.amount, order.currency);
  const mobileOperator = findMobileOperator(order.operatorCode);
  const body = {
    requestHeader: {
      clientId: '',
      requestType: mobileOperator
        ? servedCountries[mobileOperator.country].collections.requestType
        : 'Collections',
    },
    customerName: order.customerName ?? '',
    customerEmail: order.customerEmail ?? '',
    customerNumber: order.customerNumber,
    transactionReference: order.reference,
    transactionDescription: order.description ?? '',
    transactionAmount: jsonNumber(amount),
    transactionCurrency: order.currency,
    transactionCountry: collectionCountry(order.country),
    transactionType: order.transactionType,
    successUrl: order.successUrl ?? '',
    errorUrl: order.errorUrl ?? '',
    cancelUrl: order.cancelUrl ?? '',
    operatorCode: order.operatorCode,
    // Empty, so that the upstream uses the callback address configured there.
    webhookUrl: '',
    otpCode: order.otpCode,
  };
  return { body, securityModule: base64(`${amount}${order.reference}${order.customerNumber}`) };
}

/** Whether a customer completes a collection at a link that the rail gives (contract 2.8). */
export function isByLink(order: Pick<OutgoingCollection, 'operatorCode' | 'transactionType'>): boolean {
  const mobileOperator = findMobileOperator(order.operatorCode);
  return (
    mobileOperator !== undefined && completionFlow(mobileOperator, order.transactionType).kind === 'link'
  );
}

/**
 * Reads the answer to payin (contract 2.9). `readLink` checks the payment link; it is undefined if none is expected.
 */
export function readInitiation(
  answer: Answered,
  readLink: ((address: string) => string) | undefined,
): InitiationResult {
  const read = readAnswer(answer);
  switch (read.kind) {
    case 'refused':
      if (findCollectionRefusal(read.reason)?.definitive === false) return unknown('duplicate: look it up');
      return { kind: 'failed', reason: read.reason };
    case 'goesOn': {
      const { redirectionUrl = '', paymentCompletionUrl = '' } = read.answer;
      return {
        kind: 'acknowledged',
        redirectionUrl: readLink?.(redirectionUrl || paymentCompletionUrl) ?? '',
      };
    }
    case 'unknown':
    case 'notSent':
      return read;
    default:
      return unreachable(read);
  }
}

/** Reads the answer to complete-payin (contract 4.8 and 10.12). */
export function readCompletion(answer: Answered): CompletionResult {
  const read = readAnswer(answer);
  return read.kind === 'goesOn' ? { kind: 'acknowledged' } : read;
}

/**
 * The meaning of an answer: the collection goes on, is refused with an upper-case reason, or the answer is unreadable.
 */
type ReadAnswer =
  | { readonly kind: 'goesOn'; readonly answer: CollectionAnswer }
  | { readonly kind: 'refused'; readonly reason: string }
  | Unknown
  | NotSent;

function readAnswer(answer: Answered): ReadAnswer {
  const parsed = collectionAnswer.safeParse(answer.body);
  if (!parsed.success) return malformed(answer, parsed.error);
  const { responseCode, responseMessage, failedReason } = parsed.data.responseDetails;
  if (responseCode === '09') {
    if (responseMessage === 'PENDING' && answer.status < 300) return { kind: 'goesOn', answer: parsed.data };
    return unknown(`code 09 with HTTP ${answer.status} and another message`);
  }
  if (responseMessage !== 'FAILED') return unknown('code 06 with another message');
  const reason = (reasonLine(failedReason) ?? 'FAILED').toUpperCase();
  const status = findCollectionRefusal(reason)?.status;
  if (status === 429) return notSent(reason, BUSY_RETRY_MS);
  if (status === 401) return refusedUs(reason);
  return status === 500 || status === 503 ? unknown(reason) : { kind: 'refused', reason };
}

/**
 * A payment link that a customer may be sent to, in its normal spelling; an empty text for any other. It must be https;
 * http is allowed only if the rail itself is reached by it, as on a developer's machine.
 */
export function readPaymentLink(text: string, collectionsUrl: string): string {
  const url = replaceInvisible(text, '') !== text ? null : URL.parse(text);
  if (url === null || url.username !== '' || url.password !== '') return '';
  const isFit = url.protocol === 'https:' || (url.protocol === 'http:' && collectionsUrl.startsWith('http:'));
  return isFit && url.href.length <= ADDRESS_LENGTH_MAX ? url.href : '';
}

/** The body of a status check (contract 2.10); the requestType follows the contract's only sample, `GH-Collections`. */
export function checkBody(reference: string, country: string): unknown {
  const transactionCountry = collectionCountry(country);
  return {
    requestHeader: { clientId: '', requestType: `${transactionCountry}-Collections` },
    transactionReference: reference,
    transactionCountry,
  };
}

/**
 * Reads the answer to a status check.
 *
 * A state counts only if code and message agree: `00` alone may also mean that the question was answered.
 */
export function readCheck(answer: Answered): LookupResult {
  if (answer.status >= 300) return unknown(`the check was refused with HTTP ${answer.status}`);
  const parsed = checkAnswer.safeParse(answer.body);
  if (!parsed.success) return malformed(answer, parsed.error);
  const { responseCode, responseMessage } = parsed.data.serverResponse.responseDetails;
  const message = responseMessage.trim().toUpperCase();
  const says = (state: keyof typeof checkStatusCodes) =>
    checkStatusCodes[state].responseCode === responseCode &&
    checkStatusCodes[state].responseMessage === message;
  if (says('pending')) return { kind: 'pending' };
  if (says('completed')) return { kind: 'completed', amount: null, fee: null, reason: null };
  if (says('failed')) return { kind: 'failed', reason: 'FAILED' };
  if (says('notFound')) return { kind: 'notFound' };
  return unknown('a code and message that decide nothing');
}
