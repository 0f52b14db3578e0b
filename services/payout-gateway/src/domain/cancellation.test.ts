import { specify } from '@pesewa/testkit';
import { describe, it } from 'vitest';
import { CANCELLED } from './cancellation.ts';
import { payoutDecider } from './payout.ts';
import type { PayoutDomainEvent, PayoutState } from './payout-state.ts';

const payout = specify(payoutDecider);
const held: PayoutDomainEvent = { kind: 'held', dueAtMs: 1_000 };
const cancel = { kind: 'cancel', by: 'ama' } as const;
const requested: PayoutDomainEvent = { kind: 'cancelRequested', by: 'ama' };
const cancelled: PayoutDomainEvent = { kind: 'failed', reason: CANCELLED, cancelledBy: 'ama' };
const confirmHold = { kind: 'confirmHold', nowMs: 1_000 } as const;

/** A held payout after its claim. */
const submitting: PayoutState = {
  ...payoutDecider.initial,
  step: 'submitting',
  version: 3n,
  attempts: 1,
  attemptedAtMs: 2_000,
  dueAtMs: 47_000,
};

describe('a payout that was not sent is cancelled (ADR 84)', () => {
  it('at once when its money is held', () => {
    payout.given(held).when(cancel).emits(cancelled);
  });
  it('also after attempts that were given back before their call', () => {
    const back: PayoutDomainEvent = { kind: 'requeued', dueAtMs: 9_000, unclear: false };
    payout.givenState(payoutDecider.evolve(submitting, back)).when(cancel).emits(cancelled);
  });
  it('before the hold it waits, so that the hold is never later than its release', () => {
    payout.given().when(cancel).emits(requested);
    payout.given(requested).when(confirmHold).emits(cancelled);
  });
  it('and fails for want of money if the hold is refused meanwhile', () => {
    const reason = 'Insufficient funds';
    payout.given(requested).when({ kind: 'refuseHold', reason }).emits({ kind: 'failed', reason });
  });
  it('once', () => {
    payout.given(requested).when(cancel).isRefused('payout.already_there');
    payout.given(held, cancelled).when(cancel).isRefused('payout.already_there');
  });
});

describe('a payout is not cancelled', () => {
  it.each(['submitting', 'submitted', 'unknown'] as const)('that is %s', (step) => {
    payout
      .givenState({ ...submitting, step })
      .when(cancel)
      .isRefused('payout.maybe_sent');
  });
  it('of which an attempt is unclear, though it is due again', () => {
    const unclear: PayoutDomainEvent = { kind: 'requeued', dueAtMs: 9_000, unclear: true };
    payout.givenState(payoutDecider.evolve(submitting, unclear)).when(cancel).isRefused('payout.maybe_sent');
  });
  it.each([{ earlierUnclear: true }, { recipientKnown: false }])(
    'that may have been sent before its database was restored: %j',
    (back) => {
      payout
        .givenState({ ...payoutDecider.initial, ...back })
        .when(cancel)
        .isRefused('payout.maybe_sent');
    },
  );
  it.each<PayoutDomainEvent>([
    { kind: 'failed', reason: 'Account closed' },
    { kind: 'completed', railFee: 0n, reason: 'Successful' },
  ])('that has ended: $kind', (end) => {
    payout.given(held, end).when(cancel).isRefused('payout.ended');
  });
});
