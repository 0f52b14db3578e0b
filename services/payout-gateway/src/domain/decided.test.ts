import { specify } from '@pesewa/testkit';
import { describe, it } from 'vitest';
import {
  type AttemptOutcome,
  type PayoutCommand,
  type PayoutHappening,
  type PayoutState,
  payoutDecider,
} from './payout.ts';

const payout = specify(payoutDecider);

/** An attempt that was claimed at 2 s and may be under way until 47 s. */
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
const decide = (outcome: 'failed' | 'completed', decidedAtMs = 3_000): PayoutCommand => ({
  kind: 'decide',
  resubmitGraceMs: 30_000,
  decided: { outcome, railFee: outcome === 'completed' ? 5n : 0n, decidedAtMs },
});
const failed: PayoutHappening = { kind: 'failed', reason: 'Failed', byPeople: true };
const completed: PayoutHappening = { kind: 'completed', railFee: 5n, reason: 'Successful', byPeople: true };

describe('what two operators decide of a payout (ADR 34)', () => {
  it.each<[string, PayoutState]>([
    ['accepted', payoutDecider.initial],
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
    ['sent for the first time since', at({ attempts: 1, attemptedAtMs: 3_001, step: 'unknown' })],
  ])('completed is refused of one that was %s: nobody can have been paid', (_name, state) => {
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

describe('what is decided while an attempt is under way', () => {
  const decided = { outcome: 'failed', railFee: 0n, decidedAtMs: 3_000 } as const;
  const waiting: PayoutState = { ...submitting, decided: { ...decided, stands: true } };
  const paid: PayoutState = {
    ...waiting,
    decided: { outcome: 'completed', railFee: 5n, decidedAtMs: 3_000, stands: true },
  };
  const answered = (outcome: AttemptOutcome): PayoutCommand => ({
    kind: 'recordAttempt',
    attempt: 2,
    outcome,
  });
  const refused = { kind: 'failed', reason: 'No account' } as const;

  it('waits until it must be over: its lease, or the grace time where that is longer', () => {
    const decision = payout.givenState(submitting).when(decide('failed'));
    decision.emits({ kind: 'decided', decided, dueAtMs: 47_000 });
    decision.leadsTo({ status: 'INITIALIZED', step: 'submitting', dueAtMs: 47_000 });
    payout
      .givenState(submitting)
      .when({ ...decide('failed'), resubmitGraceMs: 60_000 } as PayoutCommand)
      .emits({ kind: 'decided', decided, dueAtMs: 62_000 });
  });
  it('told again, or an older one, is no news', () => {
    payout.givenState(waiting).when(decide('failed')).isRefused('payout.already_there');
    payout.givenState(waiting).when(decide('completed', 2_999)).isRefused('payout.already_there');
  });
  it('ends it when nothing was heard', () => {
    payout.givenState(waiting).when({ kind: 'applyDecided' }).emits(failed);
    payout.givenState(paid).when({ kind: 'applyDecided' }).emits(completed);
  });
  it.each<[string, AttemptOutcome]>([
    ['unclear', { kind: 'unknown' }],
    ['a refusal', refused],
    ['that it never left', { kind: 'notSent', retryAtMs: 9_000 }],
  ])('ends it when the answer is %s', (_name, outcome) => {
    payout.givenState(waiting).when(answered(outcome)).emits(failed);
    payout.givenState(paid).when(answered(outcome)).emits(completed);
  });
  it('ends it when the lookup finds nothing, and sends nothing again', () => {
    const fact = { status: 'notFound', railFee: 0n, reason: '', polledAtMs: 40_000 } as const;
    payout.givenState(waiting).when({ kind: 'observe', resubmitGraceMs: 30_000, fact }).emits(failed);
  });
  it('lapses when the rail has taken that very attempt on: what people knew is older', () => {
    const decision = payout.givenState(waiting).when(answered({ kind: 'accepted' }));
    decision.emits({ kind: 'submitted', answer: 'accepted' });
    decision.leadsTo({ step: 'submitted', decided: { ...decided, stands: false } });
    payout
      .givenState(paid)
      .when(answered({ kind: 'accepted' }))
      .emits(completed);
  });
  it('gives way to a rail that says that it has paid', () => {
    payout
      .givenState(waiting)
      .when(answered({ kind: 'completed', fee: 7n }))
      .emits({ kind: 'completed', railFee: 7n, reason: 'Successful' });
  });
  it('does not come back with a replay once it has lapsed, and ends nothing by itself', () => {
    const lapsed = at({ step: 'submitted', decided: { ...decided, stands: false } });
    payout.givenState(lapsed).when(decide('failed')).isRefused('payout.already_there');
    payout.givenState(lapsed).when({ kind: 'applyDecided' }).isRefused('payout.already_there');
    payout.givenState(lapsed).when(decide('failed', 3_001)).emits(failed);
  });
  it('leaves nothing to the answer that comes after the end', () => {
    payout
      .givenState(at({ status: 'FAILED', step: 'ended', decided: { ...decided, stands: false } }))
      .when(answered({ kind: 'accepted' }))
      .isRefused('payout.stale_attempt');
  });
});
