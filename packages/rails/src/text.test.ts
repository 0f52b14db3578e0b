import { describe, expect, it } from 'vitest';
import { reasonLine } from './text.ts';

describe('a foreign reason', () => {
  it.each([
    ['Insufficient wallet balance', 'Insufficient wallet balance'],
    ['refused with code 1234', 'refused with code 1234'],
    ['account 12345 is closed', 'account *** is closed'],
    ['no wallet for +254 712-345 678, sorry', 'no wallet for +***, sorry'],
    ['no wallet for (0712) 345\u00a0678', 'no wallet for (***'],
    ['call 0\u200b7\u200b1\u200b2\u200b3', 'call ***'],
    ['two\n1 2 3\n4 5 lines', 'two *** lines'],
    ['ask <ama.k+x@example.com>; now', 'ask *** now'],
    [`${'x'.repeat(137)} 0712345678`, `${'x'.repeat(137)} **`],
    [`${'x'.repeat(134)} ama@example.com`, `${'x'.repeat(134)} ***`],
    ['no wallet for 0712*345*678', 'no wallet for ***'],
    ['no wallet for 07_12,34;56', 'no wallet for ***'],
    ['no wallet for 07 | 12 | 34', 'no wallet for ***'],
    ['no wallet for ０７１２３４', 'no wallet for ***'],
    ['steps 1 of 2, 3 of 4, 5 of 6', 'steps 1 of 2, 3 of 4, 5 of 6'],
    ['of ama\uff20example.com', 'of ***'],
    ['of ama\ufe6bexample.com', 'of ***'],
    [' \u0000 ', undefined],
    [null, undefined],
  ])('%j becomes %j', (text, line) => {
    expect(reasonLine(text)).toBe(line);
  });
});
