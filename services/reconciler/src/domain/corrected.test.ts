import { describe, expect, it } from 'vitest';
import { type Break, type FoundBreak, resolved } from './break.ts';
import type { BreakKind, Field } from './break-kinds.ts';
import { correct } from './break-life.ts';
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
  const order = { commandId: 'cm-1', requestedAt: at, at: later };
  const booked = correct(after(differs('statement', 'fee')), order);

  it('resolves its break, once', () => {
    expect(booked).toMatchObject({
      status: 'resolved',
      resolution: 'the ledger booked cm-1',
      resolvedAt: later,
      corrections: ['cm-1'],
      judged: ['amount -100'],
    });
    expect(booked.history.map(({ what }) => what)).toEqual(['opened', 'adjustment booked', 'resolved']);
    expect(correct(booked, order)).toBe(booked);
  });

  it('is not found again, by whomever', () => {
    for (const again of [differs('close', 'fee'), differs('statement', 'fee'), found('callback.fee_differs')])
      expect(observe(again, booked)).toBe(booked);
  });

  it('is news by another amount, or one that is unknown', () => {
    for (const amount of [-101n, null])
      expect(observe(differs('close', 'fee', amount), booked)).toMatchObject({ status: 'open', amount });
  });

  it('is a new discrepancy of a wallet: its float has moved', () => {
    const drift = found('wallet.drift');
    expect(observe(drift, correct(after(drift), order))).toMatchObject({ status: 'open' });
  });

  it('is each amount that the break held when the order was proposed', () => {
    const claimed = found('callback.amount_differs', { amount: 100n, about: ['forged'] });
    const rails = found('payout.amount_differs', { amount: -90n });
    const corrected = correct(after(claimed, rails, differs('close', 'amount')), order);
    for (const amount of [-90n, -100n])
      expect(observe(differs('statement', 'amount', amount), corrected)).toBe(corrected);
    expect(observe(differs('statement', 'amount', 100n), corrected)).toMatchObject({ status: 'open' });
  });

  it('is of the status as of any field: neither a statement nor a lookup that flips opens it', () => {
    const contradiction = found('payment.contradiction', { about: ['failed'] });
    const corrected = correct(after(contradiction), order);
    const gone = toWithdrawal('po-1', { kind: 'payment.contradiction', resolution: 'x' }, at);
    const flipped = withdraw({ ...gone, observer: 'poll' }, corrected);
    for (const again of [contradiction, differs('statement', 'status'), found('close.not_at_rail')])
      expect(observe(again, flipped)).toBe(flipped);
  });

  it('is noted in a break that was resolved before, by people or by itself, and explained by the order', () => {
    const closed = resolved(after(differs('statement', 'fee')), { by: null, at }, 'back in range');
    const late = correct(closed, order);
    expect(late).toMatchObject({ status: 'resolved', resolution: 'back in range', resolvedAt: at });
    expect(late.history.at(-1)).toMatchObject({ what: 'adjustment booked', text: 'cm-1' });
    expect(observe(differs('close', 'fee'), late)).toBe(late);
  });

  it('is counted for each of two orders', () => {
    const twice = correct(booked, { ...order, commandId: 'cm-2' });
    expect(twice.status).toBe('resolved');
    expect(twice.corrections).toEqual(['cm-1', 'cm-2']);
  });

  it('is not what was found since the order was proposed: that stays, and is not explained', () => {
    const denied = found('callback.denied', { amount: 7n, about: ['failed'] }, later);
    const reversed = found('payment.contradiction', { about: ['reversed'] });
    const left = correct({ ...after(reversed, denied), explanation: 'x' }, order);
    expect(left).toMatchObject({ status: 'open', kind: 'callback.denied', amount: 7n });
    expect(left.observations).toHaveLength(1);
    expect(left).not.toHaveProperty('explanation');
    expect(left.judged).toEqual(['amount -100', 'payment.contradiction poll reversed']);
    // The same difference that another finds meanwhile is what the order has corrected.
    const both = after(reversed, found('close.differs', {}, later));
    expect(correct(both, order)).toMatchObject({ status: 'resolved' });
    // Its observer has said the same amount since before the order, if in other words.
    const again = after(
      reversed,
      found('payment.contradiction', { detail: 'anew', about: ['failed'] }, later),
    );
    expect(correct(again, order)).toMatchObject({
      status: 'resolved',
      judged: ['amount -100', expect.any(String)],
    });
    const other = after(reversed, found('payment.contradiction', { amount: -7n, about: ['failed'] }, later));
    expect(correct(other, order)).toMatchObject({ status: 'open', judged: [] });
    // Nothing that it holds now was known then.
    expect(correct(after(denied), order)).toMatchObject({ status: 'open', judged: [] });
  });
});
