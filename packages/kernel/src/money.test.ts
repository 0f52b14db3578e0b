import { describe, expect, it } from 'vitest';
import {
  amountProblem,
  displayAmount,
  feeFor,
  formatAmount,
  parseAmount,
  parsePositiveAmount,
} from './index.ts';

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
    [`0.${'0'.repeat(50)}`, 'XOF', 0n],
    ['0e9999', 'KES', 0n],
    [`1${'0'.repeat(60)}e-58`, 'KES', 10_000n],
    [`1.${'0'.repeat(60)}`, 'KES', 100n],
  ])('%s %s is %d minor units', (text, currency, minor) => {
    expect(parseAmount(text, currency)).toEqual({ ok: true, value: { minor, currency } });
  });

  it.each([
    ['0.001', 'KES', 'amount.too_fine'],
    ['0.5', 'XOF', 'amount.too_fine'],
    ['1e-400', 'KES', 'amount.too_fine'],
    ['1e-4000', 'KES', 'amount.too_fine'],
    [`1.${'0'.repeat(60)}1`, 'KES', 'amount.too_fine'],
    ['1e309', 'KES', 'amount.too_large'],
    ['1e4000', 'KES', 'amount.too_large'],
    ['9'.repeat(41), 'KES', 'amount.too_large'],
    ['-1e20', 'KES', 'amount.too_large'],
    ['90071992547409.92', 'NGN', 'amount.too_large'],
    ['ten', 'KES', 'amount.malformed'],
    ['+1', 'KES', 'amount.malformed'],
    ['', 'KES', 'amount.malformed'],
    [' 1', 'KES', 'amount.malformed'],
    ['１', 'KES', 'amount.malformed'],
  ])('%s %s is refused as %s', (text, currency, refusal) => {
    expect(parseAmount(text, currency)).toEqual({ ok: false, refusal });
  });

  it.each([
    ['0', 'KES', 'must be greater than zero'],
    ['-5', 'KES', 'must be greater than zero'],
    ['-1e20', 'KES', 'must be greater than zero'],
    ['-x', 'KES', 'must be a decimal number, such as 2500'],
    ['1.001', 'KES', 'must have at most 2 decimals in KES'],
    ['0.5', 'XOF', 'must have no decimals in XOF'],
    ['90071992547409.92', 'NGN', 'must be at most 90,071,992,547,409.91 NGN'],
    ['9'.repeat(41), 'XOF', 'must be at most 9,007,199,254,740,991 XOF'],
    ['1e4000', 'KES', 'must be at most 90,071,992,547,409.91 KES'],
    ['ten', 'KES', 'must be a decimal number, such as 2500'],
  ])('%s %s can not be moved, for the rule that it breaks', (text, currency, problem) => {
    const amount = parsePositiveAmount(text, currency);
    expect(amount.ok ? undefined : amountProblem(amount.refusal, currency)).toBe(problem);
  });

  it('a number of a million digits is judged at once', () => {
    expect(parseAmount(`1${'0'.repeat(1_000_000)}1`, 'KES')).toEqual({
      ok: false,
      refusal: 'amount.too_large',
    });
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

  it.each([
    [123_456_700n, 'NGN', '1,234,567.00 NGN'],
    [500n, 'XOF', '500 XOF'],
    [-1_250n, 'GHS', '-12.50 GHS'],
    ['9007199254740993.1', 'KES', '9,007,199,254,740,993.10 KES'],
    ['12.345', 'KES', '12.345 KES'],
    ['20.50', 'XOF', '20.50 XOF'],
    ['1234', 'BHD', '1,234.000 BHD'],
    ['about 5', 'KES', 'about 5 KES'],
    ['1e3', 'KES', '1e3 KES'],
    ['1000', 'cedi', '1000 cedi'],
    ['1000', '', '1000'],
  ])('people read %s %s as %s', (amount, currency, text) => {
    expect(displayAmount(amount, currency)).toBe(text);
  });

  it('shows the direction of a difference', () => {
    const shown = ['1234.5', '-5', '0'].map((amount) => displayAmount(amount, 'GHS', 'exceptZero'));
    expect(shown).toEqual(['+1,234.50 GHS', '-5.00 GHS', '0.00 GHS']);
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
