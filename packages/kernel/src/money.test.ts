import { describe, expect, it } from 'vitest';
import { feeFor, formatAmount, parseAmount } from './index.ts';

describe('amounts are exact (invariant L8)', () => {
  it.each([
    ['20', 'KES', 2_000n],
    ['20.00', 'KES', 2_000n],
    ['2e1', 'KES', 2_000n],
    ['2E+1', 'KES', 2_000n],
    ['0.01', 'GHS', 1n],
    ['500', 'XOF', 500n],
    ['500.0', 'XOF', 500n],
    ['-1.5', 'GMD', -150n],
    ['90071992547409.91', 'NGN', 9_007_199_254_740_991n],
  ])('%s %s is %d minor units', (text, currency, minor) => {
    expect(parseAmount(text, currency)).toEqual({ ok: true, value: { minor, currency } });
  });

  it.each([
    ['0.001', 'KES', 'amount.too_fine'],
    ['0.5', 'XOF', 'amount.too_fine'],
    ['1e-400', 'KES', 'amount.too_fine'],
    ['1e309', 'KES', 'amount.too_large'],
    ['90071992547409.92', 'NGN', 'amount.too_large'],
    ['ten', 'KES', 'amount.malformed'],
    ['+1', 'KES', 'amount.malformed'],
    ['', 'KES', 'amount.malformed'],
  ])('%s %s is refused as %s', (text, currency, refusal) => {
    expect(parseAmount(text, currency)).toEqual({ ok: false, refusal });
  });

  it.each([
    [10_050n, 'KES', '100.5'],
    [10_000n, 'KES', '100'],
    [5n, 'KES', '0.05'],
    [-5n, 'KES', '-0.05'],
    [500n, 'XOF', '500'],
    [0n, 'XOF', '0'],
  ])('%d minor units of %s read %s', (minor, currency, text) => {
    expect(formatAmount(minor, currency)).toBe(text);
  });
});

describe('fees round half up within their bounds (contract 10.7)', () => {
  const schedule = { fixedMinor: 0n, basisPoints: 50n, minimumMinor: 0n };

  it.each([
    [100n, 1n],
    [99n, 0n],
    [10_000n, 50n],
    [10_100n, 51n],
  ])('0.5 %% of %d is %d', (amount, fee) => {
    expect(feeFor(schedule, amount)).toBe(fee);
  });

  it('keeps the minimum and the maximum', () => {
    expect(feeFor({ ...schedule, minimumMinor: 10n }, 100n)).toBe(10n);
    expect(feeFor({ ...schedule, fixedMinor: 7n, maximumMinor: 20n }, 10_000n)).toBe(20n);
  });
});
