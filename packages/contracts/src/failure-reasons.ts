/** The reasons of failed collections that a merchant may be told on the word of a callback alone: these and no others. */
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

/** Why a collection failed, in the words that any rail may use. */
type FailureReason = (typeof failureReasons)[number];

/** Reads a rail's word for why a collection failed, in whatever letters; nothing where it is none of the known ones. */
export function readFailureReason(text: string): FailureReason | undefined {
  const word = text.trim().replace(/\s+/g, ' ').toUpperCase();
  return failureReasons.find((reason) => reason === word);
}
