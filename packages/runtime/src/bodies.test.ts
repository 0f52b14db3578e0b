import type { HttpBindings } from '@hono/node-server';
import { Hono } from 'hono';
import { afterEach, expect, it } from 'vitest';
import { readBytes } from './bodies.ts';
import { serveHttp } from './http.ts';

const opened = new AsyncDisposableStack();
afterEach(() => opened.disposeAsync());

it('a body without a length is read once: nobody gets an empty one in its place', async () => {
  const app = new Hono<{ Bindings: HttpBindings }>();
  app.post('/', async (context) => {
    const bytes = await readBytes(context, 100);
    const again = await readBytes(context, 100).catch((error: Error) => error.message);
    return context.text(`${bytes?.byteLength} bytes, ${String(again)}`);
  });
  const server = await serveHttp({ app, host: '127.0.0.1', port: 0 });
  opened.use(server);
  const body = new Blob(['seven..']).stream();
  const answer = await fetch(`http://127.0.0.1:${server.port}/`, { method: 'POST', body, duplex: 'half' });
  expect(await answer.text()).toBe('7 bytes, the body was read before');
});
