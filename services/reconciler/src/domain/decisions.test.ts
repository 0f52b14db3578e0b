import { describe, expect, it } from 'vitest';
import { outcomeProposed, proposed } from '../fixtures/decisions.ts';
import type { BreakKind } from './break-kinds.ts';
import {
  blocksOthers,
  type Decision,
  decide,
  isFarBeyond,
  isSameDecision,
  OUTCOME_DECIDABLE,
  whyUndecidable,
} from './decisions.ts';

const HOUR_MS = 3_600_000;
const decided = { decidedBy: 'kofi', decidedAt: new Date(HOUR_MS) };
const approved: Decision = { ...proposed, ...decided, status: 'approved', railFee: 101n };
const rejected: Decision = { ...proposed, ...decided, status: 'rejected' };
const applied: Decision = { ...approved, status: 'applied', appliedAt: new Date(2 * HOUR_MS) };
const at = new Date(HOUR_MS);

describe('a decision', () => {
  it.each<[string, Decision, 'approve' | 'reject', string, unknown]>([
    ['of another operator approves', proposed, 'approve', 'kofi', approved],
    ['of its maker does not approve', proposed, 'approve', 'ama', 'decision.same_operator'],
    ['of its maker rejects', proposed, 'reject', 'ama', { ...rejected, decidedBy: 'ama', reason: 'no' }],
    ['is the same again', approved, 'approve', 'esi', approved],
    ['is the same again once applied', applied, 'approve', 'esi', applied],
    ['rejects twice', rejected, 'reject', 'esi', rejected],
    ['does not approve what is rejected', rejected, 'approve', 'kofi', 'decision.decided'],
    ['does not reject what is approved', approved, 'reject', 'kofi', 'decision.decided'],
    ['does not reject what is applied', applied, 'reject', 'kofi', 'decision.decided'],
  ])('%s', (_name, decision, verdict, by, expected) => {
    const reason = verdict === 'reject' ? 'no' : undefined;
    const result = decide(decision, { verdict, reason, by, at }, 101n);
    expect(result.ok ? result.value : result.refusal).toEqual(expected);
  });

  it('comes too late seven days after the proposal', () => {
    const late = new Date(7 * 24 * HOUR_MS);
    expect(decide(proposed, { verdict: 'approve', by: 'kofi', at: late }, 0n)).toMatchObject({
      refusal: 'decision.expired',
    });
    expect(decide(proposed, { verdict: 'reject', by: 'kofi', at: late }, 0n).ok).toBe(true);
  });

  it.each<[string, Decision, number, boolean]>([
    ['proposed', proposed, HOUR_MS, true],
    ['proposed too long ago', proposed, 7 * 24 * HOUR_MS, false],
    ['approved just now', approved, HOUR_MS + 599_999, true],
    ['approved a while ago, and not completed', approved, HOUR_MS + 600_000, false],
    ['rejected', rejected, HOUR_MS, false],
    ['applied', applied, HOUR_MS, false],
  ])('that is %s keeps others away: %#', (_name, decision, nowMs, blocks) => {
    expect(blocksOthers(decision, nowMs)).toBe(blocks);
  });

  it.each([
    [500_000_000n, 50_000n, true],
    [100_001n, 50_000n, true],
    [100_000n, 50_000n, false],
    [1n, 50_000n, false],
  ])('of %d where %d was asked is far beyond it: %s', (proposal, asked, isBeyond) => {
    expect(isFarBeyond(proposal, asked)).toBe(isBeyond);
  });

  it('is the same by its amount, its break, its note and its maker', () => {
    const request = { breakIds: ['co-1/status', 'co-1/amount'], amount: '100.5' };
    for (const taken of [proposed, approved]) expect(isSameDecision(taken, request, 'ama')).toBe(true);
    expect(isSameDecision(proposed, request, 'kofi')).toBe(false);
    for (const other of [
      { amount: '1' },
      { amount: 'much' },
      { amount: undefined, outcome: 'failed' },
      { breakIds: ['co-1/status'] },
      { note: 'why' },
      { despite: 'x' },
    ] as const)
      expect(isSameDecision(proposed, { ...request, ...other }, 'ama')).toBe(false);
  });
});

it.each<[Parameters<typeof whyUndecidable>[0], 'open' | 'completed' | 'awaited' | undefined, unknown]>([
  [{ kinds: ['callback.denied'], status: 'open' }, 'open', 'break.undecidable'],
  [{ kinds: ['payout.amount_differs'], status: 'open' }, 'open', 'break.undecidable'],
  [{ kinds: ['collection.amount_differs'], status: 'resolved' }, 'open', 'break.closed'],
  [{ kinds: ['collection.amount_differs'], status: 'open' }, 'completed', 'payment.ended'],
  [{ kinds: ['collection.amount_differs'], status: 'open' }, 'awaited', 'payment.ended'],
  [{ kinds: ['collection.amount_differs'], status: 'open' }, undefined, 'payment.ended'],
  [{ kinds: ['collection.amount_differs'], status: 'open' }, 'open', undefined],
])('about %j of a payment that is %s: %s', (about, status, why) => {
  expect(whyUndecidable(about, status && { status }, 'amount')).toBe(why);
});

describe('the outcome of a payout', () => {
  const payout = { terms: { kind: 'payout' } } as const;
  const about = (kind: BreakKind, status = 'open') => ({ kinds: [kind], status });

  it.each(OUTCOME_DECIDABLE)('can be decided where %s is open', (kind) => {
    expect(whyUndecidable(about(kind), { ...payout, status: 'open' }, 'outcome')).toBeUndefined();
  });

  it.each<[string, ReturnType<typeof about>, 'open' | 'failed' | 'completed', unknown]>([
    ['over another break', about('callback.denied'), 'open', 'break.undecidable'],
    ['over an amount', about('collection.amount_differs'), 'open', 'break.undecidable'],
    ['over a break that is resolved', about('payment.stuck', 'resolved'), 'open', 'break.closed'],
    ['that failed', about('payment.stuck'), 'failed', 'payment.ended'],
    ['that completed', about('payment.contradiction'), 'completed', 'payment.ended'],
  ])('can not be decided %s', (_name, one, status, why) => {
    expect(whyUndecidable(one, { ...payout, status }, 'outcome')).toBe(why);
  });

  it('is none of a collection, and an amount is none of a payout', () => {
    const collection = { terms: { kind: 'collection' }, status: 'open' } as const;
    expect(whyUndecidable(about('payment.stuck'), collection, 'outcome')).toBe('break.undecidable');
    const open = { ...payout, status: 'open' } as const;
    expect(whyUndecidable(about('payment.stuck'), open, 'amount')).toBe('break.undecidable');
  });

  it('is approved by another operator, and is another decision than the other outcome', () => {
    const request = { verdict: 'approve', at } as const;
    expect(decide(outcomeProposed, { ...request, by: 'ama' }, 0n)).toMatchObject({
      refusal: 'decision.same_operator',
    });
    expect(decide(outcomeProposed, { ...request, by: 'kofi' }, 0n)).toMatchObject({
      value: { status: 'approved', outcome: 'failed', decidedBy: 'kofi' },
    });
    const proposal = { breakIds: ['po-1/status'], note: outcomeProposed.note };
    expect(isSameDecision(outcomeProposed, { ...proposal, outcome: 'failed' }, 'ama')).toBe(true);
    expect(isSameDecision(outcomeProposed, { ...proposal, outcome: 'completed' }, 'ama')).toBe(false);
  });
});
