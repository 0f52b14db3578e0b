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
import type { RailAnswer } from './question.ts';
import { awaited, type Tracked } from './tracked.ts';
import { confirmsCallback } from './verdict.ts';

const polled = (tracked: Tracked): Tracked => ({ ...tracked, claim: 'cm-1', askedAtMs: 6_500 });
const payout = fold(awaited('po-1', 0), [opened('payout'), called({ kind: 'payout' })]);
const confirms = (tracked: Tracked, answer: RailAnswer = checked, isScheduled = false) => {
  if (tracked.terms === null) throw new Error('the payment has no terms');
  const question = { ...settings, tracked, terms: tracked.terms, isScheduled };
  return confirmsCallback(question, poll(tracked, answer).verdict);
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

describe('the end that its owner then reports', () => {
  const timelineOf = ({ timeline }: Tracked) => timeline.map(({ what, detail }) => `${what} ${detail}`);

  it('shows the poll, and counts it', () => {
    const after = fold(polled(collection(called())), [ended('collection', 'completed')]);
    expect(timelineOf(after)).toEqual([
      'event Opened',
      'hint COMPLETED',
      'poll completed',
      'fact completed',
      'event Ended as completed',
    ]);
    expect(after).toMatchObject({ polls: 1, hintedPolls: 1, dueAtMs: null, claim: null });
  });

  it.each<[string, Tracked]>([
    ['without a poll', collection(called())],
    ['with a proven callback', polled(collection(called({ proven: true })))],
    ['with a callback of another end', polled(collection(called({ status: 'FAILED' })))],
    ['that people decided', { ...polled(collection(called())), decidedOutcome: 'completed' }],
  ])('shows none %s', (_what, tracked) => {
    expect(timelineOf(fold(tracked, [ended('collection', 'completed')]))).not.toContain('poll completed');
  });
});
