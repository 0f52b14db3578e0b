/** The only reasons of failed collections that a merchant may receive from a callback alone. */
const failureReasons = [
  'ACCOUNT BLOCKED',
  'CANCELLED BY CUSTOMER',
  'CUSTOMER DECLINED',
  'CUSTOMER UNREACHABLE',
  'EXPIRED',
  'INCORRECT OTP',
  'INCORRECT PIN',
  'INSUFFICIENT FUNDS',
  'INVALID CUSTOMER NUMBER',
  'LIMIT EXCEEDED',
  'OPERATOR NOT AVAILABLE',
  'OTP ATTEMPTS EXCEEDED',
  'OTP EXPIRED',
  'TIMEOUT',
] as const;

/** Why a collection failed, in the words that rails use. */
type FailureReason = (typeof failureReasons)[number];

/** Reads a rail's reason for a failed collection, in upper or lower case; undefined if it is not a known one. */
export function readFailureReason(text: string): FailureReason | undefined {
  const word = text.trim().replace(/\s+/g, ' ').toUpperCase();
  return failureReasons.find((reason) => reason === word);
}

const notOfCustomers: Readonly<Partial<Record<FailureReason, 'rail' | 'other'>>> = {
  'OPERATOR NOT AVAILABLE': 'rail',
  TIMEOUT: 'rail',
  // The customer did not pay in time, or was never asked because the rail could not be reached.
  EXPIRED: 'other',
};

/** Whose a failed payment's reason is: the customer's or beneficiary's, the rail's, or one that does not tell. */
export function failureClassOf(reason: string | null): 'customer' | 'rail' | 'other' {
  const known = readFailureReason(reason ?? '');
  return known === undefined ? 'other' : (notOfCustomers[known] ?? 'customer');
}
