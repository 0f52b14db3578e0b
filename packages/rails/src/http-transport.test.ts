import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deflateSync, gzipSync } from 'node:zlib';
import { systemClock } from '@pesewa/kernel';
import { describe, expect, it } from 'vitest';
import { ANSWER_BYTES_MAX, createHttpTransport } from './http-transport.ts';
import { openRails, railSettings } from './index.ts';
import { minimalSettings, payout } from './rails.fixture.ts';

const accepted = JSON.stringify({
  isSuccessful: true,
  responseCode: '09',
  responseMessage: 'submitted',
  responseData: {
    transactionStatus: 'INITIALIZED',
    merchantReference: 'po-1',
    transactionReference: 'UP-1',
    amount: 100.5,
    feeAmount: 0.5,
  },
});

/** Runs a rail on a real socket, with a real client for it. */
async function withRail<Value>(
  listener: RequestListener,
  use: (rail: {
    readonly submit: () => Promise<unknown>;
    readonly processors: () => Promise<unknown>;
    readonly served: () => number;
    readonly close: () => Promise<void>;
  }) => Promise<Value>,
  settings: object = {},
): Promise<Value> {
  let served = 0;
  const server = createServer((request, response) => {
    served += 1;
    listener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const url = `http://127.0.0.1:${port}`;
  const rail = { ...minimalSettings, transferUrl: url, collectionsUrl: url, timeoutMs: 10_000, ...settings };
  const rails = openRails(railSettings.parse(JSON.stringify([rail])), { clock: systemClock });
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  try {
    const submit = () => rails.all[0]?.payouts?.submit(payout) ?? Promise.reject(new Error('no rail'));
    const processors = () => rails.all[0]?.payouts?.processors('NGA') ?? Promise.reject(new Error('no rail'));
    return await use({ submit, processors, served: () => served, close });
  } finally {
    await close();
    await rails[Symbol.asyncDispose]();
  }
}

const answer =
  (status: number, body: string | Buffer, headers: Record<string, string> = {}): RequestListener =>
  (request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end(body));
  };

describe('a rail on a real network', () => {
  it('is understood, over one kept connection', async () => {
    const sockets = new Set<unknown>();
    await withRail(
      (request, response) => {
        sockets.add(request.socket);
        answer(200, accepted)(request, response);
      },
      async ({ submit }) => {
        expect(await submit()).toEqual({ kind: 'acknowledged' });
        expect(await submit()).toEqual({ kind: 'acknowledged' });
      },
      { concurrencyMax: 1 },
    );
    expect(sockets.size).toBe(1);
  });

  const half: RequestListener = (_request, response) => {
    response.writeHead(200, { 'content-length': '1000' }).write(accepted.slice(0, 20));
  };
  it.each<[string, RequestListener, object, object?]>([
    ['no answer', () => undefined, { kind: 'unknown', why: 'timeout' }, { timeoutMs: 1_000 }],
    ['an answer that never ends', half, { kind: 'unknown', why: 'timeout' }, { timeoutMs: 1_000 }],
    [
      'a reset',
      (request) => void request.socket.resetAndDestroy(),
      { kind: 'unknown', why: expect.stringMatching(/ECONNRESET|UND_ERR_SOCKET/) as string },
    ],
    [
      'a reset after the request',
      (request) => void request.resume().on('end', () => request.socket.resetAndDestroy()),
      { kind: 'unknown' },
    ],
    [
      'an end within the answer',
      (request, response) => {
        half(request, response);
        response.socket?.end();
      },
      { kind: 'unknown' },
    ],
    ['no HTTP', (request) => void request.socket.end('220 smtp ready\r\n'), { kind: 'unknown' }],
    ['garbage', answer(200, '\u0000garbage'), { kind: 'unknown', why: 'HTTP 200: malformed JSON' }],
    [
      'a letter that is no UTF-8, in a text',
      answer(200, Buffer.from(accepted.replace('submitted', 'acceptée'), 'latin1')),
      { kind: 'acknowledged' },
    ],
    [
      'a letter that is no UTF-8, in a status',
      answer(200, Buffer.from(accepted.replace('INITIALIZED', 'INITIALIZÉD'), 'latin1')),
      { kind: 'unknown' },
    ],
    ['a busy rail whose page is Latin-1', answer(429, Buffer.from('occupé', 'latin1')), { kind: 'notSent' }],
    ['gzip', answer(200, gzipSync(accepted), { 'content-encoding': 'gzip' }), { kind: 'acknowledged' }],
    [
      'a compressed answer that expands without end',
      answer(200, gzipSync(`"${'x'.repeat(ANSWER_BYTES_MAX)}"`), { 'content-encoding': 'gzip' }),
      { kind: 'unknown', why: 'answer too large' },
    ],
    [
      'a coding that nobody knows',
      answer(200, deflateSync(accepted), { 'content-encoding': 'pack200-gzip' }),
      { kind: 'unknown', why: 'answer in an unknown content coding' },
    ],
    [
      'a huge body',
      answer(200, `"${'x'.repeat(ANSWER_BYTES_MAX)}"`),
      { kind: 'unknown', why: 'answer too large' },
    ],
    ['a redirect', answer(307, '', { location: '/elsewhere' }), { kind: 'unknown', why: 'HTTP 307' }],
    [
      'a busy rail',
      answer(429, '', { 'retry-after': '3' }),
      { kind: 'notSent', why: 'HTTP 429', retryAfterMs: 3_000 },
    ],
    [
      'an answer after a hint',
      (request, response) => {
        response.writeEarlyHints({ link: '</x>; rel=preload' });
        answer(200, accepted)(request, response);
      },
      { kind: 'acknowledged' },
    ],
  ])('%s, asked exactly once', async (_, listener, result, settings) => {
    const asked = async ({ submit, served }: Parameters<Parameters<typeof withRail>[1]>[0]) => {
      expect(await submit()).toMatchObject(result);
      expect(served()).toBe(1);
    };
    await withRail(listener, asked, settings);
  });

  it('asks for answers as they are, and reads a reason in the charset that the rail names', async () => {
    const asked: unknown[] = [];
    const refusal = Buffer.from(
      '{"isSuccessful":false,"responseCode":"30","responseMessage":"compte bloqué"}',
      'latin1',
    );
    const latin1 = answer(400, refusal, { 'content-type': 'application/json;charset=iso-8859-1' });
    await withRail(
      (request, response) => {
        asked.push(request.headers['accept-encoding']);
        latin1(request, response);
      },
      async ({ submit }) => expect(await submit()).toEqual({ kind: 'failed', reason: 'compte bloqué' }),
    );
    expect(asked).toEqual(['identity']);
  });

  /** A list of so many processors, each with a long address of a picture. */
  const listOf = (count: number) => ({
    isSuccessful: true,
    responseCode: '00',
    responseMessage: 'ok',
    responseData: Array.from({ length: count }, (_, index) => ({
      code: `B${index}`,
      name: `Bank ${index}`,
      shortName: `b${index}`,
      sortCode: '',
      avatar: `https://pictures.example/${'x'.repeat(300)}/${index}.png`,
      currency: 'NGN',
      country: 'NGA',
      active: true,
      blockTransaction: false,
    })),
  });

  it('lists a thousand processors, which are more than any other answer may be', async () => {
    const list = listOf(1_000);
    await withRail(answer(200, JSON.stringify(list)), async ({ processors }) =>
      expect(await processors()).toEqual({ kind: 'answered', value: list.responseData }),
    );
  });

  it('reads no list without end, and asks again: the rail is there', async () => {
    await withRail(
      answer(200, JSON.stringify({ ...listOf(1), padding: 'x'.repeat(4 * 1_024 * 1_024) })),
      async ({ processors, served }) => {
        for (let attempt = 0; attempt < 3; attempt += 1)
          expect(await processors()).toEqual({ kind: 'unknown', why: 'answer too large' });
        expect(served()).toBe(3);
      },
      { breakerFailures: 2 },
    );
  });

  it('knows that nothing was sent if no server listens', async () => {
    await withRail(answer(200, accepted), async ({ submit, close }) => {
      await close();
      expect(await submit()).toEqual({ kind: 'notSent', why: 'ECONNREFUSED', retryAfterMs: 1_000 });
    });
  });

  it('knows that nothing left where the name is unknown', async () => {
    await withRail(
      answer(200, accepted),
      async ({ submit }) => expect(await submit()).toMatchObject({ kind: 'notSent' }),
      { transferUrl: 'http://rail.invalid' },
    );
  });

  it('never sends what was given up while it waited for a connection', async () => {
    const paths: string[] = [];
    const held: (() => void)[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      if (request.url === '/first') held.push(() => response.end('one'));
      else response.end('other');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const network = createHttpTransport({
      connectionsMax: 1,
      connectTimeoutMs: 5_000,
      monotonicMs: () => performance.now(),
    });
    const ask = (path: string, timeoutMs: number) =>
      network.transport({ method: 'GET', url: `http://127.0.0.1:${port}${path}`, headers: {}, timeoutMs });
    try {
      const first = ask('/first', 5_000);
      await expect(ask('/second', 50)).rejects.toMatchObject({ message: 'timeout', sent: false });
      await expect.poll(() => held).toHaveLength(1);
      held[0]?.();
      expect(await first).toMatchObject({ status: 200, bodyText: 'one' });
      expect(await ask('/third', 5_000)).toMatchObject({ bodyText: 'other' });
      expect(paths).toEqual(['/first', '/third']);
    } finally {
      await network[Symbol.asyncDispose]();
      server.close();
    }
  });

  it('never sends what comes to its turn after its deadline, in a process that stood still', async () => {
    const paths: string[] = [];
    const server = createServer((request, response) => {
      paths.push(request.url ?? '');
      response.end('answered');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    let nowMs = 0;
    const network = createHttpTransport({
      connectionsMax: 1,
      connectTimeoutMs: 5_000,
      monotonicMs: () => nowMs,
    });
    const ask = (path: string) =>
      network.transport({
        method: 'GET',
        url: `http://127.0.0.1:${port}${path}`,
        headers: {},
        timeoutMs: 5_000,
      });
    try {
      const first = ask('/first');
      nowMs += 5_001;
      await expect(first).rejects.toMatchObject({ message: 'timeout', sent: false });
      expect(await ask('/second')).toMatchObject({ bodyText: 'answered' });
      expect(paths).toEqual(['/second']);
    } finally {
      await network[Symbol.asyncDispose]();
      server.close();
    }
  });
});
