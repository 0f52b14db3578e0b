const REASON_LENGTH_MAX = 140;
const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]+/g;

/** Base64 of a text's UTF-8 bytes (contract 5). */
export function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

/** A foreign reason as one bounded line, or nothing where it is empty. */
export function reasonLine(text: string | null | undefined): string | undefined {
  const line = (text ?? '').replaceAll(CONTROL_CHARACTERS, ' ').trim().slice(0, REASON_LENGTH_MAX).trim();
  return line === '' ? undefined : line;
}
