import { connect } from 'node:net';
import { Hono } from 'hono';
import { Registry } from 'prom-client';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { readJsonText } from './bodies.ts';
import { createHealth } from './health.ts';
import { addErrorHandling, answerJson, serveHttp } from './http.ts';
import { createLogger } from './logger.ts';
import { createOperationsApp, mountOperator } from './operations.ts';
import { createOperators } from './operators.ts';
import { createRequestMeter } from './requests.ts';

const TOKEN = 'the-main-token-of-tests';

let registry: Registry;
let lines: unknown[];
let opened: AsyncDisposableStack;

beforeEach(() => {
  registry = new Registry();
  lines = [];
  opened = new AsyncDisposableStack();
});
afterEach(() => opened.disposeAsync());

const logger = createLogger(
  { name: 'test', level: 'debug' },
  { write: (line: string) => void lines.push(JSON.parse(line)) },
);

function createApp(entered: () => void = () => undefined): Hono {
  const app = new Hono();
  addErrorHandling(app, {
    logger,
    broken: (context) => answerJson(context, 500, {}),
    notFound: (context) => answerJson(context, 404, {}),
  });
  app.use('/things/*', async (context, next) => {
    if (context.req.header('x-key') === 'wrong') return answerJson(context, 401, {});
    await next();
    return undefined;
  });
  app.get('/things/:id', (context) => answerJson(context, 200, {}));
  app.post('/things', async (context) => {
    entered();
    await readJsonText(context, 1_000);
    return answerJson(context, 200, {});
  });
  app.get('/broken', () => Promise.reject(new Error('broken')));
  return app;
}

/** Serves an app whose clock advances by 20 ms at each reading. */
async function serve(app: Hono): Promise<number> {
  let nowMs = 0;
  const requests = createRequestMeter(registry, () => (nowMs += 20));
  const server = await serveHttp({ app, host: '127.0.0.1', port: 0, requests });
  opened.use(server);
  return server.port;
}

async function counted(): Promise<Record<string, number>> {
  const { values } = (await registry.getSingleMetric('http_requests_total')?.get()) ?? { values: [] };
  return Object.fromEntries(
    values.map(({ labels, value }) => [`${labels['method']} ${labels['route']} ${labels['status']}`, value]),
  );
}

it('requests are counted by the template of their route, whatever answers them, and what has none under one label', async () => {
  const port = await serve(createApp());
  const call = (path: string, init?: RequestInit) => fetch(`http://127.0.0.1:${port}${path}`, init);
  await call('/things/1');
  await call('/things/2');
  await call('/things/3', { method: 'HEAD' });
  await call('/things/4', { headers: { 'x-key': 'wrong' } });
  await call('/broken');
  await call('/nowhere/1');
  await call('/nowhere/2');
  expect(await counted()).toEqual({
    'GET /things/:id 200': 2,
    'HEAD /things/:id 200': 1,
    'GET /things/:id 401': 1,
    'GET /broken 500': 1,
    'GET none 404': 2,
  });
  const text = await registry.metrics();
  expect(text).toContain('http_request_seconds_sum{route="/things/:id",method="GET"} 0.06');
  expect(text).toContain('http_request_seconds_bucket{le="0.025",route="/things/:id",method="GET"} 3');
});

it('operator routes are counted once, though an app that counts is mounted behind the operators', async () => {
  const operations = createOperationsApp({ health: createHealth(), metrics: registry, logger });
  operations.operator.route('/', createApp());
  mountOperator(operations, createOperators(TOKEN));
  const port = await serve(operations.app);
  const call = (path: string, token: string) =>
    fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
  await call('/things/1', TOKEN);
  await call('/things/2', 'another');
  await call('/livez', '');
  expect(await counted()).toEqual({
    'GET /things/:id 200': 1,
    'GET /things/:id 403': 1,
    'GET /livez 200': 1,
  });
});

it('a client that hangs up within its body is counted as such, and is no error', async () => {
  const entered = Promise.withResolvers<void>();
  const port = await serve(createApp(entered.resolve));
  const console = vi.spyOn(globalThis.console, 'error');
  const socket = connect(port, '127.0.0.1');
  socket.write(
    'POST /things HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{',
  );
  await entered.promise;
  socket.destroy();
  await expect.poll(() => counted()).toEqual({ 'POST /things aborted': 1 });
  expect(lines).toMatchObject([{ level: 20, msg: 'the client hung up' }]);
  expect(console).not.toHaveBeenCalled();
  console.mockRestore();
});

it('what breaks is an error though the client, whose request was whole, has hung up', async () => {
  const [entered, goOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const app = createApp();
  app.post('/breaks-late', async (context) => {
    await readJsonText(context, 1_000);
    entered.resolve();
    await goOn.promise;
    throw new Error('broken');
  });
  const socket = connect(await serve(app), '127.0.0.1');
  socket.write(
    'POST /breaks-late HTTP/1.1\r\nhost: here\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}',
  );
  await entered.promise;
  socket.destroy();
  await new Promise((resolve) => socket.once('close', resolve));
  setImmediate(goOn.resolve);
  await expect.poll(() => lines).toMatchObject([{ level: 50, msg: 'request failed' }]);
});

it('what breaks while the client waits is an error', async () => {
  const port = await serve(createApp());
  await fetch(`http://127.0.0.1:${port}/broken`);
  expect(lines).toMatchObject([{ level: 50, msg: 'request failed' }]);
});
