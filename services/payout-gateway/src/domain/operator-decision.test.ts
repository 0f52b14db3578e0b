import { specify } from '@pesewa/testkit';
import { describe, it } from 'vitest';
import { type AttemptOutcome, type PayoutCommand, payoutDecider } from './payout.ts';
import type { PayoutDomainEvent, PayoutState } from './payout-state.ts';

const payout = specify(payoutDecider);

/** An attempt that was claimed at 2 s and may be in progress until 47 s. */
const submitting: PayoutState = {
  ...payoutDecider.initial,
  step: 'submitting',
  version: 5n,
  attempts: 2,
  earlierUnclear: true,
  attemptedAtMs: 2_000,
  dueAtMs: 47_000,
};
const at = (changes: Partial<PayoutState>): PayoutState => ({ ...submitting, dueAtMs: null, ...changes });
const GRACE_MS = 30_000;
/** A decision based on what was known at 2 minutes, long after the attempt, unless given otherwise. */
const decide = (
  outcome: 'failed' | 'completed',
  { knownAtMs = 120_000, decidedAtMs = 130_000, resubmitGraceMs = GRACE_MS } = {},
): PayoutCommand => ({
  kind: 'endByOperators',
  resubmitGraceMs,
  decided: { outcome, railFee: outcome === 'completed' ? 5n : 0n, knownAtMs, decidedAtMs },
});
const failed: PayoutDomainEvent = { kind: 'failed', reason: 'Failed', byOperators: true };
const completed: PayoutDomainEvent = {
  kind: 'completed',
  railFee: 5n,
  reason: 'Successful',
  byOperators: true,
};

describe('what two operators decide of a payout', () => {
  it.each<[string, PayoutState]>([
    ['awaiting its hold', payoutDecider.initial],
    ['held, and never sent', at({ step: 'held', attempts: 0, attemptedAtMs: null, dueAtMs: 1_000 })],
    ['held, to be sent again', at({ step: 'held', dueAtMs: 1_000 })],
    ['submitted', at({ step: 'submitted' })],
    ['unknown', at({ step: 'unknown' })],
  ])('failed ends one that is %s at once, and nothing is due any more', (_name, state) => {
    const decision = payout.givenState(state).when(decide('failed'));
    decision.emits(failed);
    decision.leadsTo({ status: 'FAILED', step: 'ended', dueAtMs: null, statusReason: 'Failed' });
  });

  it.each<[string, PayoutState]>([
    ['held, to be sent again', at({ step: 'held', dueAtMs: 1_000 })],
    ['submitted', at({ step: 'submitted' })],
    ['unknown', at({ step: 'unknown' })],
  ])('completed ends one that is %s at once, with the fee of the rail', (_name, state) => {
    const decision = payout.givenState(state).when(decide('completed'));
    decision.emits(completed);
    decision.leadsTo({ status: 'COMPLETED', railFee: 5n, statusReason: 'Successful' });
  });

  it.each<[string, PayoutState]>([
    ['never sent', payoutDecider.initial],
    ['sent for the first time since', at({ attempts: 1, attemptedAtMs: 120_001, step: 'unknown' })],
  ])('completed is refused of one that was %s: it cannot have been paid', (_name, state) => {
    payout.givenState(state).when(decide('completed')).isRefused('payout.not_attempted');
  });

  it.each<['failed' | 'completed', PayoutState['status'], string]>([
    ['failed', 'FAILED', 'payout.already_there'],
    ['completed', 'COMPLETED', 'payout.already_there'],
    ['failed', 'COMPLETED', 'payout.contradiction'],
    ['completed', 'FAILED', 'payout.contradiction'],
    ['completed', 'REVERSED', 'payout.contradiction'],
  ])('%s moves none that is %s already', (outcome, status, refusal) => {
    payout
      .givenState(at({ status, step: 'ended' }))
      .when(decide(outcome))
      .isRefused(refusal as 'payout.contradiction');
  });
});

describe('failed, where an attempt was not over yet by what people knew', () => {
  // The attempt of 2 s may be executed until 32 s.
  const early = { knownAtMs: 31_999, decidedAtMs: 130_000 };

  it('is refused once the rail has taken the attempt on: it will pay', () => {
    payout
      .givenState(at({ step: 'submitted' }))
      .when(decide('failed', early))
      .isRefused('payout.contradiction');
    const known = { ...early, knownAtMs: 32_000 };
    payout
      .givenState(at({ step: 'submitted' }))
      .when(decide('failed', known))
      .emits(failed);
  });
  it('waits for the grace time of one that is unclear', () => {
    const decision = payout.givenState(at({ step: 'unknown' })).when(decide('failed', early));
    const decided = { outcome: 'failed', railFee: 0n, ...early } as const;
    decision.emits({ kind: 'decided', decided, dueAtMs: 32_000 });
    decision.leadsTo({ step: 'unknown', dueAtMs: 32_000, decided: { ...decided, isPending: true } });
  });
  it.each<[string, PayoutState]>([
    ['awaiting its hold', payoutDecider.initial],
    ['held, to be sent again: it was not found, or never left', at({ step: 'held', dueAtMs: 1_000 })],
  ])('ends one that is %s', (_name, state) => {
    payout.givenState(state).when(decide('failed', early)).emits(failed);
  });
});

