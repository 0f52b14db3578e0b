import {
  type channels,
  countryCode,
  currencyCode,
  type PayoutCode,
  type SinglePayoutRequest,
} from '@pesewa/contracts';
import { accept, type Money, parseAmount, type Result, refuse } from '@pesewa/kernel';

/** A payout as a merchant ordered it, normalised: equal content is equal text (design 4.2). */
export interface PayoutOrder {
  readonly merchantReference: string;
  /** Three letters. */
  readonly country: string;
  readonly channel: (typeof channels)[number];
  readonly transactionType: string | undefined;
  readonly amount: Money;
  readonly beneficiary: Omit<SinglePayoutRequest['beneficiary'], 'amount'>;
  readonly sender: SinglePayoutRequest['sender'];
}

/** A refused order: the code of the payout API, and a sentence that names the field. */
export interface OrderRefusal {
  readonly code: PayoutCode;
  readonly message: string;
}

/** Normalises a well-formed request: country, currency and the value of the amount (design 9). */
export function readOrder(request: SinglePayoutRequest): Result<PayoutOrder, OrderRefusal> {
  const country = countryCode(request.country);
  if (country === undefined) {
    return refuse({ code: 'malformed', message: 'country must be a country name or an ISO 3166 code' });
  }
  const currency = currencyCode(request.currency);
  if (currency === undefined)
    return refuse({ code: 'malformed', message: 'currency must be an ISO 4217 code' });
  const amount = parseAmount(request.beneficiary.amount, currency);
  if (!amount.ok || amount.value.minor <= 0n) {
    const message = `beneficiary.amount must be a positive number, no finer than ${currency} allows`;
    return refuse({ code: 'invalidAmount', message });
  }
  const { amount: _text, ...beneficiary } = request.beneficiary;
  return accept({
    merchantReference: request.transactionReference,
    country,
    channel: request.channel,
    transactionType: request.transactionType,
    amount: amount.value,
    beneficiary,
    sender: request.sender,
  });
}

/** One text for one content, whatever the spelling of the request: what duplicates are judged by (design 4.2). */
export function canonicalContent(order: PayoutOrder): string {
  const { beneficiary, sender } = order;
  return JSON.stringify([
    [
      order.merchantReference,
      order.country,
      order.amount.currency,
      order.amount.minor.toString(),
      order.channel,
    ],
    order.transactionType ?? '',
    [beneficiary.accountName, beneficiary.accountNumber, beneficiary.bankCode, beneficiary.phoneNumber ?? ''],
    [
      beneficiary.accountType ?? '',
      beneficiary.identificationType ?? '',
      beneficiary.identificationNumber ?? '',
    ],
    [beneficiary.nationalIdNumber ?? '', beneficiary.narration ?? ''],
    [
      sender.name,
      sender.email,
      sender.phoneNumber ?? '',
      sender.countryCode ?? '',
      sender.currencyCode ?? '',
    ],
  ]);
}
