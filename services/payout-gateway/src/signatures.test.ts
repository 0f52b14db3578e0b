import type { Merchant } from '@pesewa/directory';
import { accept } from '@pesewa/kernel';
import { createSigningSecret, signRequest } from '@pesewa/signatures';
import { describe, expect, it } from 'vitest';
import { ask, holderOf, merchant, openTestApp, payout } from './app.fixture.ts';
import { createRateLimits } from './app.ts';

const NOW_MS = 1_767_225_600_000;
const seconds = NOW_MS / 1_000;
const secretOf = (byte: number) =>
  createSigningSecret({ bytes: (length) => new Uint8Array(length).fill(byte) });
const [secret, other] = [secretOf(7), secretOf(8)];
const single = '/api/v1/transactions/transfer/single';
const order = JSON.stringify({
  transactionReference: 'order-1',
  country: 'Ghana',
  currency: 'GHS',
  channel: 'Mobile Money',
  beneficiary: { accountName: 'Ama Mensah', accountNumber: '0240001234', bankCode: 'GHMTN', amount: 25.5 },
  sender: { name: 'Demo', email: 'payouts@example.com' },
});

/** The API for a merchant with these settings for signatures; it records what it counted and what it did. */
function openSigned(signing: Merchant['signing']) {
  const counted: string[] = [];
  const done: string[] = [];
  const app = openTestApp({
    clock: { nowMs: () => NOW_MS },
    identify: async (key) => (key === 'ZGVtbw==' ? holderOf({ ...merchant, signing }) : undefined),
    rateLimits: { ...createRateLimits(), limitRequest: async ({ id }) => void counted.push(id) },
    payouts: {
      request: async (_merchant, { transactionReference }) => {
        done.push(transactionReference);
        return accept(payout);
      },
      find: async () => payout,
      apply: async () => [],
    },
    inquiries: {
      balances: {
        available: async () => {
          done.push('balances');
          return new Map();
        },
      },
      processors: { list: async () => [] },
      routes: [],
      availability: () => undefined,
      enquireName: async () => {
        done.push('name enquiry');
        return { kind: 'noAccount' };
      },
      flagUrl: (country) => `http://gateway.test/flags/${country}.svg`,
    },
    batches: {
      request: async () => {
        done.push('batch');
        return accept(null);
      },
    },
  });
  return { app, counted, done };
}
const required = (...secrets: string[]) => openSigned({ isRequired: true, secrets });
const sign = (method: string, target: string, body = '', by = secret) => ({
  ...signRequest({ method, target, body, seconds, secret: by }),
});

describe('a merchant whose requests must be signed (contract 10.21)', () => {
  it.each([
    ['POST', single, order],
    ['GET', '/api/v1/transactions/order-1/query', undefined],
    ['GET', '/api/v1/transactions?limit=2&status=COMPLETED', undefined],
    ['POST', '/api/v1/wallets/balance', undefined],
    ['POST', '/api/v1/wallets/balance?currency=NGN', '{}'],
  ])('is let in by a right signature of %s %s', async (method, path, body) => {
    const { app, counted } = required(secret);
    const headers = sign(method, path, body);
    expect((await ask(app, method, path, { body, headers })).status).toBe(200);
    expect(counted).toEqual(['demo']);
  });

  it.each([
    ['no signature', {}, 'X-signature is missing: sign the request with your secret'],
    ['one of another secret', sign('POST', single, order, other), 'X-signature is wrong: '],
    ['one of another path', sign('POST', `${single}?a=1`, order), 'X-signature is wrong: '],
    [
      'an old one',
      signRequest({ method: 'POST', target: single, body: order, seconds: seconds - 301, secret }),
      'X-timestamp is more than 300 s away ',
    ],
  ])('is refused with %s before the body is read, counted or stored', async (_, headers, message) => {
    const { app, counted, done } = required(secret);
    const { body, reads } = watchedBody(order);
    const response = await app.request(single, {
      method: 'POST',
      headers: { 'x-api-key': 'ZGVtbw==', 'content-type': 'application/json', ...headers },
      body,
      duplex: 'half',
    });
    expect([response.status, await response.json()]).toEqual([
      401,
      {
        isSuccessful: false,
        responseCode: '63',
        responseMessage: expect.stringContaining(message) as string,
      },
    ]);
    expect([reads(), counted, done]).toEqual([0, [], []]);
  });

  it.each([
    [single, `${order} `],
    [single, 'no JSON'],
    ['/api/v1/transactions/transfer/bulk', '[]'],
    ['/api/v1/transactions/name-enquiry', '{}'],
    ['/api/v1/wallets/balance', '{"a":1}'],
  ])('is refused at %s if the body %s is not the one that was signed', async (path, body) => {
    const { app, done } = required(secret);
    const { status, text } = await ask(app, 'POST', path, { body, headers: sign('POST', path, order) });
    expect([status, JSON.parse(text)]).toEqual([
      401,
      {
        isSuccessful: false,
        responseCode: '63',
        responseMessage:
          'X-digest is not that of the body: take the SHA-256 of exactly the bytes that you send, and sign it',
      },
    ]);
    expect(done).toEqual([]);
  });

  it('signs by either of two secrets, and no longer by one that was removed', async () => {
    const headers = sign('POST', single, order, other);
    const statuses = [];
    for (const secrets of [[secret, other], [other, secret], [secret]])
      statuses.push((await ask(required(...secrets).app, 'POST', single, { body: order, headers })).status);
    expect(statuses).toEqual([200, 200, 401]);
  });

  it('is refused for a wrong key first', async () => {
    const { body } = await ask(required(secret).app, 'POST', single, { headers: { 'x-api-key': 'eA==' } });
    expect(body.responseMessage).toBe('x-api-key must be the Base64 of your public key');
  });

  it('signs the path as it is sent, whatever its spelling', async () => {
    const target = "/api/v1/wallets/balance?currency='NGN'";
    const env = { incoming: { url: target, socket: {} } };
    const headers = { 'x-api-key': 'ZGVtbw==', ...sign('POST', target) };
    const response = await required(secret).app.request(target, { method: 'POST', headers }, env);
    // It is no currency, which is not the refusal of a wrong signature.
    expect(await response.json()).toMatchObject({ responseCode: '30' });
  });
});

describe('a merchant whose requests may be signed', () => {
  it.each([
    ['without a signature', {}, 200],
    ['with a right one', sign('POST', single, order), 200],
    ['with a wrong one, so that it can be tried', sign('POST', single, order, other), 401],
  ])('is answered %s', async (_, headers, status) => {
    const { app } = openSigned({ isRequired: false, secrets: [secret] });
    expect((await ask(app, 'POST', single, { body: order, headers })).status).toBe(status);
  });

  it('is let in with any such headers while it has no secret', async () => {
    const { app } = openSigned({ isRequired: false, secrets: [] });
    const headers = { 'x-signature': 'ours', 'x-digest': 'ours', 'x-timestamp': 'ours' };
    expect((await ask(app, 'POST', single, { body: order, headers })).status).toBe(200);
  });
});

/** A body that counts how often it is read. */
function watchedBody(text: string) {
  let count = 0;
  const body = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        count += 1;
        controller.enqueue(new TextEncoder().encode(text));
        controller.close();
      },
    },
    { highWaterMark: 0 },
  );
  return { body, reads: () => count };
}
