import { createSigningSecret, signRequest } from '@pesewa/signatures';
import { describe, expect, it } from 'vitest';
import { base64, holderOf, merchant, openGateway, payinBody, rightHeaders } from './fixtures/gateway.ts';

const START_MS = Date.UTC(2025, 0, 15, 12);
const secretOf = (byte: number) =>
  createSigningSecret({ bytes: (length) => new Uint8Array(length).fill(byte) });
const [secret, other] = [secretOf(7), secretOf(8)];
const form = payinBody();
const OTHER_BODY =
  'X-digest is not that of the body: take the SHA-256 of exactly the bytes that you send, and sign it';

const sign = (path: string, body: object, by = secret) => ({
  ...signRequest({
    method: 'POST',
    target: `/collection/v1/${path}`,
    body: JSON.stringify(body),
    seconds: START_MS / 1_000,
    secret: by,
  }),
});
const statusBody = {
  requestHeader: { clientId: '', requestType: 'GM-Collections' },
  transactionReference: 'order-1',
  transactionCountry: 'GM',
};

function openSigned(secrets: readonly string[] = [secret], isRequired = true) {
  const counted: string[] = [];
  const gateway = openGateway({
    identify: async () => holderOf({ ...merchant, signing: { isRequired, secrets: [...secrets] } }),
    limitRequest: async ({ id }) => void counted.push(id),
  });
  return { ...gateway, counted };
}

describe('a merchant whose requests must be signed (contract 10.21)', () => {
  it('is let in by a right signature of a payin', async () => {
    const { send, counted } = openSigned();
    expect((await send({ path: 'payin', body: form, headers: sign('payin', form) })).status).toBe(200);
    expect(counted).toEqual(['demo']);
  });

  it.each([
    ['payin', {}, 'X-signature is missing: sign the request with your secret'],
    ['complete-payin', {}, 'X-signature is missing: sign the request with your secret'],
    ['payin', sign('payin', form, other), 'X-signature is wrong: '],
    ['payin', sign('complete-payin', form), 'X-signature is wrong: '],
  ] as const)(
    'is refused for %s with %j, and nothing is recorded or counted',
    async (path, headers, says) => {
      const { send, stored, counted } = openSigned();
      const answer = await send({ path, body: form, headers });
      expect(answer).toMatchObject({
        status: 401,
        body: {
          responseDetails: {
            failedReason: 'UNAUTHORIZED',
            statusDescription: expect.stringContaining(says) as string,
          },
        },
      });
      expect([stored.size, counted]).toEqual([0, []]);
    },
  );

  it('is refused before the body is read', async () => {
    let reads = 0;
    const pull = (controller: ReadableStreamDefaultController) => {
      reads += 1;
      controller.close();
    };
    const body = new ReadableStream({ pull }, { highWaterMark: 0 });
    const request = { method: 'POST', headers: rightHeaders(base64('x')), body, duplex: 'half' };
    const response = await openSigned().app.request('/collection/v1/payin', request as RequestInit);
    expect([response.status, reads]).toEqual([401, 0]);
  });

  it('is refused if the body is not the one that was signed, and nothing is recorded', async () => {
    const { send, stored } = openSigned();
    const body = payinBody({ transactionAmount: 10_000 });
    const answer = await send({ path: 'payin', body, headers: sign('payin', form) });
    expect(answer).toMatchObject({
      status: 401,
      body: { responseDetails: { failedReason: 'UNAUTHORIZED', statusDescription: OTHER_BODY } },
    });
    expect(stored.size).toBe(0);
  });

  it.each([
    ['no signature', {}, 400],
    ['one of another body', sign('check-status', form), 400],
    ['a right one', sign('check-status', statusBody), 200],
  ])('is answered a status check with %s in its own shape', async (_, headers, status) => {
    expect((await openSigned().send({ path: 'check-status', body: statusBody, headers })).status).toBe(
      status,
    );
  });

  it('is refused the list without a signature', async () => {
    const { app } = openSigned();
    expect((await app.request('/collection/v1/collections', { headers: rightHeaders('') })).status).toBe(400);
  });
});

it('a merchant with a secret whose requests need no signature is let in without one', async () => {
  const { send } = openSigned([secret], false);
  expect((await send({ path: 'payin', body: form })).status).toBe(200);
});
