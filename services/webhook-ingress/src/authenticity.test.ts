import { describe, expect, test } from 'vitest';
import { openIngress, payoutBody, REFERENCE, secretOf, signed } from './ingress.fixture.ts';

const path = '/rails/upstream/payouts';
const body = payoutBody();
const secret = secretOf(1);
const oneSecret = { callbackSecrets: [secret] };

/** Every refusal reads the same, so that a forger can't learn how close an attempt was. */
const refusals = {
  401: { code: 'unauthenticated', message: 'the callback is not authenticated' },
  403: { code: 'not_permitted', message: 'callbacks are not taken from here' },
} as const;

describe('a rail with a secret takes signed callbacks alone (contract 10.16)', () => {
  test.each([
    ['no signature', body, {}, 'signature.missing'],
    ['a bad signature', body, { ...signed(body), 'webhook-signature': 'v1,AAAA' }, 'signature.wrong'],
    ['an expired signature', body, signed(body, { awaySeconds: -301 }), 'signature.expired'],
    ['one of the future', body, signed(body, { awaySeconds: 301 }), 'signature.expired'],
    [
      'the right one over re-serialised bytes',
      JSON.stringify(JSON.parse(body), null, 1),
      signed(body),
      'signature.wrong',
    ],
    ['that of another rail', body, signed(body, { secrets: [secretOf(9)] }), 'signature.wrong'],
    ['that of a retired secret', body, signed(body, { secrets: [secretOf(2)] }), 'signature.wrong'],
    ['garbage, unsigned', 'garbage', {}, 'signature.missing'],
  ])('%s is refused, kept and not published', async (_, bytes, headers, reason) => {
    const ingress = openIngress({ rail: { ...oneSecret, callbacks: 'proven' } });
    const answer = await ingress.post(path, bytes, headers);
    expect([answer.status, await answer.json()]).toEqual([401, refusals[401]]);
    expect(ingress.rejected).toMatchObject([{ reason, verdict: { signature: reason.split('.')[1] } }]);
    expect([ingress.stored.size, ingress.emitted.length]).toEqual([0, 0]);
    expect(ingress.counted).toEqual([{ result: 'rejected', reason }]);
  });

  test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'])('%s twice is refused', async (name) => {
    const ingress = openIngress({ rail: oneSecret });
    const headers = Object.entries(signed(body));
    const again = headers.filter(([header]) => header === name);
    expect((await ingress.post(path, body, [...headers, ...again])).status).toBe(401);
    expect(ingress.rejected).toMatchObject([{ reason: 'signature.wrong' }]);
  });

  test.each([-300, 0, 300])('%d seconds away is near enough', async (awaySeconds) => {
    const ingress = openIngress({ rail: oneSecret });
    expect((await ingress.post(path, body, signed(body, { awaySeconds }))).status).toBe(200);
    expect([...ingress.stored.values()][0]?.verdict).toEqual({
      address: 'any',
      signature: 'verified',
      proven: false,
    });
    expect(ingress.emitted).toMatchObject([{ payload: { proven: false } }]);
  });

  test('either of two secrets proves while they rotate, and is a fact where the rail is so configured', async () => {
    const ingress = openIngress({
      rail: { callbacks: 'proven', callbackSecrets: [secretOf(2), secret] },
    });
    for (const [id, by] of [
      ['a', secret],
      ['b', secretOf(2)],
    ] as const)
      expect((await ingress.post(path, body, signed(body, { id, secrets: [by] }))).status).toBe(200);
    expect(ingress.emitted).toMatchObject([{ payload: { proven: true } }, { payload: { proven: true } }]);
  });

  test.each([
    ['proven', true],
    ['hint', false],
  ])('what is driven again by hand at a rail of %s has the same weight', async (callbacks, proven) => {
    const ingress = openIngress({ rail: { ...oneSecret, callbacks } });
    await ingress.post(path, body, signed(body));
    const [stored] = ingress.stored.values();
    expect((await ingress.callbacks.redrive(stored?.id ?? '')).ok).toBe(true);
    expect(ingress.emitted).toMatchObject([{ payload: { proven } }, { payload: { proven } }]);
  });

  test('a replay within the tolerance is counted, one beyond is refused', async () => {
    const ingress = openIngress({ rail: oneSecret, repassAfterMs: 3_600_000 });
    const headers = signed(body);
    await ingress.post(path, body, headers);
    ingress.clock.now += 300_000;
    expect((await ingress.post(path, body, headers)).status).toBe(200);
    ingress.clock.now += 1;
    expect((await ingress.post(path, body, headers)).status).toBe(401);
    expect(ingress.emitted).toHaveLength(1);
    expect([...ingress.records.values()]).toMatchObject([{ deliveries: 2 }]);
  });

  test('a signed body that is no callback is malformed', async () => {
    const ingress = openIngress({ rail: oneSecret });
    const garbage = new Uint8Array([0x7b, 0xff, 0x7d]);
    expect((await ingress.post(path, '{}', signed('{}'))).status).toBe(400);
    expect((await ingress.post(path, garbage, signed('{}'))).status).toBe(401);
  });
});

