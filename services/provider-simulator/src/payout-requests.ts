import {
  type BulkPayoutHeader,
  type bulkPayoutRequest,
  countryCode,
  currencyCode,
  missingConditionalField,
  type PayoutCode,
  type SinglePayoutRequest,
} from '@pesewa/contracts';
import { accept, type Money, parseAmount, type Result, refuse } from '@pesewa/kernel';
import type { z } from 'zod';
import { findProcessor } from './domain/processors.ts';

/** The fields of a payout that the simulator uses. */
export interface ReadPayout {
  readonly reference: string;
  readonly accountNumber: string;
  readonly amount: Money;
}

/** Why a request is refused; the message names the field. */
export interface RequestRefusal {
  readonly code: PayoutCode;
  readonly message: string;
}

/** Reads a well-formed single payout as a real upstream would: with its conditional fields required (contract 2.2). */
export function readSingle(body: SinglePayoutRequest): Result<ReadPayout, RequestRefusal> {
  const place = readPlace(body);
  if (!place.ok) return place;
  const missing = missingConditionalField({ ...body, ...place.value });
  if (missing !== undefined) return refuse({ code: 'malformed', message: missing });
  const { accountNumber, bankCode } = body.beneficiary;
  const amount = readPositive(body.beneficiary.amount, place.value.currency, 'beneficiary.amount');
  if (!amount.ok) return amount;
  const routed = checkRoute(place.value, bankCode, 'beneficiary.bankCode');
  return routed ?? accept({ reference: body.transactionReference, accountNumber, amount: amount.value });
}

/** Reads a well-formed batch, completely or not at all (contract 2.3); its items need no conditional fields. */
export function readBatch(
  body: z.output<typeof bulkPayoutRequest>,
): Result<readonly ReadPayout[], RequestRefusal> {
  const place = readPlace(body);
  if (!place.ok) return place;
  const { currency } = place.value;
  const total = readPositive(body.totalAmount, currency, 'totalAmount');
  if (!total.ok) return total;
  const references = new Set([body.transactionReference]);
  const payouts: ReadPayout[] = [];
  for (const [index, item] of body.beneficiaries.entries()) {
    const { transactionReference: reference, accountNumber } = item;
    const path = `beneficiaries.${index}`;
    if (references.has(reference)) {
      return refuse({ code: 'malformed', message: `${path}.transactionReference is used twice` });
    }
    references.add(reference);
    const amount = readPositive(item.amount, currency, `${path}.amount`);
    if (!amount.ok) return amount;
    const unrouted = checkRoute(place.value, item.bankCode, `${path}.bankCode`);
    if (unrouted) return unrouted;
    payouts.push({ reference, accountNumber, amount: amount.value });
  }
  const sum = payouts.reduce((minor, { amount }) => minor + amount.minor, 0n);
  if (sum === total.value.minor) return accept(payouts);
  return refuse({ code: 'invalidAmount', message: 'totalAmount is not the sum of the amounts' });
}

interface Place {
  readonly country: string;
  readonly currency: string;
}

function readPlace(
  body: Pick<SinglePayoutRequest | BulkPayoutHeader, 'country' | 'currency'>,
): Result<Place, RequestRefusal> {
  const country = countryCode(body.country);
  const currency = currencyCode(body.currency);
  if (country === undefined) return refuse({ code: 'malformed', message: 'country is unknown' });
  if (currency === undefined)
    return refuse({ code: 'malformed', message: 'currency must be an ISO 4217 code' });
  return accept({ country, currency });
}

function readPositive(text: string, currency: string, path: string): Result<Money, RequestRefusal> {
  const amount = parseAmount(text, currency);
  if (amount.ok && amount.value.minor > 0n) return amount;
  return refuse({ code: 'invalidAmount', message: `${path} is no acceptable amount` });
}

/** A refusal if the country has no active processor with this code and currency. */
function checkRoute({ country, currency }: Place, bankCode: string, path: string) {
  const processor = findProcessor(country, bankCode);
  if (processor?.active && !processor.blockTransaction && processor.currency === currency) return undefined;
  return refuse<RequestRefusal>({
    code: 'noRoute',
    message: `${path} names a processor that is unknown, inactive or blocked`,
  });
}
