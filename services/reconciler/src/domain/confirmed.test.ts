import { describe, expect, it } from 'vitest';
import {
  called,
  checked,
  collection,
  ended,
  fold,
  lookedUp,
  opened,
  poll,
  settings,
} from '../fixtures/verdicts.ts';
import type { RailAnswer } from './judging.ts';
import { awaited, type Tracked } from './tracked.ts';
import { confirmsCallback } from './verdict.ts';

const polled = (tracked: Tracked): Tracked => ({ ...tracked, claim: 'cm-1', askedAtMs: 6_500 });
const payout = fold(awaited('po-1', 0), [opened('payout'), called({ kind: 'payout' })]);
const confirms = (tracked: Tracked, answer: RailAnswer = checked, isScheduled = false) => {
  if (tracked.terms === null) throw new Error('the payment has no terms');
  const evidence = { ...settings, tracked, terms: tracked.terms, isScheduled };
  return confirmsCallback(evidence, poll(tracked, answer).verdict);
};

describe('an answer changes nothing of a payment', () => {
  it('if it is the end that its callback claims', () => {
    expect(confirms(collection(called()))).toBe(true);
    expect(confirms(payout, lookedUp)).toBe(true);
  });

  it.each<[string, Tracked, RailAnswer?, boolean?]>([
    ['without a callback', collection()],
    ['another end than its callback claims', collection(called()), { kind: 'failed', reason: 'DECLINED' }],
    ['no end', collection(called()), { kind: 'pending' }],
    ['another amount than its callback claims', collection(called({ amount: '99' }))],
    ['to a scheduled poll, which counts', collection(called()), checked, true],
    ['with a callback of another rail', collection(called({ rail: 'other' }))],
    ['after the end', collection(called(), ended('collection', 'completed'))],
    ['what its lookup takes back', { ...payout, breaks: ['payout.amount_differs'] }, lookedUp],
    ['after a NOT FOUND', { ...collection(called()), notFoundSinceMs: 1 }],
  ])('but not %s', (_what, tracked, answer, isScheduled) => {
    expect(confirms(tracked, answer, isScheduled)).toBe(false);
  });
});

it('a payment that goes straight has no answers here, and no poll that was not written', () => {
  const after = fold(polled(collection(called())), [ended('collection', 'completed')]);
  expect(after.answers).toEqual([]);
  expect(after).toMatchObject({ polls: 0, hintedPolls: 0, dueAtMs: null, claim: null });
});
