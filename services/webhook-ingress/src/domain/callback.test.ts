import { expect, test } from 'vitest';
import { callbackKey, keptHeaders } from './callback.ts';

test('credentials are dropped, evidence is kept', () => {
  const names = [
    'authorization',
    'proxy-authorization',
    'cookie',
    'x-api-key',
    'X-Api-Key',
    'apikey',
    'x-auth-token',
    'x-client-secret',
    'x-business',
    'x-module',
    'x-app',
    'content-type',
    'user-agent',
    'webhook-signature',
    'x-forwarded-for',
    'webhook-id',
  ];
  expect(keptHeaders(names.map((name) => ({ name, value: 'v' }))).map(({ name }) => name)).toEqual([
    'content-type',
    'user-agent',
    'webhook-signature',
    'x-forwarded-for',
    'webhook-id',
  ]);
});

test('the same bytes are one callback per rail and kind', () => {
  const request = { rail: 'upstream', kind: 'payout', digest: 'd1' } as const;
  expect(callbackKey(request)).toBe('upstream/payout/d1');
  expect(callbackKey({ ...request, kind: 'collection' })).not.toBe(callbackKey(request));
  expect(callbackKey({ ...request, rail: 'other' })).not.toBe(callbackKey(request));
});
