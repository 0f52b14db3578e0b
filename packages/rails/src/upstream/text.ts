const REASON_LENGTH_MAX = 140;
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
/** Five digits or more, whatever groups them: an account, a phone or a document may be told by them. */
const LONG_NUMBER = /\p{Nd}(?:[^\p{L}\p{N}]{0,3}\p{Nd}){4,}/gu;
const MASK = '***';

/** Base64 of a text's UTF-8 bytes (contract 5). */
export function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/**
 * A foreign reason as one bounded line without long numbers and e-mail addresses, or nothing where it is empty.
 *
 * Whoever wrote it may have named the customer, and reasons go to topics and logs.
 */
export function reasonLine(text: string | null | undefined): string | undefined {
  // Letters, digits and signs have other spellings, such as full-width ones.
  const oneLine = (text ?? '').normalize('NFKC').replaceAll(CONTROL_CHARACTERS, ' ');
  // Masked before it is cut: half a number would no longer look like one.
  const line = maskAddresses(oneLine.replaceAll(LONG_NUMBER, MASK)).trim().slice(0, REASON_LENGTH_MAX).trim();
  return line === '' ? undefined : line;
}

/** Word by word: a pattern for addresses would take quadratic time over a long foreign text. */
function maskAddresses(line: string): string {
  return line
    .split(' ')
    .map((word) => (word.includes('@') ? MASK : word))
    .join(' ');
}
