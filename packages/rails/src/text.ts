const REASON_LENGTH_MAX = 140;
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;
/** Five digits or more, with any separators: such a number may identify an account, a phone or a document. */
const LONG_NUMBER = /\p{Nd}(?:[^\p{L}\p{N}]{0,3}\p{Nd}){4,}/gu;
const MASK = '***';

/** Base64 of a text's UTF-8 bytes (contract 5). */
export function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/**
 * A foreign reason as one line of bounded length, without long numbers and e-mail addresses; undefined if it is empty.
 *
 * The reason may name the customer, and reasons are sent to topics and logs.
 */
export function reasonLine(text: string | null | undefined): string | undefined {
  // Letters, digits and signs have other spellings, such as full-width ones, which NFKC replaces.
  const oneLine = (text ?? '').normalize('NFKC').replaceAll(CONTROL_CHARACTERS, ' ');
  // Masked before it is cut, because half a number would not be recognised.
  const line = maskAddresses(oneLine.replaceAll(LONG_NUMBER, MASK)).trim().slice(0, REASON_LENGTH_MAX).trim();
  return line === '' ? undefined : line;
}

/** Word by word, because a pattern for addresses would take quadratic time on a long text. */
function maskAddresses(line: string): string {
  return line
    .split(' ')
    .map((word) => (word.includes('@') ? MASK : word))
    .join(' ');
}
