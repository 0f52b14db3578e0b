import { describe, expect, it } from 'vitest';
import { orderOf } from '../fixtures/orders.ts';
import { collectionDecider } from './collection.ts';
import { OTP_ATTEMPTS_MAX, OTP_WINDOW_MS } from './completion.ts';
import type { CollectionRequest } from './initiation.ts';
import { type CollectionCommand, type CollectionState, type CompletionOutcome, initiated } from './state.ts';

const START_MS = 1_000_000;
const LEASE_MS = 19_000;
const otp: CollectionRequest['flow'] = { kind: 'otp', otpLength: 6 };
const fee = { fixedMinor: 0n, basisPoints: 0n, minimumMinor: 0n };

function fresh(flow: CollectionRequest['flow']): CollectionState {
  return initiated({ order: orderOf(flow), fee: 0n, feeSchedule: fee, railFee: 0n }, START_MS);
}

/** The state after a command that must be accepted. */
function after(state: CollectionState, command: CollectionCommand): CollectionState {
  const decision = collectionDecider.decide(command, state);
  if (!decision.ok) throw new Error(`refused: ${decision.refusal}`);
  return decision.value.reduce(collectionDecider.evolve, state);
}

const initiation = (kind: 'acknowledged' | 'unknown'): CollectionCommand => ({
  kind: 'recordInitiation',
  attempt: 1,
  outcome: { kind },
});
const awaiting = (flow: CollectionRequest['flow'] = otp) => after(fresh(flow), initiation('acknowledged'));
const request = (nowMs = START_MS): CollectionCommand => ({
  kind: 'requestCompletion',
  nowMs,
  leaseMs: LEASE_MS,
});
const record = (token: bigint, outcome: CompletionOutcome): CollectionCommand => ({
  kind: 'recordCompletion',
  token,
  outcome,
});
/** The state after a completion with its outcome. */
const tried = (state: CollectionState, outcome: CompletionOutcome) => {
  const leased = after(state, request());
  return after(leased, record(leased.version, outcome));
};
const failed: CollectionCommand = {
  kind: 'observe',
  resubmitGraceMs: 0,
  fact: { status: 'failed', amount: null, fee: null, reason: 'EXPIRED', polledAtMs: START_MS },
};
const refusal = (state: CollectionState, command: CollectionCommand) => {
  const decision = collectionDecider.decide(command, state);
  return decision.ok ? 'accepted' : decision.refusal;
};

