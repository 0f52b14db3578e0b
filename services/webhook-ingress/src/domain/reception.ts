import type { Callback, Claim } from './callback.ts';

/** `passed_on`: its event is out. `failed`: it is stored, and our own reading of it broke. */
export type CallbackState = 'passed_on' | 'failed';

/** What is remembered of a callback beside its bytes. */
export interface CallbackRecord {
  readonly digest: string;
  readonly state: CallbackState;
  readonly claim: Claim | null;
  /** Our own words for what broke; null once it is passed on. */
  readonly failure: string | null;
  readonly passedOnAtMs: number | null;
  readonly timesPassedOn: number;
  /** How often these bytes came. */
  readonly deliveries: number;
  readonly lastReceivedAtMs: number;
  /** How often its id came with other bytes, and the first few digests of those. */
  readonly conflicts: number;
  readonly otherDigests: readonly string[];
}

/** What became of a callback that came in. */
export type ReceptionOutcome = 'stored' | 'repeated' | 'repassed' | 'recovered' | 'failed' | 'id_reused';

/** A decision: the outcome, what to remember, and the claim to tell of, if any. */
export interface Decision<Outcome> {
  readonly outcome: Outcome;
  readonly record: CallbackRecord;
  readonly passesOn: Claim | null;
}

const OTHER_DIGESTS_MAX = 8;
const BROKEN = 'our reading of the body broke';

/**
 * Decides on a callback that came in: passed on once, and again where a redelivery finds it failed, or finds it quiet for
 * `repassAfterMs`, since whoever was told the first time may have lost it. An id that comes with other bytes is counted,
 * and has no effect.
 */
export function receive(
  record: CallbackRecord | undefined,
  callback: Callback,
  repassAfterMs: number,
): Decision<ReceptionOutcome> {
  if (record === undefined) return first(callback);
  if (record.digest !== callback.digest) return otherBytes(record, callback);
  const nowMs = callback.receivedAtMs;
  const counted = { ...record, deliveries: record.deliveries + 1, lastReceivedAtMs: nowMs };
  if (record.state === 'failed') {
    return callback.claim === null
      ? { outcome: 'failed', record: counted, passesOn: null }
      : passOn('recovered', counted, callback.claim, nowMs);
  }
  const isQuiet = nowMs - (record.passedOnAtMs ?? 0) >= repassAfterMs;
  // The same bytes claim the same, even where we could not read them this time.
  return isQuiet && record.claim !== null
    ? passOn('repassed', counted, record.claim, nowMs)
    : { outcome: 'repeated', record: counted, passesOn: null };
}

/** Decides on an operator's order to drive a callback again; `read` is what its stored bytes claim now, if it can be read. */
export function redrive(
  record: CallbackRecord,
  read: Claim | null,
  nowMs: number,
): Decision<'passed_on' | 'failed'> {
  const claim = record.claim ?? read;
  return claim === null
    ? { outcome: 'failed', record, passesOn: null }
    : passOn('passed_on', record, claim, nowMs);
}

function first(callback: Callback): Decision<ReceptionOutcome> {
  const { digest, claim, receivedAtMs } = callback;
  const record: CallbackRecord = {
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
  };
  return claim === null
    ? { outcome: 'failed', record, passesOn: null }
    : passOn('stored', record, claim, receivedAtMs);
}

function otherBytes(record: CallbackRecord, { digest }: Callback): Decision<ReceptionOutcome> {
  const { otherDigests } = record;
  const isNoted = otherDigests.includes(digest) || otherDigests.length >= OTHER_DIGESTS_MAX;
  return {
    outcome: 'id_reused',
    record: {
      ...record,
      conflicts: record.conflicts + 1,
      otherDigests: isNoted ? otherDigests : [...otherDigests, digest],
    },
    passesOn: null,
  };
}

function passOn<Outcome>(
  outcome: Outcome,
  record: CallbackRecord,
  claim: Claim,
  nowMs: number,
): Decision<Outcome> {
  return {
    outcome,
    record: {
      ...record,
      state: 'passed_on',
      claim,
      failure: null,
      passedOnAtMs: nowMs,
      timesPassedOn: record.timesPassedOn + 1,
    },
    passesOn: claim,
  };
}
