import { createServer } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { promisify } from 'node:util';
import { Hono } from 'hono';
import { expect, it, onTestFinished } from 'vitest';
import { allowSlowAnswer, type ConnectionLimits, limitConnections } from './connection-limits.ts';
import { serveHttp } from './http.ts';

/** More than the buffers of both ends hold. */
const LARGE = 'x'.repeat(16 * 1024 * 1024);

async function open(limits: Partial<ConnectionLimits>) {
  const server = createServer((incoming, response) => {
    if (incoming.url === '/file') allowSlowAnswer({ env: { incoming } });
    response.end(incoming.url === '/large' || incoming.url === '/file' ? LARGE : 'small');
  });
  limitConnections(server, { perAddressMax: 10, answerTimeoutMs: 60_000, ...limits });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return { ask: askAt(port), connections: promisify(server.getConnections.bind(server)) };
}

/** Opens connections that ask for something; `ended` resolves once one is closed. */
function askAt(port: number) {
  return (path: string) => {
    const socket = connect(port, '127.0.0.1');
    onTestFinished(() => void socket.destroy());
    let received = 0;
    socket.on('error', () => undefined);
    const answered = new Promise<void>((resolve) => {
      socket.on('data', (bytes) => {
        received += bytes.byteLength;
        resolve();
      });
    });
    const ended = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
    socket.write(`GET ${path} HTTP/1.1\r\nhost: x\r\n\r\n`);
    return { socket, answered, ended, received: () => received };
  };
}

it('bounds the connections of a port that strangers reach', async () => {
  const app = new Hono().get('/', (context) => context.text('small'));
  const server = await serveHttp({ app, host: '127.0.0.1', port: 0, connectionsPerAddressMax: 1 });
  onTestFinished(() => server[Symbol.asyncDispose]());
  const ask = askAt(server.port);
  const one = ask('/');
  await one.answered;
  const two = ask('/');
  await two.ended;
  expect(two.received()).toBe(0);
});

it('closes what one address opens beyond its number, and takes more once others are closed', async () => {
  const { ask } = await open({ perAddressMax: 2 });
  const [one, two] = [ask('/'), ask('/')];
  await Promise.all([one.answered, two.answered]);
  const three = ask('/');
  await three.ended;
  expect(three.received()).toBe(0);
  two.socket.destroy();
  await expect
    .poll(async () => {
      const next = ask('/');
      await Promise.race([next.answered, next.ended]);
      return next.received() > 0;
    })
    .toBe(true);
});

it('cuts off a client that does not read its answer, and not one that waits between its requests', async () => {
  const { ask, connections } = await open({ answerTimeoutMs: 50 });
  const [idle, slow, allowed] = [ask('/'), ask('/large'), ask('/file')];
  await idle.answered;
  slow.socket.pause();
  allowed.socket.pause();
  await expect.poll(() => connections()).toBe(2);
  allowed.socket.resume();
  await expect.poll(() => allowed.received()).toBeGreaterThan(LARGE.length);
  idle.socket.write('GET /again HTTP/1.1\r\nhost: x\r\n\r\n');
  const before = idle.received();
  await expect.poll(() => idle.received()).toBeGreaterThan(before);
});
