import { expect, test } from 'vitest';
import { callbackKeys, evidenceOf, headerOf, isOwnReference, keptHeaders } from './callback.ts';

test('several lines of a header are one list, in their order', () => {
  const lines = ['203.0.113.7', '10.0.0.2'].map((value) => ({ name: 'x-forwarded-for', value }));
  expect(headerOf({ headers: lines }, 'x-forwarded-for')).toBe('203.0.113.7, 10.0.0.2');
  expect(headerOf({ headers: lines }, 'traceparent')).toBeUndefined();
});

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
  expect(
    keptHeaders(names.map((name) => ({ name, value: 'v' })))
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(evidence.toSorted());
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
  const keyOf = (change: object) => callbackKeys({ ...request, ...change }).key;
  expect(callbackKeys(request)).toEqual({ key: 'upstream/payout/d1', otherKey: 'upstream/payout/d1' });
  expect(keyOf({ kind: 'collection' })).toBe('upstream/collection/d1');
  expect(keyOf({ rail: 'other' })).toBe('other/payout/d1');
  expect(callbackKeys({ ...request, messageId: 'd1' })).toEqual({
    key: 'upstream/payout/id:d1',
    otherKey: 'upstream/payout/other:d1:d1',
  });
});

test('what proves a callback is kept before all other headers', () => {
  const many = Array.from({ length: 100 }, (_, index) => ({ name: `x-${index}`, value: 'v' }));
  const proof = ['Webhook-Id', 'webhook-timestamp', 'webhook-signature'].map((name) => ({
    name,
    value: 'v',
  }));
  expect(keptHeaders([...many, ...proof]).slice(0, 3)).toEqual(proof);
});

test.each([
  ['address.unlisted', 2_048, 16, 256],
  ['signature.wrong', 2_048, 16, 256],
  ['signature.missing', 2_048, 16, 256],
  ['body.malformed', 60_000, 20, 300],
  ['reference.foreign', 60_000, 20, 300],
] as const)('of what is refused for %s, %i bytes are kept', (reason, bytes, headers, length) => {
  const kept = evidenceOf(
    {
      id: 'cb-1',
      rail: 'upstream',
      kind: 'payout',
      body: new Uint8Array(60_000),
      headers: Array.from({ length: 20 }, () => ({ name: 'x', value: 'v'.repeat(300) })),
      peerAddress: undefined,
      clientAddress: undefined,
      receivedAtMs: 0,
      digest: 'd1',
      verdict: { address: 'any', signature: 'wrong', proven: false },
    },
    reason,
  );
  expect([kept.body.byteLength, kept.headers.length, kept.headers[0]?.value.length]).toEqual([
    bytes,
    headers,
    length,
  ]);
  expect([kept.body.buffer.byteLength, kept.digest]).toEqual([bytes, 'd1']);
});

test('a reference of ours has the form of its kind', () => {
  const payout = { reference: `po-${'a'.repeat(32)}` };
  expect([isOwnReference('payout', payout), isOwnReference('collection', payout)]).toEqual([true, false]);
});
