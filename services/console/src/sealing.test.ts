import { expect, it } from 'vitest';
import { z } from 'zod';
import { createSealer } from './sealing.ts';

const keyOf = (byte: number) => new Uint8Array(32).fill(byte);
const sealer = (keys: readonly Uint8Array[], purpose = 'one') => createSealer(keys, purpose, z.string());

it('opens what it sealed, by any of its keys, and for the same purpose alone', async () => {
  const sealed = await sealer([keyOf(1)]).seal('a value');
  expect(await sealer([keyOf(2), keyOf(1)]).open(sealed)).toBe('a value');
  expect(await sealer([keyOf(2)]).open(sealed)).toBeUndefined();
  expect(await sealer([keyOf(1)], 'another').open(sealed)).toBeUndefined();
});
