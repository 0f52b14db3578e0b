import type { CallbackView } from '@pesewa/contracts';
import type { Callback, Claim } from './callback.ts';

/**
 * `passed_on`: its event is published. `failed`: it is stored, but our own reading of it failed. `dismissed`: it
 * failed, and turned out to be no callback or was dismissed by an operator.
 */
export type CallbackState = CallbackView['state'];

/** The stored state of a callback, in addition to its bytes. */
export interface CallbackRecord {
  readonly digest: string;
  readonly state: CallbackState;
  readonly claim: Claim | null;
  /** Our own description of the failure, or of the dismissal; null once it is passed on. */
  readonly failure: string | null;
  readonly passedOnAtMs: number | null;
  readonly timesPassedOn: number;
  /** How often these bytes were received. */
  readonly deliveries: number;
  readonly lastReceivedAtMs: number;
  /** How often new bytes were received under its id, and the digests of the first few of them. */
  readonly conflicts: number;
  readonly otherDigests: readonly string[];
  /** The digest of the bytes under its id that were passed on first: only they may be published as proven. */
  readonly passedOnDigest: string | null;
}

/**
 * The records under one id: that of the first bytes, and that of the bytes in question. If the bytes themselves are the
 * id, both are the same.
 */
export interface StoredRecords {
  readonly first: CallbackRecord | undefined;
  readonly own: CallbackRecord | undefined;
}

/** The outcome of a received callback. */
export type ReceptionOutcome = 'stored' | 'repeated' | 'repassed' | 'recovered' | 'failed' | 'id_reused';

/** A claim to publish now, and whether its proof counts; for bytes that contradict earlier ones it does not. */
export interface PassedOn {
  readonly claim: Claim;
  readonly mayBeProven: boolean;
  readonly atMs: number;
}

/** A decision: the outcome, the records to store, and the claim to publish, if any. */
export interface Decision<Outcome> extends StoredRecords {
  readonly outcome: Outcome;
  readonly passesOn: PassedOn | null;
}

/** How many different bodies are kept under one id, including the first. */
const CONTENTS_MAX = 8;
const BROKEN = 'our reading of the body broke';
const SUPERSEDED = 'other bytes under its id were read';

/**
 * Decides about a received callback. It is passed on once; and again if a redelivery finds it failed, dismissed, or
 * without an answer for `repassAfterMs`, because the first event may have been lost.
 *
 * Other bytes under an id that was passed on are published too, as a hint, so that the rail is asked. If the first
 * bytes could not be read, the others take their place.
 */
export function receive(
  remembered: StoredRecords,
  callback: Callback,
  repassAfterMs: number,
): Decision<ReceptionOutcome> {
  const { first } = remembered;
  if (first === undefined) {
    const record = newRecord(callback);
    return passOn('stored', { first: record, own: record }, callback.claim, callback.receivedAtMs);
  }
  if (remembered.own === undefined) return otherBytes(first, callback);
  const nowMs = callback.receivedAtMs;
  const own = { ...remembered.own, deliveries: remembered.own.deliveries + 1, lastReceivedAtMs: nowMs };
  const counted = withOwn(first, own);
  // No work waits for it any more, so the rail need not send it again.
  if (own.state === 'dismissed' && callback.claim === null)
    return { outcome: 'repeated', ...counted, passesOn: null };
  if (own.state !== 'passed_on') return passOn('recovered', counted, callback.claim, nowMs);
  const isQuiet = nowMs - (own.passedOnAtMs ?? 0) >= repassAfterMs;
  // The same bytes have the same claim, even if we could not read them this time.
  return isQuiet && own.claim !== null
    ? passOn('repassed', counted, own.claim, nowMs)
    : { outcome: 'repeated', ...counted, passesOn: null };
}

/** The result of reading a stored callback again for an operator: its claim, or why it has none. */
export type Reread =
  | { readonly kind: 'read'; readonly claim: Claim }
  | { readonly kind: 'rejected'; readonly reason: string }
  | { readonly kind: 'broken' };

/**
 * Decides about an operator's request to process a callback again; one that turns out to be no callback is dismissed.
 */
export function redrive(
  { first, own }: { readonly first: CallbackRecord | undefined; readonly own: CallbackRecord },
  read: Reread,
  nowMs: number,
): Decision<'passed_on' | 'failed' | 'dismissed'> {
  const both = { first: first ?? own, own };
  const claim = own.claim ?? (read.kind === 'read' ? read.claim : null);
  if (claim === null && read.kind === 'rejected')
    return { outcome: 'dismissed', ...withOwn(both.first, dismissed(own, read.reason)), passesOn: null };
  return passOn('passed_on', both, claim, nowMs);
}

/** Decides about an operator's request to dismiss a failed callback; undefined if it has not failed. */
export function dismiss(record: CallbackRecord): CallbackRecord | undefined {
  if (record.state === 'passed_on') return undefined;
  return record.state === 'dismissed' ? record : dismissed(record, 'an operator dismissed it');
}

/** Handles other bytes under a known id. */
function otherBytes(first: CallbackRecord, callback: Callback): Decision<ReceptionOutcome> {
  const { claim, digest, receivedAtMs } = callback;
  const conflicts = first.conflicts + 1;
  const isAdopted = first.passedOnDigest === null && claim !== null;
  if (!isAdopted && first.otherDigests.length >= CONTENTS_MAX - 1)
    return { outcome: 'id_reused', first: { ...first, conflicts }, own: undefined, passesOn: null };
  const noted = { ...first, conflicts, otherDigests: [...first.otherDigests, digest] };
  const both = { first: noted, own: newRecord(callback) };
  return passOn(isAdopted ? 'recovered' : 'id_reused', both, claim, receivedAtMs);
}

function newRecord({ digest, receivedAtMs }: Callback): CallbackRecord {
  return {
    digest,
    state: 'failed',
    claim: null,
    failure: BROKEN,
    passedOnAtMs: null,
    timesPassedOn: 0,
    deliveries: 1,
    lastReceivedAtMs: receivedAtMs,
    conflicts: 0,
    otherDigests: [],
    passedOnDigest: null,
  };
}

/** Passes a claim on, with the weight that its bytes have under their id; without a claim the callback has failed. */
function passOn<Outcome>(
  outcome: Outcome,
  { first, own }: { readonly first: CallbackRecord; readonly own: CallbackRecord },
  claim: Claim | null,
  nowMs: number,
): Decision<Outcome | 'failed'> {
  if (claim === null) return { outcome: 'failed', first, own, passesOn: null };
  const passedOnDigest = first.passedOnDigest ?? own.digest;
  const passedOn: CallbackRecord = {
    ...own,
    state: 'passed_on',
    claim,
    failure: null,
    passedOnAtMs: nowMs,
    timesPassedOn: own.timesPassedOn + 1,
  };
  const isSuperseded = first.digest !== own.digest && first.state === 'failed';
  const noted = { ...(isSuperseded ? dismissed(first, SUPERSEDED) : first), passedOnDigest };
  return {
    outcome,
    ...withOwn(noted, { ...passedOn, passedOnDigest }),
    passesOn: { claim, mayBeProven: passedOnDigest === own.digest, atMs: nowMs },
  };
}

function dismissed(record: CallbackRecord, failure: string): CallbackRecord {
  return { ...record, state: 'dismissed', failure };
}

/** Both records, which are one if they have the same bytes. */
function withOwn(first: CallbackRecord, own: CallbackRecord): { first: CallbackRecord; own: CallbackRecord } {
  return { first: first.digest === own.digest ? own : first, own };
}
