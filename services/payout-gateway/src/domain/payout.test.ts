import { specify } from '@pesewa/testkit';
import { describe, it } from 'vitest';
import { type AttemptOutcome, type PayoutFact, payoutDecider } from './payout.ts';
import type { PayoutDomainEvent, PayoutState } from './payout-state.ts';

const payout = specify(payoutDecider);
const held: PayoutDomainEvent = { kind: 'held', dueAtMs: 1_000 };
const submitted: PayoutDomainEvent = { kind: 'submitted', answer: 'acknowledged' };
const completed: PayoutDomainEvent = { kind: 'completed', railFee: 5n, reason: 'Successful' };
const failed: PayoutDomainEvent = { kind: 'failed', reason: 'Account closed' };

/** A held payout after its claim: the attempt is committed before the call. */
const submitting: PayoutState = {
  ...payoutDecider.initial,
  step: 'submitting',
  version: 3n,
  attempts: 1,
  attemptedAtMs: 2_000,
  dueAtMs: 47_000,
};

const fact = (status: PayoutFact['status'], polledAtMs = 3_000) =>
  ({
    kind: 'observe',
    resubmitGraceMs: 30_000,
    fact: {
      status,
      railFee: 5n,
      reason: status === 'completed' ? 'Successful' : 'Account closed',
      polledAtMs,
    },
  }) as const;

describe('holds', () => {
  it('a placed hold makes the payout due', () => {
    payout.given().when({ kind: 'confirmHold', nowMs: 1_000 }).emits(held);
  });
  it('a refused hold fails it: nothing was sent', () => {
    payout
      .given()
      .when({ kind: 'refuseHold', reason: 'Insufficient funds' })
      .emits({ kind: 'failed', reason: 'Insufficient funds' });
  });
  it('a repeated hold changes nothing', () => {
    payout.given(held).when({ kind: 'confirmHold', nowMs: 9_000 }).isRefused('payout.already_there');
  });
});

describe('attempts', () => {
  const record = (outcome: Parameters<typeof payoutDecider.decide>[0] & { kind: 'recordAttempt' }) => outcome;
  it('an accepted one waits for a fact', () => {
    payout
      .givenState(submitting)
      .when(record({ kind: 'recordAttempt', attempt: 1, outcome: { kind: 'acknowledged' } }))
      .emits(submitted);
  });
  it('an unclear answer is neither success nor failure (invariant P4)', () => {
    const decision = payout
      .givenState(submitting)
      .when(record({ kind: 'recordAttempt', attempt: 1, outcome: { kind: 'unknown' } }));
    decision.emits({ kind: 'submitted', answer: 'unknown' });
    decision.leadsTo({ status: 'INITIALIZED', step: 'unknown', dueAtMs: null });
  });
  it('one that never left is tried again later', () => {
    payout
      .givenState(submitting)
      .when(record({ kind: 'recordAttempt', attempt: 1, outcome: { kind: 'notSent', retryAtMs: 9_000 } }))
      .emits({ kind: 'requeued', dueAtMs: 9_000, unclear: false });
  });
  it('a refusal of the first one fails the payout', () => {
    payout
      .givenState(submitting)
      .when(record({ kind: 'recordAttempt', attempt: 1, outcome: { kind: 'failed', reason: 'No account' } }))
      .emits({ kind: 'failed', reason: 'No account' });
  });
  it('a refusal of a later one is final where no earlier one ever left', () => {
    payout
      .givenState({ ...submitting, attempts: 2 })
      .when(record({ kind: 'recordAttempt', attempt: 2, outcome: { kind: 'failed', reason: 'No account' } }))
      .emits({ kind: 'failed', reason: 'No account' });
  });
  it('a refusal after an unclear one is not final: the earlier one may still be executed (P12)', () => {
    const decision = payout
      .givenState({ ...submitting, attempts: 2, earlierUnclear: true })
      .when(record({ kind: 'recordAttempt', attempt: 2, outcome: { kind: 'failed', reason: 'No account' } }));
    decision.emits({ kind: 'submitted', answer: 'refused' });
    decision.leadsTo({ status: 'INITIALIZED', step: 'unknown', dueAtMs: null, statusReason: null });
  });
  it('the answer to an older attempt is ignored', () => {
    payout
      .givenState({ ...submitting, attempts: 2 })
      .when(record({ kind: 'recordAttempt', attempt: 1, outcome: { kind: 'failed', reason: 'late' } }))
      .isRefused('payout.stale_attempt');
  });
});

