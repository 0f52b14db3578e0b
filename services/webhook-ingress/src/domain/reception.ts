import type { Callback, Claim } from './callback.ts';

/** The states of callbacks. */
export const callbackStates = ['passed_on', 'failed', 'dismissed'] as const;

/**
 * `passed_on`: its event is out. `failed`: it is stored, and our own reading of it broke. `dismissed`: it failed, and is no
 * longer waited for.
 */
export type CallbackState = (typeof callbackStates)[number];

/** What is remembered of a callback beside its bytes. */
export interface CallbackRecord {
  readonly digest: string;
  readonly state: CallbackState;
  readonly claim: Claim | null;
  /** Our own words for what broke, or why it was dismissed; null once it is passed on. */
  readonly failure: string | null;
  readonly passedOnAtMs: number | null;
  readonly timesPassedOn: number;
  /** How often these bytes came. */
  readonly deliveries: number;
  readonly lastReceivedAtMs: number;
  /** How often its id came with bytes not seen under it before, and the digests of the first few of those. */
  readonly conflicts: number;
  readonly otherDigests: readonly string[];
  /** Of all bytes under its id, those that were passed on first: they alone may be told as proven. */
  readonly toldDigest: string | null;
}

/**
 * What is remembered under one id: of the bytes that came first, and of the very ones in question. Where nothing vouches
 * for an id the bytes are the id, so that both are one.
 */
export interface Remembered {
  readonly first: CallbackRecord | undefined;
  readonly own: CallbackRecord | undefined;
}

/** What became of a callback that came in. */
export type ReceptionOutcome = 'stored' | 'repeated' | 'repassed' | 'recovered' | 'failed' | 'id_reused';

/** A claim to tell of now, and whether the proof that came with it counts: of bytes that contradict others it does not. */
export interface Telling {
  readonly claim: Claim;
  readonly mayBeProven: boolean;
  readonly atMs: number;
}

/** A decision: the outcome, what to remember, and what to tell, if anything. */
export interface Decision<Outcome> extends Remembered {
  readonly outcome: Outcome;
  readonly passesOn: Telling | null;
}

/** How many different bytes are kept under one id, the first ones included. */
const CONTENTS_MAX = 8;
const BROKEN = 'our reading of the body broke';
const SUPERSEDED = 'other bytes under its id were read';

/**
 * Decides on a callback that came in: passed on once, and again where a redelivery finds it failed or dismissed, or finds it
 * quiet for `repassAfterMs`, since whoever was told the first time may have lost it.
 *
 * Other bytes under an id that was told of are told too, as a hint: they make the rail be asked. Where the first bytes
 * could not be read, they take their place.
 */
export function receive(
  remembered: Remembered,
  callback: Callback,
  repassAfterMs: number,
): Decision<ReceptionOutcome> {
  const { first } = remembered;
  if (first === undefined) {
    const record = newRecord(callback);
    return settle('stored', { first: record, own: record }, callback.claim, callback.receivedAtMs);
  }
  if (remembered.own === undefined) return otherBytes(first, callback);
  const nowMs = callback.receivedAtMs;
  const own = { ...remembered.own, deliveries: remembered.own.deliveries + 1, lastReceivedAtMs: nowMs };
  const counted = withOwn(first, own);
  // Nobody waits for it any more, so the rail need not send it again either.
  if (own.state === 'dismissed' && callback.claim === null)
    return { outcome: 'repeated', ...counted, passesOn: null };
  if (own.state !== 'passed_on') return settle('recovered', counted, callback.claim, nowMs);
  const isQuiet = nowMs - (own.passedOnAtMs ?? 0) >= repassAfterMs;
  // The same bytes claim the same, even where we could not read them this time.
  return isQuiet && own.claim !== null
    ? settle('repassed', counted, own.claim, nowMs)
    : { outcome: 'repeated', ...counted, passesOn: null };
}

/** What an operator's order to drive a callback again finds: what its stored bytes claim now, or why they claim nothing. */
export type Reread =
  | { readonly kind: 'read'; readonly claim: Claim }
  | { readonly kind: 'rejected'; readonly reason: string }
  | { readonly kind: 'broken' };

/** Decides on an operator's order to drive a callback again; one that turns out to be none is dismissed. */
export function redrive(
  { first, own }: { readonly first: CallbackRecord | undefined; readonly own: CallbackRecord },
  read: Reread,
  nowMs: number,
): Decision<'passed_on' | 'failed' | 'dismissed'> {
  const both = { first: first ?? own, own };
  const claim = own.claim ?? (read.kind === 'read' ? read.claim : null);
  if (claim === null && read.kind === 'rejected')
    return { outcome: 'dismissed', ...withOwn(both.first, dismissed(own, read.reason)), passesOn: null };
  return settle('passed_on', both, claim, nowMs);
}

/** Decides on an operator's order to wait no longer for a callback that failed; nothing where it did not fail. */
export function dismiss(record: CallbackRecord): CallbackRecord | undefined {
  if (record.state === 'passed_on') return undefined;
  return record.state === 'dismissed' ? record : dismissed(record, 'an operator dismissed it');
}

/** Other bytes under a known id. */
function otherBytes(first: CallbackRecord, callback: Callback): Decision<ReceptionOutcome> {
  const { claim, digest, receivedAtMs } = callback;
  const conflicts = first.conflicts + 1;
  const isAdopted = first.toldDigest === null && claim !== null;
  if (!isAdopted && first.otherDigests.length >= CONTENTS_MAX - 1)
    return { outcome: 'id_reused', first: { ...first, conflicts }, own: undefined, passesOn: null };
  const noted = { ...first, conflicts, otherDigests: [...first.otherDigests, digest] };
  const both = { first: noted, own: newRecord(callback) };
  return settle(isAdopted ? 'recovered' : 'id_reused', both, claim, receivedAtMs);
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
    toldDigest: null,
  };
}

/** Passes a claim on, with the weight that its bytes have under their id; nothing read is failed. */
function settle<Outcome>(
  outcome: Outcome,
  { first, own }: { readonly first: CallbackRecord; readonly own: CallbackRecord },
  claim: Claim | null,
  nowMs: number,
): Decision<Outcome | 'failed'> {
  if (claim === null) return { outcome: 'failed', first, own, passesOn: null };
  const toldDigest = first.toldDigest ?? own.digest;
  const told: CallbackRecord = {
    ...own,
    state: 'passed_on',
    claim,
    failure: null,
    passedOnAtMs: nowMs,
    timesPassedOn: own.timesPassedOn + 1,
  };
  const isSuperseded = first.digest !== own.digest && first.state === 'failed';
  const noted = { ...(isSuperseded ? dismissed(first, SUPERSEDED) : first), toldDigest };
  return {
    outcome,
    ...withOwn(noted, { ...told, toldDigest }),
    passesOn: { claim, mayBeProven: toldDigest === own.digest, atMs: nowMs },
  };
}

function dismissed(record: CallbackRecord, failure: string): CallbackRecord {
  return { ...record, state: 'dismissed', failure };
}

/** Both records, one where they are of the same bytes. */
function withOwn(first: CallbackRecord, own: CallbackRecord): { first: CallbackRecord; own: CallbackRecord } {
  return { first: first.digest === own.digest ? own : first, own };
}