describe('a request to complete', () => {
  it('counts the try and takes the lease, in one domain event', () => {
    const leased = after(awaiting(), request());
    expect(leased).toMatchObject({
      completionAttempts: 1,
      completionLease: { token: leased.version, untilMs: START_MS + LEASE_MS },
    });
  });

  it.each([
    ['while nothing is under way', awaiting(), request(), 'accepted'],
    ['after an unclear initiation', after(fresh(otp), initiation('unknown')), request(), 'accepted'],
    ['while the initiation is under way', fresh(otp), request(), 'accepted'],
    [
      'while another is under way',
      after(awaiting(), request()),
      request(),
      'collection.completion_under_way',
    ],
    [
      'a millisecond before the lease is over',
      after(awaiting(), request()),
      request(START_MS + LEASE_MS - 1),
      'collection.completion_under_way',
    ],
    ['when the lease is over', after(awaiting(), request()), request(START_MS + LEASE_MS), 'accepted'],
    ['after a refused one', tried(awaiting(), 'refused'), request(), 'accepted'],
    ['after one that was not sent', tried(awaiting(), 'notSent'), request(), 'accepted'],
    ['after an acknowledged one', tried(awaiting(), 'acknowledged'), request(), 'collection.completing'],
    ['of an ended collection', after(awaiting(), failed), request(), 'collection.closed'],
    ['of a single-step STK push', awaiting({ kind: 'stk' }), request(), 'collection.completion_not_required'],
    ['of a link', awaiting({ kind: 'link' }), request(), 'collection.completion_not_required'],
    [
      'of one that is queued',
      { ...awaiting(), step: 'queued' } as const,
      request(),
      'collection.not_initiated',
    ],
    ['at the end of five minutes', awaiting(), request(START_MS + OTP_WINDOW_MS), 'accepted'],
    ['after five minutes', awaiting(), request(START_MS + OTP_WINDOW_MS + 1), 'collection.otp_expired'],
    [
      'without an OTP, long after five minutes',
      awaiting({ kind: 'stkThenComplete' }),
      request(START_MS * 9 + OTP_WINDOW_MS),
      'accepted',
    ],
  ] as const)('%s', (_name, state, command, expected) => {
    expect(refusal(state, command)).toBe(expected);
  });

  it('comes through three times, however they were refused, and then no more', () => {
    const used = Array.from({ length: OTP_ATTEMPTS_MAX }).reduce<CollectionState>(
      (state) => tried(state, 'refused'),
      awaiting(),
    );
    expect(used).toMatchObject({ completionAttempts: 3, completionClosed: true, status: 'PENDING' });
    expect(refusal(used, request())).toBe('collection.otp_attempts_exceeded');
    expect(refusal(used, request(START_MS + OTP_WINDOW_MS + 1))).toBe('collection.otp_attempts_exceeded');
  });

  it('of the third try is still waited for by a fourth', () => {
    const third = after(tried(tried(awaiting(), 'refused'), 'refused'), request());
    expect(refusal(third, request())).toBe('collection.completion_under_way');
  });

  it('without an OTP is not counted out', () => {
    const used = Array.from({ length: 9 }).reduce<CollectionState>(
      (state) => tried(state, 'refused'),
      awaiting({ kind: 'stkThenComplete' }),
    );
    expect(refusal(used, request())).toBe('accepted');
    expect(used.completionClosed).toBe(false);
  });
});

describe('the outcome of a completion', () => {
  it('that was not sent gives the try back', () => {
    expect(tried(awaiting(), 'notSent')).toMatchObject({ completionAttempts: 0, completionLease: null });
  });

  it('that was refused keeps it', () => {
    expect(tried(awaiting(), 'refused')).toMatchObject({ completionAttempts: 1, completionLease: null });
  });

  it('that was accepted ends all others', () => {
    expect(tried(awaiting(), 'acknowledged')).toMatchObject({ step: 'completing', completionLease: null });
  });

  it.each(['refused', 'notSent'] as const)('%s with an older token ends no newer lease', (outcome) => {
    const first = after(awaiting(), request());
    const second = after(first, request(START_MS + LEASE_MS));
    expect(refusal(second, record(first.version, outcome))).toBe('collection.stale_attempt');
  });

  it('accepted with an older token counts all the same', () => {
    const first = after(awaiting(), request());
    const second = after(first, request(START_MS + LEASE_MS));
    const completing = after(second, record(first.version, 'acknowledged'));
    expect(completing).toMatchObject({ step: 'completing', completionLease: null });
    expect(refusal(completing, record(second.version, 'refused'))).toBe('collection.stale_attempt');
    expect(refusal(completing, record(second.version, 'acknowledged'))).toBe('collection.already_there');
  });

  it.each(['acknowledged', 'refused', 'notSent'] as const)('%s after the end changes nothing', (outcome) => {
    const leased = after(awaiting(), request());
    expect(refusal(after(leased, failed), record(leased.version, outcome))).toBe('collection.closed');
  });
});

describe('that no further OTP is passed on', () => {
  it('is published once', () => {
    const closed = after(awaiting(), { kind: 'closeCompletion' });
    expect(closed).toMatchObject({ completionClosed: true, status: 'PENDING' });
    expect(refusal(closed, { kind: 'closeCompletion' })).toBe('collection.already_there');
    expect(refusal(after(awaiting(), failed), { kind: 'closeCompletion' })).toBe('collection.closed');
  });
});
