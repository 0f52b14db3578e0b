import { createServer, type RequestListener } from 'node:http';
import { parseJson } from '@pesewa/contracts';
import { createMerchantClient } from '@pesewa/stack';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { isUnclear } from './failures.ts';

/** The error of a request against a server that behaves so. */
async function failureAt(
  listener: RequestListener,
  ask: (url: string) => Promise<unknown>,
): Promise<unknown> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  try {
    return await ask(url).then(
      () => undefined,
      (error: unknown) => error,
    );
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

/** A refusal as check-status gives it (contract 7). */
const answerRejected =
  (status: number): RequestListener =>
  (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ timestamp: '', status, error: '', path: '' }));
  };

const checkStatus = (url: string) =>
  createMerchantClient({ transferUrl: url, collectionsUrl: url, publicKey: 'key' }).checkCollection({
    reference: 'c1',
    country: 'CI',
  });

const read = async (url: string) => (await fetch(url)).text();

describe('a request without an answer', () => {
  it('is unclear when the connection resets', async () => {
    const failure = await failureAt((request) => void request.socket.destroy(), read);
    expect(isUnclear(failure)).toBe(true);
  });

  it('is unclear when the answer breaks off', async () => {
    const failure = await failureAt((_request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('{', () => void response.socket?.destroy());
    }, read);
    expect(isUnclear(failure)).toBe(true);
  });

  it('is unclear when no server listens', async () => {
    const failure = await read('http://127.0.0.1:1').catch((error: unknown) => error);
    expect(isUnclear(failure)).toBe(true);
  });

  it('is unclear when it says 5xx in a form of its own', async () => {
    const failure = await failureAt(answerRejected(503), checkStatus);
    expect(isUnclear(failure)).toBe(true);
  });

  it('is unclear when the server gave up waiting for the rest of the request', async () => {
    const failure = await failureAt((_request, response) => void response.writeHead(408).end(), checkStatus);
    expect(isUnclear(failure)).toBe(true);
  });

  it('is unclear when the deadline runs out', async () => {
    const failure = await failureAt(
      () => undefined,
      (url) => fetch(url, { signal: AbortSignal.timeout(20) }),
    );
    expect(isUnclear(failure)).toBe(true);
  });
});

describe('a failure of another sort', () => {
  it('is strange: a refusal in a form of its own', async () => {
    expect(isUnclear(await failureAt(answerRejected(400), checkStatus))).toBe(false);
  });

  it.each([
    ['an answer of another form', () => z.string().parse(1)],
    ['an answer that is no JSON', () => parseJson('{')],
    ['a slip of our own', () => (undefined as unknown as { readonly x: { readonly y: 1 } }).x.y],
    ['what is no amount', () => BigInt('1.5')],
  ])('is strange: %s', (_what, slip) => {
    let failure: unknown;
    try {
      slip();
    } catch (error) {
      failure = error;
    }
    expect(failure).toBeInstanceOf(Error);
    expect(isUnclear(failure)).toBe(false);
  });
});
