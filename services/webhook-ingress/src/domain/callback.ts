import { isId } from '@pesewa/kernel';

/** What a callback is about. */
export type CallbackKind = 'payout' | 'collection';

/** What a callback claims; nothing of it is believed before the rail itself says so, or proof does (ADR 6). */
export interface Claim {
  /** Our transaction reference, which the rail knows as its client's. */
  readonly reference: string;
  readonly status: string;
  /** Decimal text, as the callback wrote it. */
  readonly amount: string | null;
  /** ISO 4217, of collections alone. */
  readonly currency: string | null;
  readonly fee: string | null;
  /** One bounded line without long numbers and e-mail addresses. */
  readonly reason: string | null;
}

/** What the rail's own settings say of a callback's address and signature. */
export interface Verdict {
  readonly address: 'allowed' | 'unlisted' | 'any';
  readonly signature: 'verified' | 'wrong' | 'expired' | 'missing' | 'not_required';
  /** Whether what it claims is a fact. */
  readonly proven: boolean;
}

/** A header as it came, its name in lower case. */
export interface CallbackHeader {
  readonly name: string;
  readonly value: string;
}

/** A request to our callback address, before anyone has judged it. */
export interface CallbackRequest {
  readonly rail: string;
  readonly kind: CallbackKind;
  readonly body: Uint8Array;
  readonly headers: readonly CallbackHeader[];
  /** The address at the other end of the connection. */
  readonly peerAddress: string | undefined;
  /** Who sent it behind our own proxies, where that can be told. */
  readonly clientAddress: string | undefined;
  readonly receivedAtMs: number;
  /** SHA-256 of the body, hex. */
  readonly digest: string;
}

/** A request that was judged; its headers are without credentials. */
export interface JudgedRequest extends CallbackRequest {
  readonly id: string;
  readonly verdict: Verdict;
}

/** A callback that its rail may have sent. */
export interface Callback extends JudgedRequest {
  /** The rail's own id of the message, null where no signature vouches for it. */
  readonly messageId: string | null;
  /** Null where our own reading of it broke. */
  readonly claim: Claim | null;
}

/** Why requests are kept as rejected. */
export const rejectionReasons = [
  'address.unlisted',
  'signature.wrong',
  'signature.expired',
  'signature.missing',
  'body.malformed',
  'reference.foreign',
] as const;

/** One of {@link rejectionReasons}. */
export type RejectionReason = (typeof rejectionReasons)[number];

const CREDENTIALS =
  /authori[sz]ation|authenticat|cookie|(?:api|access|auth|private|subscription)-?key|token|secret|passw|pwd|credential|session|jwt|(?:^|-)(?:otp|pin)$|^x-(?:business|module|app)$/;
const SIGNATURE = /^webhook-(?:id|timestamp|signature)$/;
const HEADERS_MAX = 64;
const HEADER_NAME_LENGTH_MAX = 128;
const HEADER_VALUE_LENGTH_MAX = 1_024;
const STRANGER_BODY_BYTES_MAX = 2_048;
const STRANGER_HEADERS_MAX = 16;
const STRANGER_HEADER_VALUE_LENGTH_MAX = 256;

/**
 * The headers that are kept: everything but credentials, so many and so long at most; a signature stays, for it proves
 * and gives no access.
 */
export function keptHeaders(headers: readonly CallbackHeader[]): readonly CallbackHeader[] {
  const kept = headers.filter(({ name }) => !CREDENTIALS.test(name.toLowerCase()));
  const isSignature = ({ name }: CallbackHeader) => SIGNATURE.test(name.toLowerCase());
  // What proves it comes first, so that no flood of other headers takes its place.
  return [...kept.filter(isSignature), ...kept.filter((header) => !isSignature(header))]
    .slice(0, HEADERS_MAX)
    .map(({ name, value }) => ({
      name: name.slice(0, HEADER_NAME_LENGTH_MAX),
      value: value.slice(0, HEADER_VALUE_LENGTH_MAX),
    }));
}

/**
 * What makes a callback the same as an earlier one, within rail and kind: its id where a signature vouches for it (`key`),
 * and there every byte of the body where others came first under that id (`otherKey`); else the bytes alone, for both.
 */
export function callbackKeys(callback: Pick<Callback, 'rail' | 'kind' | 'digest' | 'messageId'>): {
  readonly key: string;
  readonly otherKey: string;
} {
  const { rail, kind, digest, messageId } = callback;
  const within = `${rail}/${kind}`;
  // A digest has no colon, so that no id can pass for one.
  if (messageId === null) return { key: `${within}/${digest}`, otherKey: `${within}/${digest}` };
  return { key: `${within}/id:${messageId}`, otherKey: `${within}/other:${digest}:${messageId}` };
}

/** Whether anything vouches for a callback: strangers can bring others by the thousand. */
export function isVouchedFor({ address, signature }: Verdict): boolean {
  return address === 'allowed' || signature === 'verified';
}

/**
 * What is kept of a refused request: of a stranger's only the beginning, so that strangers can't flush what others
 * are judged by.
 */
export function evidenceOf(request: JudgedRequest, reason: RejectionReason): JudgedRequest {
  if (!/^(?:address|signature)\./.test(reason)) return request;
  return {
    ...request,
    // Copied, for a part would hold on to the whole.
    body: request.body.slice(0, STRANGER_BODY_BYTES_MAX),
    headers: request.headers
      .slice(0, STRANGER_HEADERS_MAX)
      .map(({ name, value }) => ({ name, value: value.slice(0, STRANGER_HEADER_VALUE_LENGTH_MAX) })),
  };
}

/** Why a callback that its rail's settings don't let pass is rejected; nothing where they do. */
export function refusalOf(
  verdict: Verdict,
): Extract<RejectionReason, `address.${string}` | `signature.${string}`> | undefined {
  if (verdict.address === 'unlisted') return 'address.unlisted';
  const { signature } = verdict;
  return signature === 'verified' || signature === 'not_required' ? undefined : `signature.${signature}`;
}

/**
 * Whether a claim names a payment of ours by its form: a reference is a topic's key, and a foreign text there may be
 * somebody's phone number.
 */
export function namesOurs(kind: CallbackKind, claim: Claim): boolean {
  return isId(kind === 'payout' ? 'po' : 'co', claim.reference);
}