describe('the answer to an attempt that a NOT FOUND has overtaken', () => {
  const requeued: PayoutState = { ...submitting, step: 'held', version: 4n, earlierUnclear: true };
  const record = (outcome: AttemptOutcome, attempt = 1) =>
    ({ kind: 'recordAttempt', attempt, outcome }) as const;
  it('a refusal of the only attempt fails the payout: nothing can still be executed', () => {
    payout
      .givenState(requeued)
      .when(record({ kind: 'failed', reason: 'No account' }))
      .emits({ kind: 'failed', reason: 'No account' });
  });
  it('one that never left is no longer unclear', () => {
    const decision = payout.givenState(requeued).when(record({ kind: 'notSent', retryAtMs: 9_000 }));
    decision.emits({ kind: 'requeued', dueAtMs: 9_000, unclear: false });
    decision.leadsTo({ step: 'held', earlierUnclear: false, dueAtMs: 9_000 });
  });
  it('an accepted one is not sent again', () => {
    payout
      .givenState(requeued)
      .when(record({ kind: 'acknowledged' }))
      .leadsTo({ step: 'submitted', dueAtMs: null });
  });
  it('a refusal is not final where an attempt before it was unclear', () => {
    payout
      .givenState({ ...requeued, attempts: 2 })
      .when(record({ kind: 'failed', reason: 'No account' }, 2))
      .isRefused('payout.stale_attempt');
  });
  it('what was recorded already changes nothing when it is recorded again', () => {
    payout
      .givenState({ ...requeued, earlierUnclear: false })
      .when(record({ kind: 'notSent', retryAtMs: 9_000 }))
      .isRefused('payout.stale_attempt');
  });
});

describe('facts (contract 10.6)', () => {
  it.each([
    ['completed', completed],
    ['failed', failed],
  ] as const)('%s ends the payout', (status, domainEvent) => {
    payout.givenState(submitting).when(fact(status)).emits(domainEvent);
  });
  it('not found within the grace time proves nothing (rule 3)', () => {
    payout.givenState(submitting).when(fact('notFound', 31_999)).isRefused('payout.grace_not_over');
  });
  it('not found after the grace time makes it due again, with the same reference (rule 3)', () => {
    payout
      .givenState(submitting)
      .when(fact('notFound', 32_000))
      .emits({ kind: 'requeued', dueAtMs: 32_000, unclear: true });
  });
  it('not found after an unclear answer makes it due again, too (rule 3)', () => {
    payout
      .givenState({ ...submitting, step: 'unknown', dueAtMs: null })
      .when(fact('notFound', 32_000))
      .emits({ kind: 'requeued', dueAtMs: 32_000, unclear: true });
  });
  it('not found never sends again what the rail acknowledged (rule 3)', () => {
    payout
      .givenState({ ...submitting, step: 'submitted', dueAtMs: null })
      .when(fact('notFound', 900_000))
      .isRefused('payout.contradiction');
  });
  it('not found of one that is due again is no news', () => {
    payout
      .givenState({ ...submitting, step: 'held' })
      .when(fact('notFound', 32_000))
      .isRefused('payout.already_there');
  });
  it('not found before any attempt is no news', () => {
    payout.given(held).when(fact('notFound', 90_000)).isRefused('payout.not_attempted');
  });
  it('a reversal follows completion only (rule 5)', () => {
    payout
      .given(held, submitted, completed)
      .when(fact('reversed'))
      .emits({ kind: 'reversed', reason: 'Account closed' });
    payout.given(held, submitted, failed).when(fact('reversed')).isRefused('payout.contradiction');
  });
  it.each(['failed', 'notFound'] as const)(
    '%s against COMPLETED is a contradiction and moves nothing (rule 5)',
    (status) => {
      payout.given(held, submitted, completed).when(fact(status)).isRefused('payout.contradiction');
    },
  );
  it('completed against FAILED is a contradiction and moves nothing (rule 5)', () => {
    payout.given(held, submitted, failed).when(fact('completed')).isRefused('payout.contradiction');
  });
  it('the same fact twice is no news', () => {
    payout.given(held, submitted, completed).when(fact('completed')).isRefused('payout.already_there');
  });
});

