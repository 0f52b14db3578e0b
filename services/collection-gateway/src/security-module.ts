import { createHash, timingSafeEqual } from 'node:crypto';

/**
 * Whether a value of `X-module` is the Base64 of one of the texts (contract 5); a missing one is none.
 *
 * Only the value as we would write it ourselves counts, since Node reads Base64 leniently. Digests are compared, of every
 * text, so that the time taken tells nothing of where a value differs or which text it meets.
 */
export function isSecurityModule(value: string | undefined, texts: readonly string[]): boolean {
  const given = digest(value ?? '');
  const matches = texts.map((text) => timingSafeEqual(given, digest(encodeSecurityModule(text))));
  return value !== undefined && matches.includes(true);
}

/** A text as `X-module` carries it. */
function encodeSecurityModule(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}
