import { Binary } from 'mongodb';
import type { CallbackHeader, CallbackKind, JudgedRequest, Verdict } from './domain/callback.ts';

/** A request as it was received and judged. */
export interface RequestDocument {
  readonly rail: string;
  readonly kind: CallbackKind;
  readonly digest: string;
  /** The raw body, which may hold personal data and never leaves this database. */
  readonly body: Binary;
  readonly headers: readonly CallbackHeader[];
  readonly peerAddress?: string;
  readonly clientAddress?: string;
  readonly verdict: Verdict;
  readonly receivedAt: Date;
}

/** The request as fields of a document. */
export function requestFields(request: JudgedRequest): RequestDocument {
  const { rail, kind, digest, headers, peerAddress, clientAddress, verdict } = request;
  return {
    rail,
    kind,
    digest,
    body: new Binary(request.body),
    headers,
    ...(peerAddress !== undefined && { peerAddress }),
    ...(clientAddress !== undefined && { clientAddress }),
    verdict,
    receivedAt: new Date(request.receivedAtMs),
  };
}
