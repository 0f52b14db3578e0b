import { connect } from 'node:net';
import { serveHttp } from '@pesewa/runtime';
import { expect, test, vi } from 'vitest';
import { openIngress, payoutBody, secretOf, signed } from './ingress.fixture.ts';

const REQUEST_TIMEOUT_MS = 300;
// A test here fails by a connection that stays open.
vi.setConfig({ testTimeout: 20_000 });
const body = payoutBody();
const rail = { callbackAddresses: ['127.0.0.1'], callbackSecrets: [secretOf(1)] };

async function listen(options: Parameters<typeof openIngress>[0] = { rail }) {
  const ingress = openIngress(options);
  const server = await serveHttp({
    app: ingress.app,
    host: '127.0.0.1',
    port: 0,
    requestTimeoutMs: REQUEST_TIMEOUT_MS,
  });
  return { ...ingress, port: server.port, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

/** Writes to a connection; gives all bytes that came back once the other side has closed it. */
async function talk(port: number, text: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port });
  const received: Buffer[] = [];
  const closed = Promise.withResolvers<string>();
  socket
    .on('data', (chunk) => void received.push(chunk))
    .on('error', () => undefined)
    .on('close', () => closed.resolve(Buffer.concat(received).toString()));
  socket.write(text);
  return closed.promise;
}

const head = (lines: readonly string[]) =>
  ['POST /rails/upstream/payouts HTTP/1.1', 'Host: ingress', 'Connection: close', ...lines, '', ''].join(
    '\r\n',
  );
const lengthOf = (text: string) => `Content-Length: ${Buffer.byteLength(text)}`;
const headerLines = (headers = signed(body)) =>
  Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
const statusOf = (answer: string) => answer.slice(0, 'HTTP/1.1 200'.length);

test('a signed callback is taken over a connection', async () => {
  await using ingress = await listen();
  const answer = await talk(ingress.port, `${head([...headerLines(), lengthOf(body)])}${body}`);
  expect(statusOf(answer)).toBe('HTTP/1.1 200');
  expect([...ingress.stored.values()]).toMatchObject([{ clientAddress: '127.0.0.1' }]);
});

test.each(['webhook-id', 'webhook-timestamp', 'webhook-signature'] as const)(
  'the line %s twice is refused, whether the second one is right or wrong',
  async (name) => {
    await using ingress = await listen();
    for (const second of [signed(body)[name], 'v1,AAAA'])
      for (const lines of [
        [...headerLines(), `${name}: ${second}`],
        [`${name}: ${second}`, ...headerLines()],
      ]) {
        const answer = await talk(ingress.port, `${head([...lines, lengthOf(body)])}${body}`);
        expect(statusOf(answer)).toBe('HTTP/1.1 401');
      }
    expect(ingress.stored.size).toBe(0);
  },
);

test('lines of X-Forwarded-For are one list', async () => {
  const behind = { trustedProxies: 2, rail: { callbackAddresses: ['203.0.113.7'] } };
  await using ingress = await listen(behind);
  const lines = ['X-Forwarded-For: 203.0.113.7', 'X-Forwarded-For: 10.0.0.2'];
  const answer = await talk(ingress.port, `${head([...lines, lengthOf(body)])}${body}`);
  expect(statusOf(answer)).toBe('HTTP/1.1 200');
  const spoofed = [
    'X-Forwarded-For: 203.0.113.7',
    'X-Forwarded-For: 198.51.100.9',
    'X-Forwarded-For: 10.0.0.2',
  ];
  const refused = await talk(ingress.port, `${head([...spoofed, lengthOf(body)])}${body}`);
  expect(statusOf(refused)).toBe('HTTP/1.1 403');
});

test('a signed callback in chunks is taken, and one beside a flood of forged ones is answered', async () => {
  await using ingress = await listen({ rail, perSecondMax: 2 });
  const chunked = `${Buffer.byteLength(body).toString(16)}\r\n${body}\r\n0\r\n\r\n`;
  const forged = headerLines({ ...signed(body), 'webhook-signature': 'v1,AAAA' });
  const flood = Array.from({ length: 100 }, () =>
    talk(ingress.port, `${head([...forged, 'Transfer-Encoding: chunked'])}${chunked}`),
  );
  const answer = await talk(
    ingress.port,
    `${head([...headerLines(), 'Transfer-Encoding: chunked'])}${chunked}`,
  );
  expect(statusOf(answer)).toBe('HTTP/1.1 200');
  const refused = new Set((await Promise.all(flood)).map(statusOf));
  expect(refused).toEqual(new Set(['HTTP/1.1 401', 'HTTP/1.1 429']));
});

test('a body without a length ends where it is too long', async () => {
  await using ingress = await listen();
  const chunk = `8000\r\n${'a'.repeat(0x8000)}\r\n`;
  const answer = await talk(
    ingress.port,
    `${head(['Transfer-Encoding: chunked'])}${chunk.repeat(3)}0\r\n\r\n`,
  );
  expect(statusOf(answer)).toBe('HTTP/1.1 413');
});

test.each([
  ['headers', 'POST /rails/upstream/payouts HTTP/1.1\r\nHost: ingr'],
  ['a body', `${head([...headerLines(), lengthOf(body)])}${body.slice(0, 20)}`],
  ['chunks', `${head([...headerLines(), 'Transfer-Encoding: chunked'])}5\r\n{"dat\r\n`],
])('a sender whose %s never end is cut off, and leaves nothing', async (_, text) => {
  await using ingress = await listen();
  expect(statusOf(await talk(ingress.port, text))).toBe('HTTP/1.1 408');
  expect([ingress.stored.size, ingress.rejected.length]).toEqual([0, 0]);
});

test('a callback that was cut off is counted as such', async () => {
  await using ingress = await listen();
  await talk(ingress.port, `${head([...headerLines(), lengthOf(body)])}${body.slice(0, 20)}`);
  await expect.poll(() => ingress.counted).toEqual([{ result: 'cut', reason: '' }]);
});
