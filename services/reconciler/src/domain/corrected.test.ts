import { describe, expect, it } from 'vitest';
import type { Break, FoundBreak } from './break.ts';
import type { BreakKind, Field } from './break-kinds.ts';
import { changeBreak, concludeAdjustment } from './break-life.ts';
import type { Finding } from './judging.ts';
import { observe, toFoundBreak, toWithdrawal, withdraw } from './observing.ts';

const at = new Date(0);
const later = new Date(1_000);

function found(kind: BreakKind, given: Partial<Finding> = {}, when = at): FoundBreak {
  const finding = { kind, amount: -100n, detail: `found by ${kind}`, ...given };
  return toFoundBreak('po-1', finding, { currency: 'KES' }, when);
}
const differs = (who: 'close' | 'statement', field: Field, amount: bigint | null = -100n) =>
  found(`${who}.differs`, { field, amount });
const after = (...all: readonly FoundBreak[]) =>
  all.reduce<Break | undefined>((current, one) => observe(one, current), undefined) as Break;

describe('what an order has corrected', () => {
  const terms = {
    commandId: 'bk-1',
    kind: 'suspense',
    target: 'upstream',
    currency: 'KES',
    minor: -100n,
  } as const;
  const requester = { by: 'ama', at, hasEnded: true };
  const second = { what: 'adjust', terms: { ...terms, commandId: 'bk-2' }, explanation: 'x' } as const;
  const order = (current: Break) => {
    const ordered = changeBreak(current, { what: 'adjust', terms, explanation: 'x' }, requester);
    if (!ordered.ok) throw new Error(ordered.refusal);
    return ordered.value;
  };
  const outcome = { commandId: 'bk-1', at, status: 'booked', terms } as const;
  const booked = concludeAdjustment(order(after(differs('statement', 'fee'))), outcome);

  it('is not found again, by whomever', () => {
    expect(booked.status).toBe('resolved');
    for (const again of [differs('close', 'fee'), differs('statement', 'fee'), found('callback.fee_differs')])
      expect(observe(again, booked)).toBe(booked);
  });

  it('is news by another amount, or one that is unknown', () => {
    for (const amount of [-101n, null])
      expect(observe(differs('close', 'fee', amount), booked)).toMatchObject({ status: 'open', amount });
  });

  it('is a new discrepancy of a wallet: its float has moved', () => {
    const drift = found('wallet.drift');
    const corrected = concludeAdjustment(order(after(drift)), outcome);
    expect(observe(drift, corrected)).toMatchObject({ status: 'open' });
  });

  it('is nothing once the order is withdrawn or refused', () => {
    const waiting = order(after(differs('statement', 'fee')));
    const withdrawn = changeBreak(waiting, { what: 'withdraw', text: 'bk-1' }, requester);
    const refused = concludeAdjustment(waiting, {
      ...outcome,
      status: 'refused',
      reason: 'Insufficient funds',
    });
    for (const one of [withdrawn.ok ? withdrawn.value : undefined, refused])
      expect(one?.observations).toMatchObject([{ kind: 'statement.differs' }]);
    expect(changeBreak(waiting, second, requester)).toMatchObject({ refusal: 'adjustment.pending' });
    expect(changeBreak(refused, second, requester)).toMatchObject({ ok: true });
  });

  it('is each amount that the break held when the order was placed', () => {
    const claimed = found('callback.amount_differs', { amount: 100n, about: ['forged'] });
    const rails = found('payout.amount_differs', { amount: -90n });
    const both = after(claimed, rails, differs('close', 'amount'));
    const corrected = concludeAdjustment(order(both), outcome);
    for (const amount of [-90n, -100n])
      expect(observe(differs('statement', 'amount', amount), corrected)).toBe(corrected);
    expect(observe(differs('statement', 'amount', 100n), corrected)).toMatchObject({ status: 'open' });
  });

  it('is of the status as of any field: neither a statement nor a lookup that flips opens it, nor is there a second order', () => {
    const contradiction = found('payment.contradiction', { about: ['failed'] });
    const corrected = concludeAdjustment(order(after(contradiction)), outcome);
    const gone = toWithdrawal('po-1', { kind: 'payment.contradiction', resolution: 'x' }, at);
    const flipped = withdraw({ ...gone, observer: 'poll' }, corrected);
    for (const again of [contradiction, differs('statement', 'status'), found('close.not_at_rail')])
      expect(observe(again, flipped)).toBe(flipped);
    expect(changeBreak(flipped, second, requester)).toMatchObject({ refusal: 'break.resolved' });
  });

  it('counts also where the order was withdrawn, and is booked all the same', () => {
    const waiting = order(after(differs('statement', 'fee')));
    const withdrawn = changeBreak(waiting, { what: 'withdraw', text: 'bk-1' }, requester);
    if (!withdrawn.ok) throw new Error(withdrawn.refusal);
    const late = concludeAdjustment(withdrawn.value, outcome);
    expect(late.status).toBe('resolved');
    expect(observe(differs('close', 'fee'), late)).toBe(late);
  });

  it('is not what was found since the order was placed: that stays, and is not explained', () => {
    const denied = found('callback.denied', { amount: 7n, about: ['failed'] }, later);
    const waiting = observe(denied, order(after(found('payment.contradiction', { about: ['reversed'] }))));
    const left = concludeAdjustment(waiting, outcome);
    expect(left).toMatchObject({ status: 'open', kind: 'callback.denied', amount: 7n });
    expect(left.observations).toHaveLength(1);
    expect(left).not.toHaveProperty('explanation');
    expect(left.judged).toEqual(['payment.contradiction poll reversed']);
    expect(left.adjustments).toMatchObject([{ status: 'booked' }]);
    expect(changeBreak(left, second, requester)).toMatchObject({ ok: true });
    // The same difference that another finds meanwhile is what the order has corrected.
    const same = found('close.differs', {}, later);
    const both = observe(same, order(after(found('payment.contradiction', { about: ['reversed'] }))));
    expect(concludeAdjustment(both, outcome)).toMatchObject({ status: 'resolved' });
  });
});
