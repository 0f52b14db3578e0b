import { expect, test } from 'vitest';
import { callbackKey, keptHeaders, namesOurs } from './callback.ts';

test('credentials are dropped, evidence is kept', () => {
  const credentials = [
    'authorization',
    'proxy-authorization',
    'x-authorisation',
    'proxy-authenticate',
    'cookie',
    'set-cookie',
    'x-api-key',
    'X-Api-Key',
    'apikey',
    'ocp-apim-subscription-key',
    'x-auth-token',
    'x-amz-security-token',
    'x-client-secret',
    'x-password',
    'x-session-id',
    'x-jwt-assertion',
    'x-otp',
    'x-business',
    'x-module',
    'x-app',
  ];
  const evidence = [
    'content-type',
    'user-agent',
    'webhook-signature',
    'webhook-timestamp',
    'x-forwarded-for',
    'webhook-id',
    'x-idempotency-key',
  ];
  const names = [...credentials, ...evidence];
  expect(keptHeaders(names.map((name) => ({ name, value: 'v' }))).map(({ name }) => name)).toEqual(evidence);
});

test('so many headers are kept, each cut to a length', () => {
  const many = Array.from({ length: 100 }, (_, index) => ({
    name: `x-${index}-${'n'.repeat(1_000)}`,
    value: 'v'.repeat(5_000),
  }));
  const kept = keptHeaders(many);
  expect(kept).toHaveLength(64);
  expect(kept[0]?.name).toHaveLength(128);
  expect(kept[0]?.value).toHaveLength(1_024);
});

test('a callback is the same by its id where that is vouched for, else by its bytes, per rail and kind', () => {
  const request = { rail: 'upstream', kind: 'payout', digest: 'd1', messageId: null } as const;
  expect(callbackKey(request)).toBe('upstream/payout/d1');
  expect(callbackKey({ ...request, kind: 'collection' })).toBe('upstream/collection/d1');
  expect(callbackKey({ ...request, rail: 'other' })).toBe('other/payout/d1');
  expect(callbackKey({ ...request, messageId: 'd1' })).toBe('upstream/payout/id:d1');
});

test('a reference of ours has the form of its kind', () => {
  const claim = { status: 'COMPLETED', amount: null, fee: null, reason: null };
  const payout = { ...claim, reference: `po-${'a'.repeat(32)}` };
  expect([namesOurs('payout', payout), namesOurs('collection', payout)]).toEqual([true, false]);
});
