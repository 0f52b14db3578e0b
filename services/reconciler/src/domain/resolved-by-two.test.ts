import { describe, expect, it } from 'vitest';
import type { Break, FoundBreak } from './break.ts';
import { type BreakRequest, changeBreak, type LifeRefusal } from './break-life.ts';
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
const resolve: BreakRequest = { what: 'resolve', text: 'they paid it back' };
const approve = (approves: string): BreakRequest => ({ what: 'approve', approves });

describe('a break of much money', () => {
  const aloneUpTo = new Map([['KES', 99n]]);
  const ask = (current: Break, request: BreakRequest, by: string) =>
    changeBreak(current, request, { by, at: day(2), hasEnded: null }, aloneUpTo);
  const change = (current: Break, request: BreakRequest, by: string) => {
    const changed = ask(current, request, by);
    if (!changed.ok) throw new Error(changed.refusal);
    return changed.value;
  };
  const proposed = change(observe(found, undefined), resolve, 'ama');

  it('is resolved by two operators, neither of them twice', () => {
    expect(proposed).toMatchObject({ status: 'open', proposedResolution: { by: 'ama' }, version: 2 });
    expect(proposed.history.at(-1)).toMatchObject({ by: 'ama', what: 'resolution proposed' });
    expect(change(proposed, resolve, 'ama')).toBe(proposed);
    const again = change(proposed, { what: 'resolve', text: 'otherwise' }, 'ama');
    expect(again).toMatchObject({ status: 'open', proposedResolution: { by: 'ama' }, version: 3 });
    const resolved = change(proposed, approve('ama'), 'kofi');
    expect(resolved).toMatchObject({
      status: 'resolved',
      resolvedBy: 'kofi',
      resolution: 'they paid it back',
    });
    expect(resolved).not.toHaveProperty('proposedResolution');
    expect(change(resolved, approve('ama'), 'kofi')).toBe(resolved);
  });

  it.each<[string, BreakRequest, string, LifeRefusal]>([
    ['a proposal beside that of another', resolve, 'kofi', 'resolution.proposed_already'],
    ['one’s own', approve('ama'), 'ama', 'resolution.same_operator'],
    ['one of somebody who has proposed none', approve('esi'), 'kofi', 'resolution.not_proposed'],
  ])('is not resolved by %s', (_, request, by, refusal) => {
    expect(ask(proposed, request, by)).toEqual({ ok: false, refusal });
  });

  it.each(['ama', 'kofi'])('is open again once %s rejects that, and can be resolved anew', (by) => {
    const reject: BreakRequest = { what: 'reject', text: 'ask the rail first' };
    const rejected = change(proposed, reject, by);
    expect(rejected).toMatchObject({ status: 'open', version: 3 });
    expect(rejected.proposedResolution).toBeUndefined();
    expect(rejected.history.at(-1)).toEqual({
      at: day(2),
      by,
      what: 'resolution rejected',
      text: 'ask the rail first',
    });
    expect(change(rejected, reject, by)).toBe(rejected);
    expect(ask(rejected, { ...reject, text: 'again' }, by)).toMatchObject({
      refusal: 'resolution.not_proposed',
    });
    expect(ask(rejected, approve('ama'), 'kofi')).toMatchObject({ refusal: 'resolution.not_proposed' });
    expect(change(rejected, resolve, 'kofi')).toMatchObject({
      proposedResolution: { by: 'kofi' },
      version: 4,
    });
  });

  it('says who would resolve it, how and since when, as long as it waits', () => {
    const noted = change(proposed, { what: 'note', text: 'asked them' }, 'kofi');
    expect(noted.proposedResolution).toEqual({ by: 'ama', at: day(2), resolution: 'they paid it back' });
    expect(change(noted, approve('ama'), 'kofi').proposedResolution).toBeUndefined();
  });

  it('asks both again once an observer says something else', () => {
    const other = observe({ ...found, amount: -500n, at: day(3) }, proposed);
    expect(ask(other, approve('ama'), 'kofi')).toMatchObject({ refusal: 'resolution.not_proposed' });
    expect(change(other, resolve, 'kofi')).toMatchObject({
      status: 'open',
      proposedResolution: { by: 'kofi' },
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
