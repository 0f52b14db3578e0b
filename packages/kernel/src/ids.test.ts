import { expect, test } from 'vitest';
import { createIds, isId } from './ids.ts';
import { systemRandom } from './random.ts';

test('an identifier has the form of one, under its own prefix', () => {
  const ids = createIds({ nowMs: () => 1_000, sleep: async () => undefined }, systemRandom);
  const id = ids.next('po');
  expect([isId('po', id), isId('co', id)]).toEqual([true, false]);
});

test.each([
  '',
  'po-',
  'po-1',
  `po-${'g'.repeat(32)}`,
  `po-${'A'.repeat(32)}`,
  `po-${'0'.repeat(33)}`,
  `po${'0'.repeat(33)}`,
])('%j is no identifier', (text) => {
  expect(isId('po', text)).toBe(false);
});

test('an identifier is a UUIDv7 of its time and of chance alone', () => {
  const at = (nowMs: number, chance: number) => {
    const random = { ...systemRandom, bytes: (length: number) => new Uint8Array(length).fill(chance) };
    return createIds({ nowMs: () => nowMs, sleep: async () => undefined }, random).next('po');
  };
  expect(at(0x0123_4567_89ab, 0x00)).toBe('po-0123456789ab70008000000000000000');
  expect(at(0x0123_4567_89ab, 0xff)).toBe('po-0123456789ab7fffbfffffffffffffff');
});
