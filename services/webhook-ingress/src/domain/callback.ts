import { isId } from '@pesewa/kernel';

/** What a callback is about. */
export type CallbackKind = 'payout' | 'collection';

/** What a callback claims; nothing of it is believed before the rail itself says so, or proof does (design 6). */
export interface Claim {
  /** Our transaction reference, which the rail knows as its client's. */
  readonly reference: string;
  readonly status: string;
  /** Decimal text, as the callback wrote it. */
  readonly amount: string | null;
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

/** Why a request is kept as rejected. */
export type RejectionReason =
  | 'address.unlisted'
  | 'signature.wrong'
  | 'signature.expired'
  | 'signature.missing'
  | 'body.malformed'
  | 'reference.foreign'
  | 'id_reused';

const CREDENTIALS =
  /authori[sz]ation|authenticat|cookie|(?:api|access|auth|private|subscription)-?key|token|secret|passw|pwd|credential|session|jwt|(?:^|-)(?:otp|pin)$|^x-(?:business|module|app)$/;
const HEADERS_MAX = 64;
const HEADER_NAME_LENGTH_MAX = 128;
const HEADER_VALUE_LENGTH_MAX = 1_024;

/**
 * The headers that are kept: everything but credentials, so many and so long at most; a signature stays, for it proves
 * and gives no access.
 */
export function keptHeaders(headers: readonly CallbackHeader[]): readonly CallbackHeader[] {
  return headers
    .filter(({ name }) => !CREDENTIALS.test(name.toLowerCase()))
    .slice(0, HEADERS_MAX)
    .map(({ name, value }) => ({
      name: name.slice(0, HEADER_NAME_LENGTH_MAX),
      value: value.slice(0, HEADER_VALUE_LENGTH_MAX),
    }));
}

/**
 * What makes a callback the same as an earlier one: the rail, the kind, and its id where a signature vouches for it,
 * else every byte of the body.
 */
export function callbackKey(
  callback: Pick<Callback, 'rail' | 'kind' | 'digest'> & { readonly messageId: string | null },
): string {
  const { rail, kind, digest, messageId } = callback;
  // A digest has no colon, so that no id can pass for one.
  return `${rail}/${kind}/${messageId === null ? digest : `id:${messageId}`}`;
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
