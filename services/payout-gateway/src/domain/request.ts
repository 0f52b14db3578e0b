import {
  type BulkPayoutHeader,
  type BulkPayoutItem,
  countryCode,
  currencyCode,
  missingConditionalField,
  type PayoutCode,
  type PayoutDetails,
  type SinglePayoutRequest,
} from '@pesewa/contracts';
import { accept, amountProblem, type Money, parsePositiveAmount, type Result, refuse } from '@pesewa/kernel';

/** A payout as a merchant requested it, normalised: equal content gives equal text (contract 10.3). */
export interface PayoutRequest extends PayoutDetails {
  readonly merchantReference: string;
  readonly amount: Money;
}

/** The fields that all items of a batch share, normalised. */
export interface BatchTerms
  extends Pick<PayoutRequest, 'country' | 'channel' | 'transactionType' | 'sender'> {
  readonly merchantReference: string;
  readonly total: Money;
}

/** The codes by which a payout or a batch is refused. */
export const requestRefusals = [
  'malformed',
  'invalidAmount',
  'duplicate',
  'insufficientFunds',
  'overLimit',
  'noRoute',
  'unavailable',
] as const satisfies readonly PayoutCode[];

/** A refused request: the code of the payout API, and a sentence that names the field. */
export interface RequestRefusal {
  readonly code: (typeof requestRefusals)[number];
  readonly message: string;
}

/** Normalises a well-formed request and judges its conditional fields (contract 2.2 and 10.5). */
export function normaliseRequest(request: SinglePayoutRequest): Result<PayoutRequest, RequestRefusal> {
  const shared = normaliseShared(request);
  if (!shared.ok) return shared;
  const { currency, ...rest } = shared.value;
  const amount = readPositive(request.beneficiary.amount, currency, 'beneficiary.amount');
  if (!amount.ok) return amount;
  const order: PayoutRequest = {
    merchantReference: request.transactionReference,
    ...rest,
    amount: amount.value,
    beneficiary: beneficiaryOf(request.beneficiary),
  };
  const missing = missingConditionalField({ ...order, currency });
  return missing === undefined ? accept(order) : refuse({ code: 'malformed', message: missing });
}

/** Normalises the shared fields of a batch; the conditional rules of contract 2.2 apply to single payouts only. */
export function normaliseBatchTerms(header: BulkPayoutHeader): Result<BatchTerms, RequestRefusal> {
  const shared = normaliseShared(header);
  if (!shared.ok) return shared;
  const { currency, ...rest } = shared.value;
  const total = readPositive(header.totalAmount, currency, 'totalAmount');
  if (!total.ok) return total;
  return accept({ merchantReference: header.transactionReference, ...rest, total: total.value });
}

/** Normalises an item of a batch; `path` names it in a refusal. */
export function normaliseItem(
  terms: BatchTerms,
  item: BulkPayoutItem,
  path: string,
): Result<PayoutRequest, RequestRefusal> {
  const amount = readPositive(item.amount, terms.total.currency, `${path}.amount`);
  if (!amount.ok) return amount;
  return accept({
    merchantReference: item.transactionReference,
    country: terms.country,
    channel: terms.channel,
    transactionType: terms.transactionType,
    amount: amount.value,
    beneficiary: beneficiaryOf(item),
    sender: terms.sender,
  });
}

function normaliseShared(
  request: SinglePayoutRequest | BulkPayoutHeader,
): Result<
  Pick<PayoutRequest, 'country' | 'channel' | 'transactionType' | 'sender'> & { readonly currency: string },
  RequestRefusal
> {
  const country = countryCode(request.country);
  if (country === undefined) return malformed('country', COUNTRY);
  const currency = currencyCode(request.currency);
  if (currency === undefined) return malformed('currency', CURRENCY);
  const { name, email, phoneNumber } = request.sender;
  const senderCountry = known(countryCode, request.sender.countryCode);
  if (senderCountry === null) return malformed('sender.countryCode', COUNTRY);
  const senderCurrency = known(currencyCode, request.sender.currencyCode);
  if (senderCurrency === null) return malformed('sender.currencyCode', CURRENCY);
  return accept({
    country,
    currency,
    channel: request.channel,
    transactionType: request.transactionType,
    sender: { name, email, phoneNumber, countryCode: senderCountry, currencyCode: senderCurrency },
  });
}

const COUNTRY = 'must be a country name or an ISO 3166 code';
const CURRENCY = 'must be an ISO 4217 code';

/** A known code, undefined if none is given, or null if the given one is unknown. */
function known(
  read: (text: string) => string | undefined,
  text: string | undefined,
): string | undefined | null {
  return text === undefined ? undefined : (read(text) ?? null);
}

function readPositive(text: string, currency: string, path: string): Result<Money, RequestRefusal> {
  const amount = parsePositiveAmount(text, currency);
  if (amount.ok) return amount;
  return refuse({ code: 'invalidAmount', message: `${path} ${amountProblem(amount.refusal, currency)}` });
}

function malformed(path: string, what: string): { readonly ok: false; readonly refusal: RequestRefusal } {
  return refuse({ code: 'malformed', message: `${path} ${what}` });
}

/** Only the fields that we know: other fields of a request have no effect. */
function beneficiaryOf(given: PayoutRequest['beneficiary']): PayoutRequest['beneficiary'] {
  return {
    accountName: given.accountName,
    accountNumber: given.accountNumber,
    phoneNumber: given.phoneNumber,
    accountType: given.accountType,
    identificationType: given.identificationType,
    identificationNumber: given.identificationNumber,
    nationalIdNumber: given.nationalIdNumber,
    bankCode: given.bankCode,
    narration: given.narration,
  };
}

/**
 * The canonical text of an order's content, independent of the request's spelling; duplicates are recognised by it
 * (contract 10.3).
 */
export function canonicalContent(order: PayoutRequest): string {
  const { beneficiary, sender } = order;
  return JSON.stringify([
    order.merchantReference,
    order.country,
    order.amount.currency,
    order.amount.minor.toString(),
    order.channel,
    order.transactionType ?? '',
    beneficiary.accountName,
    beneficiary.accountNumber,
    beneficiary.bankCode,
    beneficiary.phoneNumber ?? '',
    beneficiary.accountType ?? '',
    beneficiary.identificationType ?? '',
    beneficiary.identificationNumber ?? '',
    beneficiary.nationalIdNumber ?? '',
    beneficiary.narration ?? '',
    sender.name,
    sender.email,
    sender.phoneNumber ?? '',
    sender.countryCode ?? '',
    sender.currencyCode ?? '',
  ]);
}
