import {
  checkStatusCodes,
  checkStatusResponse,
  findOperator,
  jsonNumber,
  payinResponse,
  requestTypeOf,
  twoLetterCode,
} from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import type {
  CollectionOrder,
  CompletionResult,
  InitiationResult,
  NotSent,
  Observation,
  Unknown,
} from '../connector.ts';
import type { Answered } from './call.ts';
import { BUSY_RETRY_MS, malformed, notSent, REFUSED_KEY_RETRY_MS, unknown } from './outcomes.ts';
import { base64, reasonLine } from './text.ts';

const ADDRESS_LENGTH_MAX = 2_048;

/** The two-letter code of a country that is given with two or three letters (contract 2.8). */
function collectionCountry(country: string): string {
  return country.length === 3 ? (twoLetterCode(country) ?? country) : country;
}

/** The body and the security value of a collection (contract 2.8, 5), made of one and the same amount text. */
export function collectionRequest(order: CollectionOrder & { readonly otpCode?: string | undefined }): {
  readonly body: unknown;
  readonly securityModule: string;
} {
  const amount = formatAmount(order.amount, order.currency);
  const operator = findOperator(order.operatorCode);
  const body = {
    requestHeader: { clientId: '', requestType: operator ? requestTypeOf(operator.country) : 'Collections' },
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
    // Empty, so that the upstream calls back the address that is configured there.
    webhookUrl: '',
    otpCode: order.otpCode,
  };
  return { body, securityModule: base64(`${amount}${order.reference}${order.customerNumber}`) };
}

/** Reads the answer to payin (contract 2.9). */
export function readInitiation(answer: Answered): InitiationResult {
  const refusal = readRefusal(answer);
  if (typeof refusal === 'string') {
    if (refusal === 'DUPLICATE REFERENCE') return unknown('duplicate: look it up');
    return { kind: 'failed', reason: refusal };
  }
  if (refusal) return refusal;
  const accepted = payinResponse.safeParse(answer.body);
  if (!accepted.success) return malformed(answer, accepted.error);
  const { redirectionRequired, redirectionUrl } = accepted.data;
  return { kind: 'accepted', redirectionUrl: redirectionRequired ? webAddress(redirectionUrl) : '' };
}

/** Reads the answer to complete-payin (contract 4.8, design 9). */
export function readCompletion(answer: Answered): CompletionResult {
  const refusal = readRefusal(answer);
  if (typeof refusal === 'string') return { kind: 'refused', reason: refusal };
  return refusal ?? { kind: 'accepted' };
}

/** The upper-case reason of a refusal, an outcome that is no answer, or nothing where it was accepted. */
function readRefusal(answer: Answered): string | Unknown | NotSent | undefined {
  const head = payinResponse.pick({ responseDetails: true }).safeParse(answer.body);
  if (!head.success) return malformed(answer, head.error);
  const { responseCode, responseMessage, failedReason } = head.data.responseDetails;
  if (responseCode === '09') {
    if (responseMessage === 'PENDING' && answer.status < 300) return undefined;
    return unknown(`code 09 with HTTP ${answer.status} and another message`);
  }
  if (responseMessage !== 'FAILED') return unknown('code 06 with another message');
  const reason = (reasonLine(failedReason) ?? 'FAILED').toUpperCase();
  switch (reason) {
    case 'TOO MANY REQUESTS':
      return notSent(reason, BUSY_RETRY_MS);
    case 'UNAUTHORIZED':
      return notSent(reason, REFUSED_KEY_RETRY_MS);
    case 'SERVICE UNAVAILABLE':
    case 'INTERNAL ERROR':
      return unknown(reason);
    default:
      return reason;
  }
}

/** An address that a customer may be sent to, or an empty text. */
function webAddress(text: string): string {
  const url = URL.parse(text);
  const usable = url !== null && /^https?:$/.test(url.protocol) && text.length <= ADDRESS_LENGTH_MAX;
  return usable ? text : '';
}

/** The body of a status check (contract 2.10); the requestType follows its one sample, `GH-Collections`. */
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
 * A state counts only where code and message agree: `00` alone may also mean that the question was answered.
 */
export function readCheck(answer: Answered): Observation {
  if (answer.status >= 300) return unknown(`the check was refused with HTTP ${answer.status}`);
  const parsed = checkStatusResponse.safeParse(answer.body);
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
