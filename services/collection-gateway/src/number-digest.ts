import { hash } from 'node:crypto';
import { canonicalNumber } from './domain/customer-number.ts';

/** The key under which a customer's number is counted, in any spelling: a digest, because numbers are personal data. */
export function digestOfNumber(number: {
  readonly customerNumber: string;
  readonly country: string;
}): string {
  return hash('sha256', canonicalNumber(number.customerNumber, number.country), 'base64url');
}