describe('what is decided while an attempt is under way', () => {
  const times = { knownAtMs: 2_500, decidedAtMs: 3_000 };
  const decided = { outcome: 'failed', railFee: 0n, ...times } as const;
  const waiting: PayoutState = { ...submitting, decided: { ...decided, isPending: true } };
  const paid: PayoutState = {
    ...waiting,
    decided: { outcome: 'completed', railFee: 5n, ...times, isPending: true },
  };
  const answered = (outcome: AttemptOutcome): PayoutCommand => ({
    kind: 'recordAttempt',
    attempt: 2,
    outcome,
  });
  const refused = { kind: 'failed', reason: 'No account' } as const;

  it('waits until it must be over: its lease, or the grace time where that is longer', () => {
    const decision = payout.givenState(submitting).when(decide('failed', times));
    decision.emits({ kind: 'decided', decided, dueAtMs: 47_000 });
    decision.leadsTo({ status: 'INITIALIZED', step: 'submitting', dueAtMs: 47_000 });
    payout
      .givenState(submitting)
      .when(decide('failed', { ...times, resubmitGraceMs: 60_000 }))
      .emits({ kind: 'decided', decided, dueAtMs: 62_000 });
  });
  it('repeated, or an older one, is no news', () => {
    payout.givenState(waiting).when(decide('failed', times)).isRefused('payout.already_there');
    payout
      .givenState(waiting)
      .when(decide('completed', { ...times, decidedAtMs: 2_999 }))
      .isRefused('payout.already_there');
  });
  const over = { kind: 'applyDecided', resubmitGraceMs: GRACE_MS } as const;
  it('completed ends it when nothing was heard', () => {
    payout.givenState(paid).when(over).emits(completed);
  });
  it('failed lapses without an answer: the attempt’s outcome is unknown, and people can check again', () => {
    const decision = payout.givenState(waiting).when(over);
    decision.emits({ kind: 'lapsed' });
    const lapsed = { ...decided, isPending: false };
    decision.leadsTo({ status: 'INITIALIZED', step: 'submitting', dueAtMs: null, decided: lapsed });
  });
  it('failed ends it when nothing was heard since long before people looked', () => {
    const known = { ...decided, knownAtMs: 32_000, isPending: true };
    payout
      .givenState({ ...waiting, decided: known })
      .when(over)
      .emits(failed);
  });
  it('goes on waiting where the answer is unclear: failed, since it may still pay', () => {
    const decision = payout.givenState(waiting).when(answered({ kind: 'unknown' }));
    decision.emits({ kind: 'submitted', answer: 'unknown' });
    decision.leadsTo({ step: 'unknown', dueAtMs: 47_000, decided: { ...decided, isPending: true } });
    payout
      .givenState(paid)
      .when(answered({ kind: 'unknown' }))
      .emits(completed);
  });
  it.each<[string, AttemptOutcome]>([
    ['a refusal', refused],
    ['that it never left', { kind: 'notSent', retryAtMs: 9_000 }],
  ])('ends it when the answer is %s', (_name, outcome) => {
    payout.givenState(waiting).when(answered(outcome)).emits(failed);
    payout.givenState(paid).when(answered(outcome)).emits(completed);
  });
  it('ends it when the lookup finds nothing, and sends nothing again', () => {
    const fact = { status: 'notFound', railFee: 0n, reason: '', polledAtMs: 40_000 } as const;
    for (const step of ['submitting', 'unknown'] as const) {
      const state = { ...waiting, step };
      payout.givenState(state).when({ kind: 'observe', resubmitGraceMs: GRACE_MS, fact }).emits(failed);
    }
  });
  it('lapses when the rail has taken that very attempt on: what people knew is older', () => {
    const decision = payout.givenState(waiting).when(answered({ kind: 'acknowledged' }));
    decision.emits({ kind: 'submitted', answer: 'acknowledged' });
    decision.leadsTo({ step: 'submitted', decided: { ...decided, isPending: false } });
    payout
      .givenState(paid)
      .when(answered({ kind: 'acknowledged' }))
      .emits(completed);
  });
  it('gives way to a rail that says that it has paid', () => {
    payout
      .givenState(waiting)
      .when(answered({ kind: 'completed', fee: 7n }))
      .emits({ kind: 'completed', railFee: 7n, reason: 'Successful' });
  });
  it('does not come back with a replay once it has lapsed, and ends nothing by itself', () => {
    const lapsed = at({ step: 'submitted', decided: { ...decided, isPending: false } });
    payout.givenState(lapsed).when(decide('failed', times)).isRefused('payout.already_there');
    payout.givenState(lapsed).when(over).isRefused('payout.already_there');
    payout.givenState(lapsed).when(decide('failed')).emits(failed);
  });
  it('leaves nothing to the answer that comes after the end', () => {
    payout
      .givenState(at({ status: 'FAILED', step: 'ended', decided: { ...decided, isPending: false } }))
      .when(answered({ kind: 'acknowledged' }))
      .isRefused('payout.stale_attempt');
  });
});
