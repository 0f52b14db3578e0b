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
