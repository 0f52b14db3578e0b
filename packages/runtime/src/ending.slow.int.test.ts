import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createSupervisor, eventually, reservePorts } from '@pesewa/testkit';
import { expect, it, onTestFinished } from 'vitest';

const TOKEN = 'token-of-the-operator';
const service = fileURLToPath(new URL('./fixtures/ending-service.ts', import.meta.url));

/** A process of the fixture, with its log. */
async function startProcess(environment: Readonly<Record<string, string>> = {}) {
  const supervisor = createSupervisor();
  onTestFinished(() => supervisor.close());
  const held = await reservePorts(2);
  const [port = 0, operationsPort = 0] = held.map((one) => one.port);
  await Promise.all(held.map((one) => one.release()));
  const lines: Record<string, unknown>[] = [];
  const child = await supervisor.spawnChild({
    name: 'ending',
    command: process.execPath,
    args: [service],
    env: {
      PATH: process.env['PATH'],
      NODE_ENV: 'development',
      PORT: String(port),
      OPERATIONS_PORT: String(operationsPort),
      OPERATOR_TOKEN: TOKEN,
      ...environment,
    },
    onLine: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  const operations = (path: string) =>
    fetch(`http://127.0.0.1:${operationsPort}${path}`, { headers: { authorization: `Bearer ${TOKEN}` } });
  return {
    child,
    port,
    operations,
    /** The logged steps, regardless of order: the last lines of a process are not always written in their order. */
    steps: () =>
      lines
        .filter(({ step }) => step !== undefined)
        .map(({ step, msg }) => `${String(step)}: ${String(msg)}`)
        .toSorted(),
    said: (text: string) => lines.some(({ msg }) => msg === text),
  };
}

/** A ready process of the fixture. */
async function openProcess(environment: Readonly<Record<string, string>> = {}) {
  const started = await startProcess(environment);
  await eventually(async () => expect((await started.operations('/readyz')).status).toBe(200));
  return started;
}

type Process = Awaited<ReturnType<typeof openProcess>>;

/** Clients that send without pause over kept-alive connections; new connections go to the current `target`. */
function startClients(target: () => Pick<Process, 'port'>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 8 });
  agent.createConnection = () => connect(target().port, '127.0.0.1');
  const seen = { answers: 0, failures: [] as unknown[], isOver: false };
  const ask = (path: string) =>
    new Promise<void>((resolve) => {
      const asked = get({ agent, path }, (response) => {
        if (response.statusCode !== 200) seen.failures.push(response.statusCode);
        response.resume().once('end', () => {
          seen.answers += 1;
          resolve();
        });
      });
      asked.once('error', (error) => {
        seen.failures.push(error);
        resolve();
      });
    });
  const clients = Array.from({ length: 8 }, async (_, at) => {
    while (!seen.isOver) await ask(at === 0 ? '/slow' : '/quick');
  });
  return {
    seen,
    end: async () => {
      seen.isOver = true;
      await Promise.all(clients);
      agent.destroy();
    },
  };
}

it('a process that ends loses no request, and says how it ends', async () => {
  const [ending, staying] = await Promise.all([openProcess(), openProcess()]);
  let target = ending;
  const { seen, end } = startClients(() => target);
  await eventually(() => expect(seen.answers).toBeGreaterThan(200));
  target = staying;
  ending.child.signal('SIGTERM');
  await eventually(async () => {
    const readiness = await ending.operations('/readyz');
    expect([readiness.status, await readiness.json()]).toEqual([
      503,
      { healthy: false, failures: { serving: 'draining' }, details: {} },
    ]);
  });
  // The process is alive, and answers probes, until everything else is closed.
  expect((await ending.operations('/livez')).status).toBe(200);
  expect((await ending.operations('/metrics')).status).toBe(200);
  expect((await ending.operations('/things')).status).toBe(503);
  expect(await ending.child.exited).toEqual({ code: 0, signal: null });
  await end();
  expect(seen.failures).toEqual([]);
  expect(ending.steps()).toEqual([
    'operations port: closed',
    'operator requests: closed',
    'public port: closed',
    'step: closed',
  ]);
});

it('a step that breaks keeps none after it from its turn, and is named', async () => {
  const { child, steps } = await openProcess({ STEP: 'breaks' });
  child.signal('SIGTERM');
  expect(await child.exited).toEqual({ code: 1, signal: null });
  expect(steps()).toEqual([
    'operations port: closed',
    'operator requests: closed',
    'public port: closed',
    'step: broke while it closed',
  ]);
});

it('a second signal ends it at once', async () => {
  const { child, said, operations } = await openProcess({ STEP: 'hangs' });
  child.signal('SIGTERM');
  await eventually(async () => expect((await operations('/readyz')).status).toBe(503));
  child.signal('SIGTERM');
  expect(await child.exited).toEqual({ code: 1, signal: null });
  expect(said('ending at once')).toBe(true);
});

it('takes connections for the time of its drain delay, each for one request', async () => {
  const { child, port, operations } = await openProcess({ DRAIN_DELAY_MS: '2000' });
  child.signal('SIGTERM');
  await eventually(async () => expect((await operations('/readyz')).status).toBe(503));
  const answer = await fetch(`http://127.0.0.1:${port}/quick`);
  expect([answer.status, answer.headers.get('connection')]).toEqual([200, 'close']);
  expect(await child.exited).toEqual({ code: 0, signal: null });
});

it('one that is to end while it starts never serves: what is open is closed, what comes later too', async () => {
  const { child, steps, said } = await startProcess({ STEP: 'starts' });
  await eventually(() => expect(said('it takes its time to start')).toBe(true));
  child.signal('SIGTERM');
  expect(await child.exited).toEqual({ code: 0, signal: null });
  expect(said('ready')).toBe(false);
  expect(said('could not start')).toBe(false);
  expect(steps()).toContain('step: closed');
});
