import { describe, expect, it } from 'vitest';
import { amountDayLimit, amountRefusal, numberLimit, UNCOUNTED_FROM } from './limits.ts';

const NOW_MS = Date.UTC(2025, 0, 15, 12, 59, 30, 1);

function limit(max: number, changes: { readonly scope?: string; readonly nowMs?: number } = {}) {
  const made = numberLimit({ scope: 'payin', numberDigest: 'd', max, nowMs: NOW_MS, ...changes });
  if (!made) throw new Error('there is no limit');
  return made;
}

describe('a limit by number', () => {
  it('ends with the hour', () => {
    expect(limit(3)).toMatchObject({
      retryAfterSeconds: 30,
      forgetAtMs: Date.UTC(2025, 0, 15, 14),
    });
    expect(limit(3, { nowMs: NOW_MS + 29_999 }).id).not.toBe(limit(3).id);
    expect(limit(3, { nowMs: NOW_MS + 29_998 }).id).toBe(limit(3).id);
  });

  it('of a million is none', () => {
    expect(numberLimit({ scope: 'payin', numberDigest: 'd', max: UNCOUNTED_FROM, nowMs: 0 })).toBeUndefined();
  });
});

describe('limits on amounts', () => {
  const GHS = (minor: bigint) => ({ minor, currency: 'GHS' });
  const limits = { perCollectionMinMinor: { GHS: 100n }, perCollectionMaxMinor: { GHS: 500n } };
  it('say what is too small and what is too large, and take what is just right', () => {
    expect(amountRefusal(limits, GHS(99n))).toEqual({
      reason: 'INVALID AMOUNT',
      description: 'transactionAmount is below your minimum per collection of 1.00 GHS',
    });
    expect(amountRefusal(limits, GHS(501n))).toEqual({
      reason: 'MERCHANT LIMIT EXCEEDED',
      description: 'transactionAmount is over your limit per collection of 5.00 GHS',
    });
    expect([100n, 500n].map((minor) => amountRefusal(limits, GHS(minor)))).toEqual([undefined, undefined]);
    expect(amountRefusal(limits, { minor: 1n, currency: 'XOF' })).toBeUndefined();
  });
  it('of a day count the amount, by merchant, currency and UTC day', () => {
    const merchant = { id: 'demo', limits: { collectionsPerDayMaxMinor: { GHS: 1_000n } } };
    const day = amountDayLimit(merchant, GHS(7n), new Date(NOW_MS));
    expect(day).toMatchObject({
      id: 'amount:demo:GHS:2025-01-15',
      max: 1_000n,
      takes: 7n,
      refusal: {
        reason: 'MERCHANT LIMIT EXCEEDED',
        description: 'this would exceed your limit per day (UTC) of 10.00 GHS',
      },
    });
    expect(amountDayLimit(merchant, { minor: 1n, currency: 'XOF' }, new Date(NOW_MS))).toBeUndefined();
  });
});
