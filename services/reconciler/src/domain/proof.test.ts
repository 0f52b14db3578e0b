import { describe, expect, it } from 'vitest';
import {
  called,
  collection,
  completed,
  fold,
  lookedUp,
  newKinds,
  opened,
  poll,
  settings,
  terms,
} from '../fixtures/verdicts.ts';
import type { RailAnswer } from './judging.ts';
import type { PaymentObservation } from './observations.ts';
import { afterProven, judgeProven } from './proven.ts';
import { awaited } from './tracked.ts';

describe('proof', () => {
  it('of a fee that is none, after a hint of another, is one break', () => {
    const claim = called({ proven: true, fee: '-1' });
    const tracked = collection(called({ fee: '9' }), claim);
    const verdict = judgeProven(tracked, terms('collection'), claim.claim, settings);
    expect(verdict && newKinds(tracked, verdict)).toEqual(['callback.fee_differs']);
  });

  it('of a reversal of another amount makes a poll due, which decides', () => {
    const ended: PaymentObservation = {
      ...completed(),
      name: 'PayoutCompleted',
      terms: terms('payout'),
    } as PaymentObservation;
    const reversal = called({ kind: 'payout', proven: true, status: 'REVERSED', amount: '90' });
    const tracked = fold(awaited('po-1', 0), [opened('payout'), ended, reversal]);
    const verdict = judgeProven(tracked, terms('payout'), reversal.claim, settings);
    if (!verdict) throw new Error('no verdict');
    expect(verdict.fact).toBeNull();
    const after = afterProven(tracked, reversal.claim, verdict, 9_000);
    expect(after.dueAtMs).toBe(9_000);
    expect(poll(after, { ...lookedUp, kind: 'reversed' } as RailAnswer).fact).toBe('reversed');
  });
});
