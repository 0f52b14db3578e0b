import type { PaymentKind } from '@pesewa/contracts';
import { Binary } from 'mongodb';
import type { CallbackHeader, JudgedRequest, Verdict } from './domain/callback.ts';
import type { CallbackRecord, CallbackState } from './domain/reception.ts';

/** The changing fields of a callback's document. */
interface RecordFields {
  readonly state: CallbackState;
  /** The claim's fields are null if the callback could not be read. */
  readonly reference: string | null;
  readonly claimedStatus: string | null;
  readonly claimedAmount: string | null;
  readonly claimedCurrency: string | null;
  readonly claimedFee: string | null;
  readonly claimedReason: string | null;
  readonly failure: string | null;
  readonly passedOnAt: Date | null;
  readonly timesPassedOn: number;
  readonly deliveries: number;
  readonly lastReceivedAt: Date;
  readonly conflicts: number;
  readonly otherDigests: readonly string[];
  readonly passedOnDigest: string | null;
}

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

/** The fields of a document that make up its record. */
export const recordProjection = {
  digest: 1,
  state: 1,
  reference: 1,
  claimedStatus: 1,
  claimedAmount: 1,
  claimedCurrency: 1,
  claimedFee: 1,
  claimedReason: 1,
  failure: 1,
  passedOnAt: 1,
  timesPassedOn: 1,
  deliveries: 1,
  lastReceivedAt: 1,
  conflicts: 1,
  otherDigests: 1,
  passedOnDigest: 1,
} as const;

/** The record as fields of a document. */
export function recordFields(record: CallbackRecord): RecordFields {
  const { claim, passedOnAtMs } = record;
  return {
    state: record.state,
    reference: claim?.reference ?? null,
    claimedStatus: claim?.status ?? null,
    claimedAmount: claim?.amount ?? null,
    claimedCurrency: claim?.currency ?? null,
    claimedFee: claim?.fee ?? null,
    claimedReason: claim?.reason ?? null,
    failure: record.failure,
    passedOnAt: passedOnAtMs === null ? null : new Date(passedOnAtMs),
    timesPassedOn: record.timesPassedOn,
    deliveries: record.deliveries,
    lastReceivedAt: new Date(record.lastReceivedAtMs),
    conflicts: record.conflicts,
    otherDigests: record.otherDigests,
    passedOnDigest: record.passedOnDigest,
  };
}

/** The record of a document. */
export function recordOf(fields: RecordFields & Pick<RequestDocument, 'digest'>): CallbackRecord {
  const { reference, claimedStatus: status, claimedAmount: amount, claimedCurrency: currency } = fields;
  const { claimedFee: fee, claimedReason: reason } = fields;
  const isRead = reference !== null && status !== null;
  return {
    digest: fields.digest,
    state: fields.state,
    claim: isRead ? { reference, status, amount, currency, fee, reason } : null,
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
