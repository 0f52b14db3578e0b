import { proposalExpiryMs } from '@pesewa/kernel';
import { describe, expect, it } from 'vitest';
import {
  correctedBy,
  type Decision,
  decideOrder,
  isSameOrder,
  type Order,
  type OrderClaim,
  whyUnapproved,
} from './orders.ts';

const day = (count: number) => new Date(count * 24 * 3_600_000);

const proposed: Order = {
  commandId: 'cm-1',
  kind: 'adjust',
  target: 'demo',
  currency: 'KES',
  amount: 500n,
  direction: 'debit',
  reason: 'credited twice',
  requestedBy: 'ama',
  at: day(0),
  status: 'proposed',
};
const approve = (by: string, at = day(1)): Decision => ({ verdict: { kind: 'approve' }, by, at });
const reject = (by: string, reason = 'wrong amount'): Decision => ({
  verdict: { kind: 'reject', reason },
  by,
  at: day(1),
});
const after = (order: Order, decision: Decision): Order => {
  const decided = decideOrder(order, decision);
  if (!decided.ok) throw new Error(decided.refusal);
  return decided.value;
};
const approved = after(proposed, approve('kofi'));
const rejected = after(proposed, reject('kofi'));

describe('an order', () => {
  it('is approved by another operator, and by them alone', () => {
    expect(approved).toEqual({ ...proposed, status: 'approved', decidedBy: 'kofi', decidedAt: day(1) });
    expect(decideOrder(proposed, approve('ama'))).toEqual({ ok: false, refusal: 'order.same_operator' });
    expect(decideOrder(approved, approve('ama'))).toEqual({ ok: false, refusal: 'order.same_operator' });
  });

  it('is rejected by anyone, its maker included', () => {
    for (const by of ['ama', 'kofi']) {
      expect(after(proposed, reject(by))).toMatchObject({
        status: 'rejected',
        decidedBy: by,
        decisionReason: 'wrong amount',
      });
    }
  });

  it('stays what it is when it is decided the same again', () => {
    expect(after(approved, approve('esi', day(2)))).toBe(approved);
    expect(after(rejected, reject('esi', 'another reason'))).toBe(rejected);
  });

  it('is never decided otherwise', () => {
    expect(decideOrder(approved, reject('ama'))).toEqual({ ok: false, refusal: 'order.decided' });
    expect(decideOrder(rejected, approve('esi'))).toEqual({ ok: false, refusal: 'order.decided' });
  });

  it('can be approved for seven days, and rejected ever after', () => {
    expect(proposalExpiryMs(proposed)).toBe(day(7).getTime());
    expect(decideOrder(proposed, approve('kofi', new Date(day(7).getTime() - 1))).ok).toBe(true);
    expect(decideOrder(proposed, approve('kofi', day(7)))).toEqual({ ok: false, refusal: 'order.expired' });
    expect(after(proposed, { ...reject('ama'), at: day(30) }).status).toBe('rejected');
    expect(after(approved, approve('kofi', day(30)))).toBe(approved);
  });

  it.each([
    ['kind', { kind: 'suspense', direction: 'surplus' }],
    ['target', { target: 'rival' }],
    ['currency', { currency: 'GHS' }],
    ['amount', { amount: 501n }],
    ['direction', { direction: 'credit' }],
    ['reason', { reason: 'credited thrice' }],
    ['break', { breakId: 'po-1/fee' }],
    ['operator', { requestedBy: 'kofi' }],
  ])('is another with another %s', (_name, change) => {
    expect(isSameOrder(proposed, { ...proposed })).toBe(true);
    expect(isSameOrder({ ...proposed, ...change } as Order, proposed)).toBe(false);
  });

  it('is the same whatever has been decided about it since', () => {
    expect(isSameOrder(proposed, approved)).toBe(true);
  });
});

describe('an event of an order', () => {
  const { kind, target, currency, amount, requestedBy } = approved;
  const direction = 'debit';
  const money = { kind, target, currency, amount, direction } as const;
  const claim: OrderClaim = { ...money, ...correctedBy(approved), requestedBy, approvedBy: 'kofi' };

  it('may be applied where two operators agreed upon all that it says', () => {
    expect(whyUnapproved(claim, approved)).toBeUndefined();
  });

  it.each([
    ['no such order was proposed', undefined],
    ['the order is proposed, not approved', proposed],
    ['the order is rejected, not approved', rejected],
    ['the order was approved by its maker', { ...approved, decidedBy: 'ama' } as Order],
  ])('may not without an approval: %s', (reason, stored) => {
    expect(whyUnapproved(claim, stored)).toBe(reason);
  });

  it.each([
    ['kind', { kind: 'fund' }],
    ['target', { target: 'rival' }],
    ['currency', { currency: 'GHS' }],
    ['amount', { amount: 501n }],
    ['direction', { direction: 'credit' }],
    ['breakId', { breakId: 'po-1/fee' }],
    ['requestedAt', { requestedAt: 1n }],
    ['requestedBy', { requestedBy: 'esi' }],
    ['approvedBy', { approvedBy: 'esi' }],
    ['approvedBy', { approvedBy: null }],
    ['target, amount', { amount: 501n, target: 'rival' }],
  ])('may not where it says another %s', (fields, change) => {
    const reason = `the approved order has another ${fields}`;
    expect(whyUnapproved({ ...claim, ...change } as OrderClaim, approved)).toBe(reason);
  });
});
