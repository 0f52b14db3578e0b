import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterEach, expect, it } from 'vitest';
import { start } from './start.ts';

type Surroundings = Parameters<typeof start>[1];
type Stack = Awaited<ReturnType<Surroundings['open']>>;

const cleanUp: (() => unknown)[] = [];
afterEach(async () => {
  for (const work of cleanUp.splice(0).reverse()) await work();
});

async function serve(listener: RequestListener): Promise<{ readonly server: Server; readonly url: string }> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  cleanUp.push(() => server.close());
  return { server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

async function surroundings(open: Surroundings['open']) {
  const root = await mkdtemp(path.join(os.tmpdir(), 'pesewa-start-'));
  cleanUp.push(() => rm(root, { recursive: true, force: true }));
  const interrupted = Promise.withResolvers<NodeJS.Signals>();
  return {
    root,
    open,
    interrupted: interrupted.promise,
    interrupt: interrupted.resolve,
    say: () => undefined,
  };
}

const signed = { body: '{"data":{}}', headers: { 'webhook-id': 'dl-1', 'webhook-signature': 'v1,x' } };
const delivery = {
  id: 'dl-1',
  merchantId: 'demo',
  reference: 'po-1',
  merchantReference: 'order-1',
  kind: 'payout-completed',
  state: 'delivered',
  attempts: 1,
  createdAt: '2026-11-01T08:00:00.000Z',
  dueAt: null,
  lastStatus: 200,
  lastError: null,
  reason: null,
};

/** A stack of which only the webhooks of `demo` can be asked for. */
function stackOf(dispatcherUrl: string): Stack {
  const nowhere = 'http://127.0.0.1:9';
  const runFile = {
    consoleUrl: 'http://127.0.0.1:4080',
    transferUrl: nowhere,
    collectionsUrl: nowhere,
    ingressUrl: nowhere,
    simulatorUrl: nowhere,
    operations: { ledger: nowhere, reconciler: nowhere, 'webhook-dispatcher': dispatcherUrl },
    operatorToken: 'a-token-of-this-test',
    approverToken: 'another-token-of-this-test',
    rails: [],
    mongodbUrl: 'mongodb://127.0.0.1:9',
    kafkaBrokers: [],
    schemaRegistryUrl: nowhere,
    pids: {},
    merchants: [],
  };
  return { runFile: () => runFile, [Symbol.asyncDispose]: async () => undefined } as unknown as Stack;
}

it('forwards the webhooks of demo to the address of --webhooks-to, until it ends', async () => {
  const arrived = Promise.withResolvers<Pick<IncomingMessage, 'method' | 'headers'>>();
  const receiver = await serve((request, response) => {
    arrived.resolve(request);
    response.end();
  });
  const dispatcher = await serve(({ url = '' }, response) => {
    const body = url.endsWith('/sign') ? signed : { items: [delivery], next: null };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body));
  });
  const { interrupt, ...around } = await surroundings(async () => stackOf(dispatcher.url));
  const started = start(['--no-demo', '--webhooks-to', receiver.url], around);
  cleanUp.push(() => interrupt('SIGTERM'));
  expect(await arrived.promise).toMatchObject({ method: 'POST', headers: signed.headers });
  interrupt('SIGTERM');
  expect(await started).toBe(0);
  const connections = () =>
    new Promise<number>((resolve) => dispatcher.server.getConnections((_error, count) => resolve(count)));
  await expect.poll(connections).toBe(0);
});

it('says where the console is, and with which tokens two people sign in', async () => {
  const said = Promise.withResolvers<string>();
  const { interrupt, ...around } = await surroundings(async () => stackOf('http://127.0.0.1:9'));
  const started = start(['--no-demo'], { ...around, say: said.resolve });
  cleanUp.push(() => interrupt('SIGTERM'));
  expect(await said.promise).toMatch(
    /^Console +http:\/\/127\.0\.0\.1:4080: .*\boperatorToken\b.*\bapproverToken\b/m,
  );
  interrupt('SIGTERM');
  expect(await started).toBe(0);
});

it.each(['localhost:8080', 'ftp://localhost', 'http://user:secret@localhost:8080'])(
  'starts nothing for --webhooks-to %s',
  async (url) => {
    const around = await surroundings(() => Promise.reject(new Error('it was started')));
    await expect(start(['--webhooks-to', url], around)).rejects.toThrow(
      '--webhooks-to: write an http or https address without a password, such as http://localhost:8080',
    );
  },
);
