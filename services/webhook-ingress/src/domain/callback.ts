/** What a callback is about. */
export type CallbackKind = 'payout' | 'collection';

/** What a callback claims; nothing of it is believed before the rail itself says so (design 6). */
export interface Claim {
  /** Our transaction reference, which the rail knows as its client's. */
  readonly reference: string;
  readonly status: string;
  /** Decimal text, as the callback wrote it. */
  readonly amount: string | null;
  readonly fee: string | null;
  readonly reason: string | null;
}

/** `hint`: nothing proves it. `proven`: its signature verifies, and the rail is configured as proven. */
export type CallbackVerdict = 'hint' | 'proven';

/** A header as it came, its name in lower case. */
export interface CallbackHeader {
  readonly name: string;
  readonly value: string;
}

/** A request to our callback address, before anyone has judged its body. */
export interface CallbackRequest {
  readonly rail: string;
  readonly kind: CallbackKind;
  readonly body: Uint8Array;
  readonly headers: readonly CallbackHeader[];
  /** The address at the other end of the connection; no forwarding header is believed. */
  readonly peerAddress: string | undefined;
  readonly receivedAtMs: number;
  /** SHA-256 of the body, hex. */
  readonly digest: string;
}

/** A callback that could be read. */
export interface Callback extends CallbackRequest {
  readonly id: string;
  readonly claim: Claim;
  readonly verdict: CallbackVerdict;
}

const credentials = /authori[sz]ation|cookie|api-?key|token|secret|password|^x-(?:business|module|app)$/;

/** The headers that are kept: everything but credentials; a signature stays, for it proves and gives no access. */
export function keptHeaders(headers: readonly CallbackHeader[]): readonly CallbackHeader[] {
  return headers.filter(({ name }) => !credentials.test(name.toLowerCase()));
}

/** What makes a callback the same as an earlier one: the rail, the kind and every byte of the body. */
export function callbackKey(request: Pick<CallbackRequest, 'rail' | 'kind' | 'digest'>): string {
  return `${request.rail}/${request.kind}/${request.digest}`;
}
