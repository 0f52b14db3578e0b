import type { IncomingMessage, Server } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import type { Context } from 'hono';

/** How much of a port one client may take. */
export interface ConnectionLimits {
  /** Further connections from an address that has so many are closed unanswered. */
  readonly perAddressMax: number;
  /** How long a request may take from its headers until its answer was sent; longer ones are cut off. */
  readonly answerTimeoutMs: number;
}

const slow = new WeakSet<IncomingMessage>();

/** Lets the answer to a request take as long as it does: for files, and for clients that are known. */
export function allowSlowAnswer(context: Pick<Context, 'env'>): void {
  // If an app is called without a server there is no incoming message.
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>;
  if (incoming) slow.add(incoming);
}

/** Keeps clients that open connections without end, or read their answers slowly or never, from a server's others. */
export function limitConnections(server: Server, { perAddressMax, answerTimeoutMs }: ConnectionLimits): void {
  const counts = new Map<string, number>();
  server.on('connection', (socket) => {
    const { remoteAddress: address } = socket;
    if (address === undefined) return;
    const count = counts.get(address) ?? 0;
    if (count >= perAddressMax) {
      socket.destroy();
      return;
    }
    counts.set(address, count + 1);
    socket.once('close', () => {
      const left = (counts.get(address) ?? 1) - 1;
      if (left === 0) counts.delete(address);
      else counts.set(address, left);
    });
  });
  server.on('request', (request, response) => {
    const cut = setTimeout(() => {
      if (!slow.has(request)) request.socket.destroy();
    }, answerTimeoutMs).unref();
    response.once('close', () => clearTimeout(cut));
  });
}
