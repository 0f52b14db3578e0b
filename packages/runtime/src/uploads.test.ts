import { connect } from 'node:net';
import { type Clock, systemClock } from '@pesewa/kernel';
import { Hono } from 'hono';
import { afterEach, expect, it } from 'vitest';
import { type HttpServer, serveHttp } from './http.ts';
import { readUpload, UploadAbortedError } from './uploads.ts';

/** A clock with which nothing comes too late. */
const patient: Clock = { ...systemClock, sleep: () => new Promise(() => undefined) };

const servers: HttpServer[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server[Symbol.asyncDispose]();
});

/** A server whose requests must arrive within half a second, while uploads may take as long as they make progress. */
async function serve(rate = { idleMs: 700, bytesPerSecondMin: 1, graceMs: 10_000 }) {
  const app = new Hono();
  app.post('/upload', async (context) => {
    let bytes = 0;
    try {
      for await (const piece of readUpload(context, rate, systemClock)) bytes += piece.byteLength;
      return context.text(`got ${bytes}`);
    } catch (error) {
      if (!(error instanceof UploadAbortedError)) throw error;
      return context.text(`cut: ${error.message}`, 408);
    }
  });
  app.post('/usual', async (context) => context.text(await context.req.text()));
  app.post('/refused', async (context) => {
    for await (const piece of readUpload(context, rate, patient)) {
      return context.text(`enough with ${piece.byteLength > 0}`, 413);
    }
    return context.text('nothing');
  });
  const server = await serveHttp({ app, host: '127.0.0.1', port: 0, requestTimeoutMs: 500 });
  servers.push(server);
  return server.port;
}

/** Sends a request in pieces with a pause before each; gives all bytes that came back. */
async function send(
  port: number,
  path: string,
  pieces: readonly string[],
  { pauseMs, readsWhenSent = false }: { pauseMs: number; readsWhenSent?: boolean },
): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  if (readsWhenSent) socket.pause();
  socket.on('error', () => undefined);
  let answer = '';
  socket.on('data', (data) => {
    answer += data.toString();
  });
  const closed = new Promise((resolve) => socket.once('close', resolve));
  const length = pieces.join('').length;
  socket.write(`POST ${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`);
  for (const piece of pieces) {
    await systemClock.sleep(pauseMs);
    if (socket.writable) await new Promise((resolve) => socket.write(piece, resolve));
  }
  socket.resume();
  await closed;
  return answer;
}

const ten = Array.from({ length: 10 }, () => 'x'.repeat(100));

it('lets an upload outlast the time of a request, and cuts every other request as before', async () => {
  const port = await serve();
  const [upload, usual] = await Promise.all([
    send(port, '/upload', ten, { pauseMs: 200 }),
    send(port, '/usual', ten, { pauseMs: 200 }),
  ]);
  expect(upload).toContain('got 1000');
  expect(usual).toContain('408 Request Timeout');
});

it('cuts off a sender that stops, or that sends too little', async () => {
  const port = await serve({ idleMs: 300, bytesPerSecondMin: 1, graceMs: 10_000 });
  expect(await send(port, '/upload', ten.slice(0, 2), { pauseMs: 600 })).toContain(
    'cut: nothing came for 300 ms',
  );
  const slow = await serve({ idleMs: 5_000, bytesPerSecondMin: 100_000, graceMs: 300 });
  expect(await send(slow, '/upload', ten, { pauseMs: 100 })).toContain(
    'cut: less than 100000 bytes came in a second',
  );
});

it('answers a sender that is refused half way', async () => {
  const large = Array.from({ length: 50 }, () => 'x'.repeat(100_000));
  const answer = await send(await serve(), '/refused', large, { pauseMs: 1, readsWhenSent: true });
  expect(answer).toContain('enough with true');
});

it('answers what is no HTTP as Node does', async () => {
  const port = await serve();
  const socket = connect(port, '127.0.0.1');
  let answer = '';
  socket.on('data', (data) => {
    answer += data.toString();
  });
  socket.write('nonsense\r\n\r\n');
  await new Promise((resolve) => socket.once('close', resolve));
  expect(answer).toContain('HTTP/1.1 400 Bad Request');
});