describe('a rail with addresses', () => {
  const rail = { callbackAddresses: ['203.0.113.0/24'] };
  const listed = '203.0.113.7';
  const stranger = '198.51.100.9';
  test.each([
    [0, listed, undefined, 200],
    [0, `::ffff:${listed}`, undefined, 200],
    [0, stranger, undefined, 403],
    [0, undefined, undefined, 403],
    // Without a proxy of ours the header is written by the sender.
    [0, stranger, listed, 403],
    [0, listed, stranger, 200],
    [1, '10.0.0.1', listed, 200],
    [1, '10.0.0.1', stranger, 403],
    [1, '10.0.0.1', `${listed}, ${stranger}`, 403],
    [1, '10.0.0.1', `${stranger}, ${listed}`, 200],
    [1, listed, undefined, 403],
    [1, '10.0.0.1', `${listed}:443`, 200],
    [2, '10.0.0.1', `${listed}, 10.0.0.2`, 200],
    [2, '10.0.0.1', `${listed}, ${stranger}, 10.0.0.2`, 403],
    [2, '10.0.0.1', `${stranger}, ${listed}, 10.0.0.2`, 200],
    [2, '10.0.0.1', listed, 403],
  ])(
    'behind %i proxies takes from %s, forwarded for %s: %i',
    async (trustedProxies, peer, forwarded, status) => {
      const ingress = openIngress({ rail, trustedProxies });
      const headers = forwarded === undefined ? {} : { 'x-forwarded-for': forwarded };
      const answer = await ingress.post(path, body, headers, peer);
      expect(answer.status).toBe(status);
      expect(ingress.emitted).toHaveLength(status === 200 ? 1 : 0);
      const verdict = { address: status === 200 ? 'allowed' : 'unlisted' };
      expect([...ingress.stored.values(), ...ingress.rejected]).toMatchObject([{ verdict }]);
    },
  );

  test('trusts X-Forwarded-For only from the listed proxies', async () => {
    const ingress = openIngress({ rail, trustedProxies: 1, proxies: ['10.0.0.0/8'] });
    const headers = { 'x-forwarded-for': listed };
    expect((await ingress.post(path, body, headers, '10.0.0.1')).status).toBe(200);
    expect((await ingress.post(path, body, headers, stranger)).status).toBe(403);
    expect((await ingress.post(path, body, headers, listed)).status).toBe(403);
  });

  test('judges the address before the signature, and both before the body', async () => {
    const ingress = openIngress({ rail: { ...rail, ...oneSecret } });
    const from = async (peer: string, bytes: string, headers: Record<string, string>) => {
      const answer = await ingress.post(path, bytes, headers, peer);
      return [answer.status, await answer.json()];
    };
    expect(await from(stranger, body, signed(body))).toEqual([403, refusals[403]]);
    expect(await from(stranger, 'garbage', {})).toEqual([403, refusals[403]]);
    expect(await from(listed, 'garbage', {})).toEqual([401, refusals[401]]);
    expect((await from(listed, 'garbage', signed('garbage')))[0]).toBe(400);
    expect((await from(listed, body, signed(body)))[0]).toBe(200);
    expect(ingress.rejected.map(({ reason }) => reason)).toEqual([
      'address.unlisted',
      'address.unlisted',
      'signature.missing',
      'body.malformed',
    ]);
    expect(ingress.rejected[0]).toMatchObject({
      clientAddress: stranger,
      verdict: { address: 'unlisted', signature: 'verified' },
    });
  });
});

test('a callback is the same only for its own rail', async () => {
  const ingress = openIngress({ rail: oneSecret });
  await ingress.post(path, body, signed(body));
  expect((await ingress.post('/rails/other/payouts', body, signed(body))).status).toBe(401);
  await ingress.post('/rails/other/payouts', body, signed(body, { secrets: [secretOf(9)] }));
  expect(ingress.emitted).toMatchObject([
    { key: REFERENCE, payload: { rail: 'upstream' } },
    { key: REFERENCE, payload: { rail: 'other' } },
  ]);
});
