import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { accept, type Random, type Result, refuse } from '@pesewa/kernel';

const SECRET_BYTES = 32;
const VERSION = 'v1';
const TIMESTAMP = /^\d{1,12}$/;
const HEX_DIGEST = /^[0-9a-f]{64}$/;
const SIGNATURE = /^v1=[0-9a-f]{64}$/;

/** How far a request's timestamp may be from our clock, either way (contract 10.21). */
const REQUEST_SKEW_SECONDS = 300;

/** The form of a signing secret: `rqsec_` and the Base64 of at least 24 bytes. */
export const signingSecretPattern = /^rqsec_[A-Za-z0-9+/]{32,}={0,2}$/;

/** The headers of a signed request (contract 10.21). */
interface RequestSignatureHeaders {
  /** Whole seconds since the epoch. */
  readonly 'X-timestamp': string;
  /** The SHA-256 of the body's bytes in hex; that of nothing if there is no body. */
  readonly 'X-digest': string;
  readonly 'X-signature': string;
}

/** What is signed of a request, apart from its headers. */
interface RequestTarget {
  readonly method: string;
  /** The path with its query, exactly as it is sent. */
  readonly target: string;
}

/** Makes a new secret for requests of a merchant; its text as it is is the key of the HMAC. */
export function createSigningSecret(random: Pick<Random, 'bytes'>): string {
  return `rqsec_${Buffer.from(random.bytes(SECRET_BYTES)).toString('base64')}`;
}

/** Signs a request at a time, in whole seconds since the epoch. */
export function signRequest(
  request: RequestTarget & {
    readonly body: string | Uint8Array;
    readonly seconds: number;
    readonly secret: string;
  },
): RequestSignatureHeaders {
  const digest = digestOfBody(request.body);
  const seconds = String(request.seconds);
  return {
    'X-timestamp': seconds,
    'X-digest': digest,
    'X-signature': signatureOf({ ...request, seconds, digest }, request.secret),
  };
}

/**
 * Verifies what a request's headers alone can prove; any of the secrets may have signed it. Gives the digest that the body
 * must have, or a sentence that names the header and what to do. Names of headers are expected in lower case.
 *
 * The signature is judged last, so that a merchant learns of a wrong clock as such.
 */
export function verifyRequest(
  request: RequestTarget & {
    readonly headers: Readonly<Record<'x-timestamp' | 'x-digest' | 'x-signature', string | undefined>>;
    readonly secrets: readonly string[];
    readonly nowMs: number;
  },
): Result<string, string> {
  const { 'x-timestamp': seconds, 'x-digest': digest, 'x-signature': signature } = request.headers;
  if (signature === undefined) return refuse('X-signature is missing: sign the request with your secret');
  if (!SIGNATURE.test(signature))
    return refuse('X-signature must be v1= and 64 hex digits in small letters, sent once');
  if (seconds === undefined || !TIMESTAMP.test(seconds))
    return refuse('X-timestamp must be the whole seconds since 1970, as they were signed');
  if (digest === undefined || !HEX_DIGEST.test(digest))
    return refuse('X-digest must be the SHA-256 of the body in hex, in small letters');
  if (Math.abs(request.nowMs - Number(seconds) * 1_000) > REQUEST_SKEW_SECONDS * 1_000)
    return refuse(
      `X-timestamp is more than ${REQUEST_SKEW_SECONDS} s away from our clock: set your clock, and sign each request when you send it`,
    );
  const given = Buffer.from(signature);
  // Every secret is compared, so that the time does not show which of them a signature is near to.
  const matches = request.secrets.map((secret) =>
    timingSafeEqual(given, Buffer.from(signatureOf({ ...request, seconds, digest }, secret))),
  );
  if (matches.includes(true)) return accept(digest);
  return refuse(
    'X-signature is wrong: sign v1, X-timestamp, the method, the path with its query as you send it, and X-digest, with a secret that is still yours',
  );
}

/** The SHA-256 of a body in hex, as `X-digest` has it. */
export function digestOfBody(body: string | Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

/** Lines that none of the parts can contain a break of, so that two requests never have one text. */
function signatureOf(
  request: RequestTarget & { readonly seconds: string; readonly digest: string },
  secret: string,
): string {
  const text = [VERSION, request.seconds, request.method, request.target, request.digest].join('\n');
  return `${VERSION}=${createHmac('sha256', secret).update(text, 'utf8').digest('hex')}`;
}
