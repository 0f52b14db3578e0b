import { Agent, createServer, request as httpRequest, type Server } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { type DrainLimits, followConnections } from './drain.ts';

const limits: DrainLimits = { delayMs: 0, lingerMs: 300, hurryAfterMs: 20_000, timeoutMs: 20_000 };

/** A server that answers `/held` when the test lets it and all other paths at once, with the function that ends it. */
async function openServer(hurry: () => Promise<unknown> = () => Promise.resolve()) {
  const held: (() => void)[] = [];
  const server: Server = createServer((request, response) => {
    if (request.url === '/held') held.push(() => response.end('held'));
    else setImmediate(() => response.end(request.url));
  });
  server.keepAliveTimeout = 60_000;
  const drain = followConnections(server);
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  onTestFinished(() => server.closeAllConnections());
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    held,
    drain: (over: Partial<DrainLimits> = {}) => drain({ ...limits, ...over }, hurry),
  };
}

/** A connection that a test writes any bytes to; records the answer, and whether it was ended or reset. */
async function openConnection(port: number) {
  const socket: Socket = connect(port, '127.0.0.1');
  let text = '';
  let failure: NodeJS.ErrnoException | undefined;
  socket.on('data', (bytes) => {
    text += bytes.toString();
  });
  socket.on('error', (error) => {
    failure = error;
  });
  const closed = new Promise<void>((resolve) => void socket.once('close', () => resolve()));
  await new Promise<void>((resolve) => void socket.once('connect', resolve));
  return {
    ask: (...paths: readonly string[]) =>
      socket.write(paths.map((path) => `GET ${path} HTTP/1.1\r\nHost: a\r\n\r\n`).join('')),
    closed,
    failure: () => failure,
    text: () => text,
    includes: (part: string) => expect.poll(() => text, { timeout: 5_000 }).toContain(part),
  };
}

/** Keeps the event loop from turning. */
function standStill(durationMs: number): void {
  const untilMs = performance.now() + durationMs;
  while (performance.now() < untilMs);
}

const closings = (text: string) => text.match(/connection: close/gi)?.length ?? 0;

it('answers what is in progress, says that it was the last, and takes no new connection', async () => {
  const { port, held, drain, server } = await openServer();
  const connection = await openConnection(port);
  connection.ask('/held');
  await expect.poll(() => held.length).toBe(1);
  const drained = drain();
  await expect.poll(() => server.listening).toBe(false);
  held[0]?.();
  await connection.closed;
  await drained;
  expect(connection.failure()).toBeUndefined();
  expect(connection.text()).toContain('held');
  expect(closings(connection.text())).toBe(1);
});

it('answers requests that arrived while the process stood still for longer than it lingers', async () => {
  const { port, drain } = await openServer();
  const [idle, fresh, other] = await Promise.all([
    openConnection(port),
    openConnection(port),
    openConnection(port),
  ]);
  idle.ask('/first');
  await idle.includes('/first');
  const drained = drain({ lingerMs: 300 });
  other.ask('/other');
  await other.includes('/other');
  // An immediate is followed by timers, not by what has arrived.
  await new Promise((resolve) => void setImmediate(resolve));
  idle.ask('/second');
  fresh.ask('/third');
  standStill(500);
  await Promise.all([idle.closed, fresh.closed, drained]);
  expect([idle.failure(), fresh.failure()]).toEqual([undefined, undefined]);
  expect(idle.text()).toContain('/second');
  expect(fresh.text()).toContain('/third');
});

it('answers another request of a connection that was idle, and closes it with that', async () => {
  const { port, drain } = await openServer();
  const connection = await openConnection(port);
  connection.ask('/first');
  await connection.includes('/first');
  expect(closings(connection.text())).toBe(0);
  const drained = drain();
  connection.ask('/second');
  await connection.closed;
  await drained;
  expect(connection.failure()).toBeUndefined();
  expect(connection.text()).toContain('/second');
  expect(closings(connection.text())).toBe(1);
});

it('answers all that was asked without waiting for answers, and closes with the last', async () => {
  const { port, held, drain } = await openServer();
  const connection = await openConnection(port);
  connection.ask('/held', '/a');
  await expect.poll(() => held.length).toBe(1);
  const drained = drain();
  connection.ask('/b', '/c');
  await new Promise(setImmediate);
  await expect.poll(() => held.length).toBe(1);
  held[0]?.();
  await connection.closed;
  await drained;
  expect(connection.failure()).toBeUndefined();
  for (const part of ['held', '/a', '/b', '/c']) expect(connection.text()).toContain(part);
  expect(closings(connection.text())).toBe(1);
});

it('closes what asks for nothing once it has lingered, and what never asked for anything', async () => {
  const { port, drain } = await openServer();
  const used = await openConnection(port);
  used.ask('/first');
  await used.includes('/first');
  const fresh = await openConnection(port);
  const startedMs = performance.now();
  await drain();
  await Promise.all([used.closed, fresh.closed]);
  expect(used.failure()).toBeUndefined();
  expect(performance.now() - startedMs).toBeGreaterThan(limits.lingerMs - 50);
});

it('waits for nothing where there is no connection', async () => {
  const { drain } = await openServer();
  const startedMs = performance.now();
  await drain({ lingerMs: 20_000 });
  expect(performance.now() - startedMs).toBeLessThan(5_000);
});

it('has those that take long hurry, and cuts off what does not end', async () => {
  let hurried = 0;
  const { port, held, drain } = await openServer(() => Promise.resolve((hurried += 1)));
  const connection = await openConnection(port);
  connection.ask('/held');
  await expect.poll(() => held.length).toBe(1);
  const drained = drain({ hurryAfterMs: 50, timeoutMs: 400 });
  await expect.poll(() => hurried).toBe(1);
  await connection.closed;
  await drained;
  expect(connection.text()).toBe('');
});

it('loses no request of clients that never pause, where new connections go elsewhere', async () => {
  const [ending, staying] = [await openServer(), await openServer()];
  let { port } = ending;
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  agent.createConnection = () => connect(port, '127.0.0.1');
  const failures: unknown[] = [];
  let answers = 0;
  const ask = () =>
    new Promise<void>((resolve) => {
      const asked = httpRequest({ agent, path: '/x' }, (response) => {
        response.resume().once('end', () => {
          answers += 1;
          resolve();
        });
      });
      asked.once('error', (error) => {
        failures.push(error);
        resolve();
      });
      asked.end();
    });
  const clients = Array.from({ length: 8 }, async () => {
    while (ending.server.listening) await ask();
  });
  await expect.poll(() => answers).toBeGreaterThan(100);
  ({ port } = staying);
  await ending.drain();
  await Promise.all(clients);
  agent.destroy();
  expect(failures).toEqual([]);
});
