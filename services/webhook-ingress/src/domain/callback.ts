import type { CallbackView, PaymentKind, RejectedView, TopicEvent } from '@pesewa/contracts';
import { isId } from '@pesewa/kernel';

/**
 * A callback's claim, as its event has it; nothing of it is trusted until the rail itself confirms it or a proof does
 * (ADR 6).
 */
export type Claim = Pick<
  TopicEvent<'railCallbacks'>['payload'],
  'reference' | 'claimedStatus' | 'claimedAmount' | 'claimedCurrency' | 'claimedFee' | 'claimedReason'
>;

/** The judgement of a callback's address and signature by the rail's own settings. */
export type Verdict = CallbackView['verdict'];

/** A line of the header as received, its name in lower case. */
export interface CallbackHeader {
  readonly name: string;
  readonly value: string;
}

/** A request to our callback address, not judged yet. */
export interface CallbackRequest {
  readonly rail: string;
  readonly kind: PaymentKind;
  readonly body: Uint8Array;
  readonly headers: readonly CallbackHeader[];
  /** The address at the other end of the connection. */
  readonly peerAddress: string | undefined;
  /** The sender behind our own proxies, if it can be determined. */
  readonly clientAddress: string | undefined;
  readonly receivedAtMs: number;
}

/** A request that was judged; its headers no longer contain credentials. */
export interface CheckedRequest extends CallbackRequest {
  readonly id: string;
  /** SHA-256 of the body, hex. */
  readonly digest: string;
  readonly verdict: Verdict;
}

/** A callback that its rail may have sent. */
export interface Callback extends CheckedRequest {
  /** The rail's own id of the message; null unless a verified signature covers it. */
  readonly messageId: string | null;
  /** Null if our own reading of it failed. */
  readonly claim: Claim | null;
}

/** Why a request is stored as rejected. */
export type RejectionReason = RejectedView['reason'];

const CREDENTIALS =
  /authori[sz]ation|authenticat|cookie|(?:api|access|auth|private|subscription)-?key|token|secret|passw|pwd|credential|session|jwt|(?:^|-)(?:otp|pin)$|^x-(?:business|module|app)$/;
const SIGNATURE = /^webhook-(?:id|timestamp|signature)$/;
const HEADERS_MAX = 64;
const HEADER_NAME_LENGTH_MAX = 128;
const HEADER_VALUE_LENGTH_MAX = 1_024;
const STRANGER_BODY_BYTES_MAX = 2_048;
const STRANGER_HEADERS_MAX = 16;
const STRANGER_HEADER_VALUE_LENGTH_MAX = 256;

/** The value of a header by its name in lower case; several lines are one list (RFC 9110 5.3). */
export function headerOf({ headers }: Pick<CallbackRequest, 'headers'>, wanted: string): string | undefined {
  const values = headers.filter(({ name }) => name === wanted).map(({ value }) => value);
  return values.length === 0 ? undefined : values.join(', ');
}

/**
 * The stored headers: all but credentials, up to a number and a length. A signature is kept, because it proves the
 * callback and gives no access.
 */
export function keptHeaders(headers: readonly CallbackHeader[]): readonly CallbackHeader[] {
  const kept = headers.filter(({ name }) => !CREDENTIALS.test(name.toLowerCase()));
  const isSignature = ({ name }: CallbackHeader) => SIGNATURE.test(name.toLowerCase());
  // The headers of a signature come first, so that a flood of other headers can't displace them.
  return [...kept.filter(isSignature), ...kept.filter((header) => !isSignature(header))]
    .slice(0, HEADERS_MAX)
    .map(({ name, value }) => ({
      name: name.slice(0, HEADER_NAME_LENGTH_MAX),
      value: value.slice(0, HEADER_VALUE_LENGTH_MAX),
    }));
}

/**
 * The keys by which a callback is recognised as a repetition, within rail and kind. `key` is its id if a verified
 * signature covers one; `otherKey` also includes the digest of the body, for other bytes that come later under that id.
 * Without such an id both are the digest of the body.
 */
export function callbackKeys(callback: Pick<Callback, 'rail' | 'kind' | 'digest' | 'messageId'>): {
  readonly key: string;
  readonly otherKey: string;
} {
  const { rail, kind, digest, messageId } = callback;
  const within = `${rail}/${kind}`;
  // A digest has no colon, so that no id can be mistaken for one.
  if (messageId === null) return { key: `${within}/${digest}`, otherKey: `${within}/${digest}` };
  return { key: `${within}/id:${messageId}`, otherKey: `${within}/other:${digest}:${messageId}` };
}

/**
 * Whether a valid signature or a listed address stands behind a callback; strangers can send others by the thousand.
 */
export function isAuthenticated({ address, signature }: Verdict): boolean {
  return address === 'allowed' || signature === 'verified';
}

/**
 * The stored part of a refused request. Of a stranger's body only the beginning is kept, so that strangers can't push
 * out the evidence about others.
 */
export function evidenceOf(request: CheckedRequest, reason: RejectionReason): CheckedRequest {
  return /^(?:address|signature)\./.test(reason) ? beginningOf(request) : request;
}

/**
 * The stored part of a request whose claim was read: all of it where a signature or a listed address stands behind it,
 * else its beginning, because anyone can send such requests, and what they claim is stored beside it.
 */
export function keptOf(request: CheckedRequest): CheckedRequest {
  return isAuthenticated(request.verdict) ? request : beginningOf(request);
}

function beginningOf(request: CheckedRequest): CheckedRequest {
  return {
    ...request,
    // A copy, because a view would keep the whole buffer in memory.
    body: new Uint8Array(request.body.subarray(0, STRANGER_BODY_BYTES_MAX)),
    headers: request.headers
      .slice(0, STRANGER_HEADERS_MAX)
      .map(({ name, value }) => ({ name, value: value.slice(0, STRANGER_HEADER_VALUE_LENGTH_MAX) })),
  };
}

/** Why a callback is rejected by its rail's settings; undefined if it is not. */
export function refusalOf(
  verdict: Verdict,
): Extract<RejectionReason, `address.${string}` | `signature.${string}`> | undefined {
  if (verdict.address === 'unlisted') return 'address.unlisted';
  const { signature } = verdict;
  return signature === 'verified' || signature === 'not_required' ? undefined : `signature.${signature}`;
}

/**
 * Whether a claim's reference has the form of ours. A reference becomes the key on a topic, and foreign text there
 * could be somebody's phone number.
 */
export function isOwnReference(kind: PaymentKind, { reference }: Pick<Claim, 'reference'>): boolean {
  return isId(kind === 'payout' ? 'po' : 'co', reference);
}
