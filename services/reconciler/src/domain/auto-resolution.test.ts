import type { PaymentKind } from '@pesewa/contracts';
import { describe, expect, it } from 'vitest';
import { ended, opened } from '../fixtures/verdicts.ts';
import { afterAutoResolutions, autoResolutionsOf } from './auto-resolution.ts';
import type { Claim } from './claim.ts';
import { apply, type PaymentObservation } from './observations.ts';
import { awaited, type Tracked } from './tracked.ts';

const see = (tracked: Tracked, observation: PaymentObservation) =>
  apply(tracked, observation, {
    nowMs: 0,
    firstPollAfterMs: 0,
    booksGraceMs: 60_000,
    lateAfterMs: 30_000,
  });
const claimOf = (over: Partial<Claim>): Claim => ({
  rail: 'upstream',
  kind: 'payout',
  proven: false,
  status: 'COMPLETED',
  amount: null,
  currency: null,
  fee: null,
  reason: null,
  atMs: 0,
  ...over,
});
const every = [
  'callback.denied',
  'callback.amount_differs',
  'callback.fee_differs',
  'collection.amount_differs',
  'payout.amount_differs',
  'collection.not_found',
  'payout.not_found',
  'payout.refused_again',
  'payment.contradiction',
  'payment.stuck',
];

describe('a break whose cause has gone', () => {
  it.each<[PaymentKind, 'completed' | 'failed', readonly string[]]>([
    ['payout', 'completed', []],
    ['payout', 'failed', []],
    ['collection', 'failed', []],
    ['collection', 'completed', ['the collection completed with 100.50 KES']],
  ])('is closed when the %s ends as %s; contradictions stay for people', (kind, status, more) => {
    const before = { ...see(awaited('xx-1', 0), opened(kind)), breaks: every, decided: [10_050n] };
    const observation = ended(kind, status, 10_050n);
    const autoResolutions = autoResolutionsOf(before, see(before, observation), observation);
    const kinds = ['collection.not_found', 'payout.not_found', 'payout.refused_again', 'payment.stuck'];
    const differing = more.map(() => 'collection.amount_differs');
    expect(autoResolutions.map((autoResolution) => autoResolution.kind)).toEqual([...differing, ...kinds]);
    const cause = `the payment ended: Ended as ${status}`;
    expect(autoResolutions.map(({ resolution }) => resolution)).toEqual([...more, ...kinds.map(() => cause)]);
  });

  it('is closed when an unknown reference becomes known, opened or ended', () => {
    const before = { ...awaited('xx-1', 0), breaks: ['callback.unknown_reference'] };
    for (const observation of [opened('payout'), ended('payout', 'failed')]) {
      expect(autoResolutionsOf(before, see(before, observation), observation)).toMatchObject([
        { kind: 'callback.unknown_reference' },
      ]);
    }
  });

  it('is closed once, and never without having been opened', () => {
    const open = { ...see(awaited('xx-1', 0), opened('payout')), breaks: ['payment.stuck'] };
    const completed = see(open, ended('payout', 'completed'));
    const reversal = ended('payout', 'reversed');
    expect(autoResolutionsOf(completed, see(completed, reversal), reversal)).toEqual([]);
    const clean = { ...open, breaks: [] };
    const end = ended('payout', 'completed');
    expect(autoResolutionsOf(clean, see(clean, end), end)).toEqual([]);
  });

  it('is closed by the end that the owner takes at last, a reversal included', () => {
    const open = { ...see(awaited('xx-1', 0), opened('payout')), breaks: ['payment.end_untaken'] };
    const completed = ended('payout', 'completed');
    const closed = [{ kind: 'payment.end_untaken' }];
    expect(autoResolutionsOf(open, see(open, completed), completed)).toMatchObject(closed);
    const before = see(open, completed);
    const reversal = ended('payout', 'reversed');
    expect(autoResolutionsOf(before, see(before, reversal), reversal)).toMatchObject(closed);
    expect(autoResolutionsOf(before, see(before, completed), completed)).toEqual([]);
  });

  it('is closed by the first attempt that is reported', () => {
    const open = { ...see(awaited('xx-1', 0), opened('payout')), breaks: ['payout.unattempted'] };
    const asked = { kind: 'asked', name: 'PayoutSubmitted', version: 4n, atMs: 2_000, answer: null } as const;
    expect(autoResolutionsOf(open, see(open, asked), asked)).toMatchObject([{ kind: 'payout.unattempted' }]);
  });

  it.each<[string, readonly string[], 'completed' | 'failed' | 'reversed', boolean]>([
    ['all came true', ['COMPLETED', 'PENDING'], 'completed', true],
    ['a reversal was completed before', ['COMPLETED', 'REVERSED'], 'reversed', true],
    ['one did not', ['COMPLETED', 'FAILED'], 'completed', false],
    ['none did', ['FAILED'], 'completed', false],
  ])('is closed by the end that callbacks claimed too early: %s', (_, claimed, status, isClosed) => {
    const open = see(awaited('xx-1', 0), opened('payout'));
    const callbacks = claimed.map((one) => claimOf({ status: one, rail: open.terms?.rail ?? '' }));
    const before = { ...open, callbacks, breaks: ['callback.denied'] };
    const observation = ended('payout', status);
    expect(autoResolutionsOf(before, see(before, observation), observation).map(({ kind }) => kind)).toEqual(
      isClosed ? ['callback.denied'] : [],
    );
  });

  it('may be found again', () => {
    const tracked = { ...awaited('xx-1', 0), breaks: ['payment.stuck', 'callback.denied'] };
    expect(afterAutoResolutions(tracked, ['payment.stuck']).breaks).toEqual(['callback.denied']);
  });
});
