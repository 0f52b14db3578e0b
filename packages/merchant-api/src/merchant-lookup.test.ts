import { DirectoryError } from '@pesewa/directory';
import { createLogger } from '@pesewa/runtime';
import { expect, it } from 'vitest';
import { createMerchantLookup } from './merchant-lookup.ts';

const lookUpOver = (identify: () => Promise<undefined>) =>
  createMerchantLookup({ identify, logger: createLogger({ name: 'test', level: 'silent' }) })('ZGVtbw==');

it('distinguishes an unknown key from a directory that is out of reach', async () => {
  expect(await lookUpOver(async () => undefined)).toEqual({ merchant: undefined });
  expect(await lookUpOver(() => Promise.reject(new Error('no primary')))).toBe('unavailable');
});

it('breaks on a merchant that is stored wrongly', async () => {
  await expect(lookUpOver(() => Promise.reject(new DirectoryError('malformed')))).rejects.toThrow(
    'malformed',
  );
});
