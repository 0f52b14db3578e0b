import { formatAmount } from '@pesewa/kernel';
import { expect, it } from 'vitest';
import { readPositiveAmount, readSignedAmount } from './arguments.ts';

it.each([
  ['2500', 250_000n],
  ['2500.00', 250_000n],
  ['2,500.00', 250_000n],
  ['1,234,567.8', 123_456_780n],
  ['2,500', 250_000n],
  ['2.5e3', 250_000n],
])(
  'an amount may have its thousands grouped, or a power of ten, and is read as plain decimal text: %s',
  (text, minor) => {
    const plain = formatAmount(minor, 'GHS');
    expect(readPositiveAmount('amount', text, 'GHS')).toEqual({ minor, text: plain });
    expect(readSignedAmount('amount', `-${text}`, 'GHS')).toEqual({ minor: -minor, text: plain });
  },
);

it.each(['2,50', '2.500,00', '2 500.00', '25,00.00', '2,5000', "2'500", '1_000', ',500', '2,500,', '2,500.'])(
  'an ambiguous amount is refused, with the remedy: %s',
  (text) => {
    const remedy =
      / (?:is ambiguous: write the decimals after a point, .* such as 2500\.00 or 2,500\.00|must be a decimal number.*)$/;
    expect(() => readPositiveAmount('amount', text, 'GHS')).toThrow(remedy);
    expect(() => readSignedAmount('amount', `+${text}`, 'GHS')).toThrow(/^amount: /);
  },
);

it('what is no amount at all is said to be none', () => {
  expect(() => readPositiveAmount('amount', 'much', 'GHS')).toThrow('amount: much must be a decimal number');
});
