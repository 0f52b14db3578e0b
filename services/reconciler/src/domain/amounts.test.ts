import { describe, expect, it } from 'vitest';
import {
  called,
  checked,
  collection,
  completed,
  DIFFERS,
  fold,
  lookedUp,
  opened,
  poll,
} from '../fixtures/verdicts.ts';
import type { Claim } from './claim.ts';
import type { RailAnswer } from './judging.ts';
import { awaited, type Tracked } from './tracked.ts';

describe('a collection whose callback names another amount', () => {
  const unclear = () => poll(collection(called({ amount: '90' }))).after;
  const resolved = (tracked: Tracked) => (tracked.breaks.includes(DIFFERS) ? 0 : 1);

  it('stays with people where it completes with what was asked all the same', () => {
    const ended = fold(unclear(), [completed()]);
    expect(ended.breaks).toContain(DIFFERS);
    expect(resolved(ended)).toBe(0);
  });

  it.each<[string, bigint, readonly bigint[]]>([
    ['an approved decision', 9_500n, [9_500n]],
    ['an earlier approved decision', 9_500n, [9_500n, 9_600n]],
    ['the callback', 9_000n, []],
  ])('is decided by the amount of %s', (_name, amount, decided) => {
    expect(resolved(fold({ ...unclear(), decided }, [completed(amount)]))).toBe(1);
  });

  it('is not decided by any other', () => {
    const ended = fold({ ...unclear(), decided: [9_500n] }, [completed(9_600n)]);
    expect(resolved(ended)).toBe(0);
  });

  it.each<[string, RailAnswer]>([
    ['still says COMPLETED', checked],
    ['gives no answer', { kind: 'unknown' }],
    ['says PENDING', { kind: 'pending' }],
  ])('opens again by a later callback of another amount, while the rail %s', (_name, answer) => {
    const ended = fold({ ...unclear(), decided: [9_500n] }, [completed(9_500n)]);
    expect(poll(fold(ended, [called({ amount: '90.0' }), called({ amount: '95' })]), answer).breaks).toEqual(
      [],
    );
    const late = fold(ended, [called({ amount: '80' })]);
    expect(late.dueAtMs).toBe(7_000);
    const { breaks, after, verdict } = poll(late, answer);
    expect(breaks).toEqual([DIFFERS]);
    expect(verdict.findings[0]?.amount).toBe(-1_500n);
    expect(poll(after, answer).breaks).toEqual([]);
  });

  it('opens where the only callback comes after the end', () => {
    const late = collection(completed(), called({ amount: '90' }));
    expect(poll(late)).toMatchObject({ fact: null, breaks: [DIFFERS] });
    expect(poll(late, { kind: 'unknown' })).toMatchObject({ fact: null, breaks: [DIFFERS] });
  });
});

it('a claim that a payout was reversed says what it had paid, as one that it completed does', () => {
  const claimed = (status: string) => called({ kind: 'payout', status, amount: '90' });
  for (const status of ['COMPLETED', 'REVERSED']) {
    const payout = fold(awaited('po-1', 0), [opened('payout'), claimed(status)]);
    expect(poll(payout, lookedUp)).toMatchObject({
      fact: 'completed',
      verdict: { findings: [{ kind: 'callback.amount_differs', amount: -1_000n }] },
    });
  }
});

describe('a collection under poll', () => {
  const verdictOf = (...claims: readonly Partial<Claim>[]) => poll(collection(...claims.map(called))).verdict;

  it('takes the amount from a callback that names the one asked', () => {
    const { fact, findings } = verdictOf({ fee: null });
    expect(fact).toMatchObject({ amount: 10_000n, fee: null });
    expect(findings).toEqual([]);
  });

  it('knows neither without a callback', () => {
    expect(verdictOf().fact).toMatchObject({ status: 'completed', amount: null, fee: null });
  });

  it.each(['0.50', '99', '0', '-1', 'much'])('makes nothing of a fee that a hint claims: %s', (fee) => {
    const { fact, findings } = verdictOf({ fee }, { fee: '2' });
    expect(fact).toEqual({ status: 'completed', amount: 10_000n, fee: null, reason: null });
    expect(findings).toEqual([]);
  });

  it.each([null, '0.4'])('takes the fee of a proven callback, however many say none: %s', (first) => {
    const { fact } = verdictOf({ proven: true, fee: first }, { proven: true, fee: '0.4' }, { fee: '2' });
    expect(fact).toMatchObject({ amount: 10_000n, fee: 40n });
  });

  it.each(['99.99', '100.001', 'a hundred'])('waits for people where the callback claims %s', (amount) => {
    expect(poll(collection(called({ amount })))).toMatchObject({ fact: null, breaks: [DIFFERS] });
  });

  it('fails whatever amount a callback claims', () => {
    const tracked = collection(called({ status: 'FAILED', amount: '0', fee: '0' }));
    expect(poll(tracked, { kind: 'failed', reason: 'Declined' })).toMatchObject({
      fact: 'failed',
      breaks: [],
    });
  });
});
