import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net';
import { parentPort, workerData } from 'node:worker_threads';
import type { Received, ReceiverOptions } from './webhook-receivers.ts';

// The thread of webhook-receivers.ts: opens the endpoints, says where they are, and gives what they received when asked.

const DRIP_MS = 1_000;
const { kind, count } = workerData as ReceiverOptions;
const received: Received[] = [];

function answerAtOnce(request: IncomingMessage, response: ServerResponse): void {
  request.resume().on('end', () => {
    received.push({ id: String(request.headers['webhook-id']), atMs: Date.now() });
    response.end();
  });
}

function answerByTheByte(request: IncomingMessage, response: ServerResponse): void {
  request.resume();
  response.writeHead(200);
  response.write('.');
  const dripping = setInterval(() => response.write('.'), DRIP_MS);
  response.on('close', () => clearInterval(dripping));
}

function open(): Server {
  if (kind === 'living') return createServer(answerAtOnce);
  if (kind === 'dripping') return createServer(answerByTheByte);
  // Reads what comes, so that a client that connects takes the request for delivered, and never answers.
  return createTcpServer((socket) => socket.resume().on('error', () => undefined));
}

function listen(): Promise<string> {
  const server = open();
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      resolve(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    });
  });
}

const origins = await Promise.all(Array.from({ length: count }, listen));
parentPort?.on('message', () => parentPort?.postMessage(received.splice(0)));
parentPort?.postMessage(origins);
