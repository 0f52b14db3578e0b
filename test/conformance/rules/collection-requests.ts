import { randomBytes } from 'node:crypto';
import { numberText, parseJson } from '@pesewa/contracts';
import { type Changes, changed, number } from '../conformance.ts';

/** The paths of the three operations (contract 4.7 to 4.9). */
export const paths = {
  payin: '/collection/v1/payin',
  complete: '/collection/v1/complete-payin',
  check: '/collection/v1/check-status',
} as const;

/** The path of the list (contract 10.19). */
export const listPath = '/collection/v1/collections';

const dialling: Readonly<Record<string, string>> = { GM: '220', GH: '233', CI: '225', KE: '254' };
const currencies: Readonly<Record<string, string>> = { GM: 'GMD', GH: 'GHS', CI: 'XOF', KE: 'KES' };
const run = randomBytes(3).toString('hex');
let serial = 0;

/** A new reference. */
export const next = (label: string): string => `${label}-${(serial += 1)}-${run}`;

/** A new customer number; its last four digits determine the outcome (contract 10.18). */
export function customerIn(country: string, digits = '9999'): string {
  return `${dialling[country] ?? '220'}${String((serial += 1)).padStart(5, '0')}${digits}`;
}

/** The text of a valid payin of 100 by a mobile operator of the contract's table, with the test's changes. */
export function payinBody(reference: string, changes: Changes = {}, operatorCode = 'GMQMO'): string {
  const country = operatorCode.slice(0, 2);
  return changed(
    {
      requestHeader: { clientId: '', requestType: country === 'GM' ? 'B' : 'Collections' },
      customerName: 'Kofi Boateng',
      customerEmail: 'kofi@example.com',
      customerNumber: customerIn(country),
      transactionReference: reference,
      transactionDescription: 'An order',
      transactionAmount: number('100'),
      transactionCurrency: currencies[country],
      transactionCountry: country,
      ...(/^(?:GH|KE)/.test(country) && { transactionType: '1' }),
      successUrl: '',
      errorUrl: '',
      cancelUrl: '',
      operatorCode,
      webhookUrl: '',
    },
    changes,
  );
}

/** A body with the customer's OTP, or with other changes. */
export const withOtp = (body: string, otpCode: unknown = '123456'): string => revised(body, { otpCode });

/** An existing body with changes; its numbers keep their text. */
export function revised(body: string, changes: Changes): string {
  const { transactionAmount, ...rest } = parseJson(body) as Record<string, unknown>;
  return changed({ ...rest, transactionAmount: number(String(transactionAmount)) }, changes);
}

/** The text of a valid status check (contract 2.10). */
export function statusBody(reference: string, changes: Changes = {}): string {
  return changed(
    {
      requestHeader: { clientId: '', requestType: 'GH-Collections' },
      transactionReference: reference,
      transactionCountry: 'GM',
    },
    changes,
  );
}

/** The words of a text. */
export const words = (text: string): readonly string[] => text.trim().split(/\s+/);

/** The Base64 of a text, as the headers of contract 5 carry it. */
export const base64 = (text: string): string => Buffer.from(text).toString('base64');

/** The `X-module` that belongs to a body: its amount, reference and number as written in it. */
export function moduleOf(path: string, body: unknown): string {
  const fields = typeof body === 'string' ? readable(body) : {};
  const written = (name: string): string => {
    const value = fields[name];
    return typeof value === 'string' ? value : (numberText.safeParse(value).data ?? '');
  };
  const reference = written('transactionReference');
  if (path === paths.check) return base64(reference);
  return base64(`${written('transactionAmount')}${reference}${written('customerNumber')}`);
}

function readable(body: string): Readonly<Record<string, unknown>> {
  try {
    const read = parseJson(body);
    return typeof read === 'object' && read !== null ? { ...read } : {};
  } catch {
    return {};
  }
}