describe('a payout that the database had forgotten', () => {
  const sent = { earlierUnclear: true, attemptedAtMs: 2_000 } as const;
  const back: PayoutState = { ...payoutDecider.initial, ...sent, recipientKnown: false };
  const withheld = { kind: 'withheld' } as const;
  const unknown: PayoutState = { ...back, step: 'unknown', version: 2n };

  it('is never made due: its hold only says that it may have been sent', () => {
    const decision = payout.givenState(back).when({ kind: 'confirmHold', nowMs: 1_000 });
    decision.emits(withheld);
    decision.leadsTo({ step: 'unknown', dueAtMs: null });
    const undoubted = payout.givenState({ ...back, earlierUnclear: false });
    undoubted.when({ kind: 'confirmHold', nowMs: 1_000 }).emits(withheld);
  });
  it('is sent again where its recipient is known, once its rail does not know it', () => {
    const known: PayoutState = { ...payoutDecider.initial, ...sent };
    payout.givenState(known).when({ kind: 'confirmHold', nowMs: 1_000 }).emits(withheld);
    const asked = payout.givenState(payoutDecider.evolve(known, withheld));
    asked.when(fact('notFound', 31_999)).isRefused('payout.grace_not_over');
    asked.when(fact('notFound', 32_000)).emits({ kind: 'requeued', dueAtMs: 32_000, unclear: true });
  });
  it('stays in doubt after an attempt that was not sent: what was sent before may still be executed', () => {
    const again: PayoutState = { ...payoutDecider.initial, ...sent, step: 'submitting', attempts: 2 };
    const notSent = {
      kind: 'recordAttempt',
      attempt: 2,
      outcome: { kind: 'notSent', retryAtMs: 5 },
    } as const;
    const decision = payout.givenState(again).when(notSent);
    decision.emits({ kind: 'requeued', dueAtMs: 5, unclear: false });
    decision.leadsTo({ step: 'held', earlierUnclear: true });
  });
  it('fails where its hold was refused', () => {
    payout
      .givenState(back)
      .when({ kind: 'refuseHold', reason: 'Insufficient funds' })
      .emits({ kind: 'failed', reason: 'Insufficient funds' });
  });
  it.each<['completed' | 'failed', PayoutDomainEvent]>([
    ['completed', completed],
    ['failed', failed],
  ])('is %s where its rail says so', (status, domainEvent) => {
    for (const state of [back, unknown]) payout.givenState(state).when(fact(status)).emits(domainEvent);
  });
  it('fails once its rail does not know it, when no attempt can be under way any more', () => {
    payout.givenState(unknown).when(fact('notFound', 31_999)).isRefused('payout.grace_not_over');
    payout.givenState(unknown).when(fact('notFound', 32_000)).emits({ kind: 'failed', reason: 'Failed' });
  });
  it('is left to people where the rail had taken it on and does not know it', () => {
    payout
      .givenState({ ...unknown, step: 'submitted' })
      .when(fact('notFound', 60_000))
      .isRefused('payout.contradiction');
  });
  it('waits for its hold before it can fail as unknown', () => {
    payout.givenState(back).when(fact('notFound', 60_000)).isRefused('payout.contradiction');
  });
});
