import { describe, expect, it } from 'vitest';
import type { Break, FoundBreak } from './break.ts';
import { type BreakRequest, changeBreak } from './break-life.ts';
import { observe } from './observing.ts';

const day = (number: number) => new Date(Date.UTC(2026, 10, number));
const found: FoundBreak = {
  field: 'balance',
  observer: 'audit',
  kind: 'wallet.drift',
  reference: 'upstream:KES',
  currency: 'KES',
  amount: -100n,
  detail: 'one is missing',
  at: day(1),
};
const resolve: BreakRequest = { what: 'resolve', resolution: 'they paid it back' };

describe('a break of much money', () => {
  const aloneUpTo = new Map([['KES', 99n]]);
  const change = (current: Break, request: BreakRequest, by: string) => {
    const changed = changeBreak(current, request, { by, at: day(2), hasEnded: null }, aloneUpTo);
    if (!changed.ok) throw new Error(changed.refusal);
    return changed.value;
  };
  const proposed = change(observe(found, undefined), resolve, 'ama');

  it('is resolved by two operators, neither of them twice', () => {
    expect(proposed).toMatchObject({ status: 'open', resolutionProposedBy: 'ama', version: 2 });
    expect(proposed.history.at(-1)).toMatchObject({ by: 'ama', what: 'resolution proposed' });
    expect(change(proposed, resolve, 'ama')).toBe(proposed);
    const again = change(proposed, { what: 'resolve', resolution: 'otherwise' }, 'ama');
    expect(again).toMatchObject({ status: 'open', resolutionProposedBy: 'ama', version: 3 });
    const resolved = change(proposed, resolve, 'kofi');
    expect(resolved).toMatchObject({ status: 'resolved', resolvedBy: 'kofi' });
    expect(resolved).not.toHaveProperty('resolutionProposedBy');
  });

  it('asks both again once an observer says something else', () => {
    const other = observe({ ...found, amount: -500n, at: day(3) }, proposed);
    expect(change(other, resolve, 'kofi')).toMatchObject({
      status: 'open',
      resolutionProposedBy: 'kofi',
    });
  });

  it.each<[string, Partial<FoundBreak>, 'open' | 'resolved']>([
    ['as much as one operator may resolve', { amount: 99n }, 'resolved'],
    ['more', { amount: 100n }, 'open'],
    ['another currency', { currency: 'GHS' }, 'resolved'],
    [
      'an amount that nobody knows, of a kind over money',
      { kind: 'close.not_at_rail', amount: null },
      'open',
    ],
    ['no amount', { amount: null }, 'resolved'],
  ])('is one of more than its currency’s limit: %s', (_, over, status) => {
    const current = observe({ ...found, ...over }, undefined);
    expect(change(current, resolve, 'ama').status).toBe(status);
  });
});
