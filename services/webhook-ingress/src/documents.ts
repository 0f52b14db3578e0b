import type { PaymentKind } from '@pesewa/contracts';
import { Binary } from 'mongodb';
import type { CallbackHeader, CheckedRequest, Claim, Verdict } from './domain/callback.ts';
import type { CallbackRecord } from './domain/reception.ts';

/** The changing fields of a callback's document; the claim's are null if the callback could not be read. */
type RecordFields = Omit<CallbackRecord, 'digest' | 'claim' | 'passedOnAtMs' | 'lastReceivedAtMs'> & {
  readonly [Name in keyof Claim]: Claim[Name] | null;
} & { readonly passedOnAt: Date | null; readonly lastReceivedAt: Date };

/** A callback as MongoDB holds it; `_id` identifies repetitions, so that each is stored once. */
export interface CallbackDocument extends RequestDocument, RecordFields {
  readonly _id: string;
  /** Sorts by time of arrival. */
  readonly id: string;
  /** The rail's own id of the message; null unless a verified signature covers it. */
  readonly messageId: string | null;
  readonly forgetAt: Date;
  /** Set once its body and its sender are erased: it can't be read again. */
  readonly erased?: true;
}

const unread = {
  reference: null,
  claimedStatus: null,
  claimedAmount: null,
  claimedCurrency: null,
  claimedFee: null,
  claimedReason: null,
} as const satisfies Record<keyof Claim, null>;

/** The record as fields of a document. */
export function recordFields(record: CallbackRecord): RecordFields {
  const { digest: _first, claim, passedOnAtMs, lastReceivedAtMs, ...fields } = record;
  return {
    ...fields,
    ...(claim ?? unread),
    passedOnAt: passedOnAtMs === null ? null : new Date(passedOnAtMs),
    lastReceivedAt: new Date(lastReceivedAtMs),
  };
}

/** The record of a document. */
export function recordOf(fields: RecordFields & Pick<RequestDocument, 'digest'>): CallbackRecord {
  const { reference, claimedStatus, claimedAmount, claimedCurrency, claimedFee, claimedReason } = fields;
  const claimed = { claimedAmount, claimedCurrency, claimedFee, claimedReason };
  const isRead = reference !== null && claimedStatus !== null;
  return {
    digest: fields.digest,
    state: fields.state,
    claim: isRead ? { reference, claimedStatus, ...claimed } : null,
    failure: fields.failure,
    passedOnAtMs: fields.passedOnAt?.getTime() ?? null,
    timesPassedOn: fields.timesPassedOn,
    deliveries: fields.deliveries,
    lastReceivedAtMs: fields.lastReceivedAt.getTime(),
    conflicts: fields.conflicts,
    otherDigests: fields.otherDigests,
    passedOnDigest: fields.passedOnDigest,
  };
}

/** A request as it was received and judged. */
export interface RequestDocument {
  readonly rail: string;
  readonly kind: PaymentKind;
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
export function requestFields(request: CheckedRequest): RequestDocument {
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
