import { createHash, timingSafeEqual } from 'node:crypto';
import { encodeHeader } from '@pesewa/contracts';
import type { ViewerRequest } from '@pesewa/merchant-api';
import type { Context } from 'hono';

/** The largest body of a request: larger than one with every field at its full length, in letters of three bytes. */
export const BODY_BYTES_MAX = 16_384;

/** The value of `X-business`; undefined if `X-app` is not that of the API (contract 5). */
export function merchantKeyOf(context: Pick<Context, 'req'>): string | undefined {
  return context.req.header('x-app') === 'api' ? context.req.header('x-business') : undefined;
}

/**
 * Whether a value of `X-module` is the Base64 of one of the texts (contract 5); false if it is missing.
 *
 * Node reads Base64 leniently, so only our own encoding is accepted. Digests are compared, and of every text, so that
 * the time does not reveal where a value differs or which text it matches.
 */
export function isSecurityModule(value: string | undefined, texts: readonly string[]): boolean {
  const given = digest(value ?? '');
  const matches = texts.map((text) => timingSafeEqual(given, digest(encodeHeader(text))));
  return value !== undefined && matches.includes(true);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest();
}

/**
 * Fills `X-module` in from the body that the documents' viewer sends, where the operation has this header (contract 5).
 * It runs in the browser, so it uses nothing that stands outside of it.
 */
export function fillSecurityModule(request: ViewerRequest): ViewerRequest {
  const { headers, body } = request;
  if (headers['X-module'] === undefined || body === undefined) return request;
  try {
    const { transactionAmount, transactionReference, customerNumber } = JSON.parse(body) as Record<
      string,
      unknown
    >;
    const parts =
      customerNumber === undefined
        ? [transactionReference]
        : [transactionAmount, transactionReference, customerNumber];
    headers['X-module'] = btoa(parts.join(''));
  } catch {
    // A body that is no JSON is sent as it is: the answer says what is wrong with it.
  }
  return request;
}
