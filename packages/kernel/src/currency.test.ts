import { expect, test } from 'vitest';
import { currencyExponent, isCurrency } from './currency.ts';

test.each([
  ['XOF', 0],
  ['UGX', 0],
  ['KES', 2],
  ['GMD', 2],
  ['MRU', 2],
  ['TND', 3],
  ['UYW', 4],
])('%s has %d decimal digits', (code, digits) => {
  expect(currencyExponent(code)).toBe(digits);
});

test.each(['', 'kes', 'XXX', 'XAU', 'DEM', 'KES '])('%j is no currency in use', (code) => {
  expect(isCurrency(code)).toBe(false);
  expect(() => currencyExponent(code)).toThrow(RangeError);
});
