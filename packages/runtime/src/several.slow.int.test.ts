import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { createSupervisor, eventually, reservePorts } from '@pesewa/testkit';
import { expect, it, onTestFinished } from 'vitest';

const OPERATOR_TOKEN = 'token-of-the-operator';
const program = fileURLToPath(new URL('./fixtures/two-services.ts', import.meta.url));
const common = { PATH: process.env['PATH'], NODE_ENV: 'development', OPERATOR_TOKEN };
const headers = { authorization: `Bearer ${OPERATOR_TOKEN}` };

/** A process of two services that are ready, and its log. */
async function openProcess(own: Readonly<Record<string, string>> = {}) {
  const supervisor = createSupervisor();
  onTestFinished(() => supervisor.close());
  const held = await reservePorts(2);
  const ports = held.map(({ port }) => String(port));
  await Promise.all(held.map((one) => one.release()));
  const [FIRST_OPERATIONS_PORT = '', SECOND_OPERATIONS_PORT = ''] = ports;
  const lines: Record<string, unknown>[] = [];
  const child = await supervisor.spawnChild({
    name: 'both',
    command: process.execPath,
    args: [program],
    env: {
      ...common,
      FIRST_PORT: '1',
      FIRST_OPERATIONS_PORT,
      SECOND_PORT: '2',
      SECOND_OPERATIONS_PORT,
      ...own,
    },
    onLine: (line) => void lines.push(JSON.parse(line) as Record<string, unknown>),
  });
  const [first = '', second = ''] = ports.map((port) => `http://127.0.0.1:${port}`);
  for (const url of [first, second])
    await eventually(async () => expect((await fetch(`${url}/readyz`)).status).toBe(200));
  const said = () => lines.map(({ name, msg }) => `${String(name)}: ${String(msg)}`);
  return { child, first, second, said };
}

const start =
  (...given: readonly string[]) =>
  (own: Readonly<Record<string, string>>) =>
    spawnSync(process.execPath, [program, ...given], { encoding: 'utf8', env: { ...common, ...own } });

it('each service has its own log lines and metrics, and all show those of the process', async () => {
  const { first, second, said } = await openProcess();
  expect(said()).toEqual(expect.arrayContaining(['first: ready', 'second: ready']));
  const [ofFirst = '', ofSecond = ''] = await Promise.all(
    [first, second].map(async (url) => (await fetch(`${url}/metrics`)).text()),
  );
  expect(ofFirst).toMatch(/^first_total 1$/m);
  expect(ofFirst).not.toContain('second_total');
  expect(ofSecond).toMatch(/^second_total 1$/m);
  for (const text of [ofFirst, ofSecond]) {
    expect(text).toMatch(/^process_cpu_seconds_total /m);
    expect(text).toMatch(/^http_requests_total\{/m);
  }
});

it('operations listen on a host of their own', async () => {
  // No machine has this address, which is reserved for documents.
  const { first } = await openProcess({ HOST: '192.0.2.1', OPERATIONS_HOST: '127.0.0.1' });
  expect((await fetch(`${first}/readyz`)).status).toBe(200);
});

it('in production the shared token may look only, at every service', async () => {
  const { first, second } = await openProcess({ NODE_ENV: 'production' });
  for (const url of [first, second])
    expect(await (await fetch(`${url}/operator`, { headers })).json()).toMatchObject({ role: 'viewer' });
});

it('a signal closes every service in its order, and the process ends with 0', async () => {
  const { child, said } = await openProcess();
  expect(await child.stop()).toEqual({ code: 0, signal: null });
  expect(said()).toContain('both: closing');
  for (const name of ['first', 'second'])
    expect(said().filter((line) => line === `${name}: closed`).length).toBe(3);
});

it('what one service can not go on after ends all of them', async () => {
  const { child, second, said } = await openProcess();
  await fetch(`${second}/abort`, { method: 'POST', headers }).catch(() => undefined);
  expect(await child.exited).toEqual({ code: 1, signal: null });
  expect(said()).toContain('second: cannot go on, ending the process');
});

it('a service that can not start ends all of them, each in its order', async () => {
  const [taken] = await reservePorts(1);
  onTestFinished(() => taken?.release());
  const ports = { FIRST_PORT: '1', SECOND_PORT: '2', FIRST_OPERATIONS_PORT: '0' };
  const ended = start()({ ...ports, SECOND_OPERATIONS_PORT: String(taken?.port) });
  expect(ended.status).toBe(1);
  expect(ended.stdout).toMatch(/"name":"second".*"msg":"could not start"/);
  for (const name of ['first', 'second'])
    expect(ended.stdout).toMatch(new RegExp(`"name":"${name}".*"step":"step".*"msg":"closed"`));
});

it('problems of all configurations are listed before anything starts', () => {
  const ended = start()({ FIRST_PORT: 'x', SECOND_PORT: '2', FIRST_OPERATIONS_PORT: '0' });
  expect(ended).toMatchObject({ status: 2, stdout: '' });
  expect(ended.stderr).toMatch(/^first: .*\n {2}PORT: /m);
  expect(ended.stderr).toMatch(/^second: .*\n {2}OPERATIONS_PORT: /m);
});

it('prepare does what each service needs done once', () => {
  const ports = {
    FIRST_PORT: '1',
    SECOND_PORT: '2',
    FIRST_OPERATIONS_PORT: '0',
    SECOND_OPERATIONS_PORT: '0',
  };
  const ended = start('prepare')(ports);
  expect(ended).toMatchObject({
    status: 0,
    stdout: 'first: first is prepared\nsecond: second is prepared\n',
  });
});
