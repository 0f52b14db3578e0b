import { decidableKinds } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { outcomeProposed, proposed } from '../fixtures/decisions.ts';
import type { Break } from './break.ts';
import { type BreakKind, breakKinds } from './break-kinds.ts';
import {
  blocksOthers,
  checkVerdict,
  type Decision,
  isFarBeyond,
  isSameDecision,
  matterOf,
} from './decisions.ts';
import { observe, toFoundBreak } from './observing.ts';
import { awaited, type Tracked } from './tracked.ts';

const HOUR_MS = 3_600_000;
const at = new Date(HOUR_MS);
const approved: Decision = {
  ...proposed,
  status: 'approved',
  approvedBy: 'kofi',
  approvedAt: at,
  railFee: 101n,
};
const rejected: Decision = { ...proposed, status: 'rejected', rejectedBy: 'kofi', rejectedAt: at };
const applied: Decision = { ...approved, status: 'applied', appliedAt: new Date(2 * HOUR_MS) };

describe('a decision', () => {
  it.each<[string, Decision, 'approve' | 'reject', string, string]>([
    ['of another operator approves', proposed, 'approve', 'kofi', 'fresh'],
    ['of its maker does not approve', proposed, 'approve', 'ama', 'decision.same_operator'],
    ['of its maker rejects', proposed, 'reject', 'ama', 'fresh'],
    ['is the same again', approved, 'approve', 'esi', 'repeated'],
    ['is the same again once applied', applied, 'approve', 'esi', 'repeated'],
    ['rejects twice', rejected, 'reject', 'esi', 'repeated'],
    ['does not approve what is rejected', rejected, 'approve', 'kofi', 'decision.decided'],
    ['does not reject what is approved', approved, 'reject', 'kofi', 'decision.decided'],
    ['does not reject what is applied', applied, 'reject', 'kofi', 'decision.decided'],
  ])('%s', (_name, decision, verdict, by, expected) => {
    const result = checkVerdict(decision, { verdict, by }, at);
    expect(result.ok ? result.value : result.refusal).toEqual(expected);
  });

  it('comes too late seven days after the proposal', () => {
    const late = new Date(7 * 24 * HOUR_MS);
    expect(checkVerdict(proposed, { verdict: 'approve', by: 'kofi' }, late)).toMatchObject({
      refusal: 'decision.expired',
    });
    expect(checkVerdict(proposed, { verdict: 'reject', by: 'kofi' }, late).ok).toBe(true);
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

  it('is the same by its amount, its payment, its note and its maker', () => {
    const request = { reference: 'co-1', amount: '100.5' };
    for (const taken of [proposed, approved]) expect(isSameDecision(taken, request, 'ama')).toBe(true);
    expect(isSameDecision(proposed, request, 'kofi')).toBe(false);
    for (const other of [
      { amount: '1' },
      { amount: 'much' },
      { amount: undefined, outcome: 'failed' },
      { reference: 'co-2' },
      { note: 'why' },
      { despite: 'x' },
    ] as const)
      expect(isSameDecision(proposed, { ...request, ...other }, 'ama')).toBe(false);
  });
});

describe('what is decided', () => {
  const terms = {
    rail: 'upstream',
    merchantId: 'demo',
    currency: 'KES',
    country: 'KE',
    amount: 1n,
    railFee: 1n,
  };
  const payment = (kind: 'payout' | 'collection', status: Tracked['status'] = 'open'): Tracked => ({
    ...awaited('xx-1', 0),
    status,
    terms: { ...terms, kind },
  });
  const about = (kind: BreakKind, status: Break['status'] = 'open'): Break => ({
    ...observe(toFoundBreak('xx-1', { kind, amount: null, detail: 'x' }, terms, at), undefined),
    status,
  });
  /** The break that is decided about, or why none is. */
  function chosen(outcome: 'failed' | undefined, tracked: Tracked | undefined, ...found: readonly Break[]) {
    const matter = matterOf({ outcome }, found, tracked);
    return matter.ok ? matter.value.about._id : matter.refusal;
  }

  it.each<[BreakKind, Break['status'], Tracked | undefined, string]>([
    ['callback.denied', 'open', payment('collection'), 'break.undecidable'],
    ['payout.amount_differs', 'open', payment('payout'), 'break.undecidable'],
    ['payment.stuck', 'open', payment('payout'), 'break.undecidable'],
    ['collection.amount_differs', 'resolved', payment('collection'), 'break.closed'],
    ['collection.amount_differs', 'open', payment('collection', 'completed'), 'payment.ended'],
    ['collection.amount_differs', 'open', payment('collection', 'awaited'), 'payment.ended'],
    ['collection.amount_differs', 'open', undefined, 'payment.ended'],
    ['collection.amount_differs', 'open', payment('collection'), 'xx-1/amount'],
  ])('is the amount of %s, %s', (kind, status, tracked, expected) => {
    expect(chosen(undefined, tracked, about(kind, status))).toBe(expected);
  });

  it.each(decidableKinds.payout)('is the outcome of a payout where %s is open', (kind) => {
    expect(chosen('failed', payment('payout'), about(kind))).toBe(`xx-1/${breakKinds[kind].field}`);
  });

  it.each<[string, Break, Tracked, string]>([
    ['over another break', about('callback.denied'), payment('payout'), 'break.undecidable'],
    [
      'over a collection’s amount',
      about('collection.amount_differs'),
      payment('collection'),
      'break.undecidable',
    ],
    ['of a collection', about('payment.stuck'), payment('collection'), 'break.undecidable'],
    ['over a break that is resolved', about('payment.stuck', 'resolved'), payment('payout'), 'break.closed'],
    ['that failed', about('payment.stuck'), payment('payout', 'failed'), 'payment.ended'],
    ['that completed', about('payment.contradiction'), payment('payout', 'completed'), 'payment.ended'],
  ])('is no outcome %s', (_name, one, tracked, why) => {
    expect(chosen('failed', tracked, one)).toBe(why);
  });

  it('is about the status first, and about what is open before that', () => {
    const amount = about('payout.amount_differs');
    expect(chosen('failed', payment('payout'), amount, about('payment.stuck'))).toBe('xx-1/status');
    expect(chosen('failed', payment('payout'), about('payment.stuck', 'resolved'), amount)).toBe(amount._id);
    expect(chosen('failed', payment('payout'))).toBe('break.unknown');
  });
});

it('the outcome of a payout is another decision than the other outcome', () => {
  const proposal = { reference: 'po-1', note: outcomeProposed.note };
  expect(isSameDecision(outcomeProposed, { ...proposal, outcome: 'failed' }, 'ama')).toBe(true);
  expect(isSameDecision(outcomeProposed, { ...proposal, outcome: 'completed' }, 'ama')).toBe(false);
});
