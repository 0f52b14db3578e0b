import { EventEmitter } from 'node:events';
import { createRequire } from 'node:module';
import { expect, it, vi } from 'vitest';
import './kafkajs.ts';

const require = createRequire(import.meta.url);

interface Connection {
  connect(): Promise<unknown>;
  disconnect(): Promise<unknown>;
  send(exchange: object): Promise<unknown>;
}

const ConnectionClass = require('kafkajs/src/network/connection') as new (options: object) => Connection;
const BrokerClass = require('kafkajs/src/broker') as new (options: object) => { connect(): Promise<void> };

const quiet = { debug: () => undefined, error: () => undefined, warn: () => undefined };
const logger = { namespace: () => quiet };

/** A socket that is connected at once; the test plays its other side. */
function openSocket(onConnect: () => void) {
  const requests: Buffer[] = [];
  const socket = Object.assign(new EventEmitter(), {
    write: (bytes: Buffer | string) => void requests.push(Buffer.from(bytes as string, 'binary')),
    destroy: vi.fn<() => void>(),
    requests,
  });
  queueMicrotask(onConnect);
  return socket;
}

/** A request without content, whose answer is any text. */
const question = {
  request: {
    apiKey: 3,
    apiVersion: 1,
    apiName: 'Metadata',
    encode: async () => ({ buffer: Buffer.alloc(0) }),
  },
  response: {
    decode: async (bytes: Buffer) => ({ text: bytes.toString() }),
    parse: async ({ text }: { readonly text: string }) => text,
  },
};

/** The answer to a request, framed as a broker would. */
function answerTo(request: Buffer | undefined, text: string): Buffer {
  const bytes = Buffer.alloc(8 + text.length);
  bytes.writeInt32BE(bytes.length - 4, 0);
  bytes.writeInt32BE(request?.readInt32BE(8) ?? 0, 4);
  bytes.write(text, 8);
  return bytes;
}

/** A connection with all sockets that it has opened; the first one may never connect. */
function openConnection(first: 'connects' | 'waits' = 'connects') {
  const sockets: ReturnType<typeof openSocket>[] = [];
  const connection = new ConnectionClass({
    host: 'broker',
    port: 1,
    clientId: 'c',
    logger,
    requestTimeout: 1_000,
    connectionTimeout: 1_000,
    socketFactory: ({ onConnect }: { readonly onConnect: () => void }) => {
      const waits = first === 'waits' && sockets.length === 0;
      const socket = openSocket(waits ? () => undefined : onConnect);
      sockets.push(socket);
      return socket;
    },
  });
  const ask = async (socket: number) => {
    const answer = connection.send(question);
    await expect.poll(() => sockets[socket]?.requests).toHaveLength(1);
    return { answer, request: sockets[socket]?.requests[0] };
  };
  return { connection, sockets, ask };
}

const closed = { name: 'KafkaJSConnectionClosedError' };

it('a reopened connection does not continue with an answer that its former socket had half read', async () => {
  const { connection, sockets, ask } = openConnection();
  await connection.connect();
  const first = await ask(0);
  const cut = answerTo(first.request, 'an answer of which a half arrives');
  sockets[0]?.emit('data', cut.subarray(0, 20));
  sockets[0]?.emit('end');
  await expect(first.answer).rejects.toMatchObject(closed);

  await connection.connect();
  const second = await ask(1);
  sockets[1]?.emit('data', answerTo(second.request, 'whole'));
  expect(await second.answer).toBe('whole');
  await connection.disconnect();
});

it('a connection that is closed fails what waits on it, and what an old socket still says is nothing to the next', async () => {
  const { connection, sockets, ask } = openConnection();
  await connection.connect();
  const first = await ask(0);
  const [failure] = await Promise.all([
    first.answer.catch((error: unknown) => error),
    connection.disconnect(),
  ]);
  expect(failure).toMatchObject(closed);
  expect(sockets[0]?.destroy).toHaveBeenCalledTimes(1);

  await connection.connect();
  const second = await ask(1);
  sockets[0]?.emit('end');
  sockets[0]?.emit('error', new Error('late'));
  sockets[1]?.emit('data', answerTo(second.request, 'still there'));
  expect(await second.answer).toBe('still there');
  await connection.disconnect();
});

it('a connection that is closed while it is opened is given up, and can be opened again', async () => {
  const { connection, sockets, ask } = openConnection('waits');
  const opening = connection.connect().catch((error: unknown) => error);
  sockets[0]?.emit('end');
  expect(await opening).toMatchObject(closed);
  await connection.connect();
  const { answer, request } = await ask(1);
  sockets[1]?.emit('data', answerTo(request, 'open'));
  expect(await answer).toBe('open');
  await connection.disconnect();
});

it('a connection that fails while it is opened says why', async () => {
  const { connection, sockets } = openConnection('waits');
  const opening = connection.connect().catch((error: unknown) => error);
  sockets[0]?.emit('end');
  sockets[0]?.emit('error', new Error('no TLS here'));
  expect(String(await opening)).toContain('no TLS here');
});

it('a connection that two ask for at once is opened once', async () => {
  const { connection, sockets } = openConnection();
  await Promise.all([connection.connect(), connection.connect()]);
  expect(sockets).toHaveLength(1);
  await connection.disconnect();
});

it('a broker whose first questions are not answered is disconnected from', async () => {
  const destroy = vi.fn<() => Promise<void>>(async () => undefined);
  const silent = new Error('no answer');
  const broker = new BrokerClass({
    logger,
    connectionPool: {
      host: 'broker',
      port: 1,
      connectionTimeout: 1_000,
      isConnected: () => false,
      getConnection: async () => ({}),
      send: async () => Promise.reject(silent),
      destroy,
    },
  });
  await expect(broker.connect()).rejects.toBe(silent);
  expect(destroy).toHaveBeenCalledTimes(1);
});
