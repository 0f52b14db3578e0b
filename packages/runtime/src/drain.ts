import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises';

/** How long the steps of a server's end may take. */
export interface DrainLimits {
  /** How long new connections are still accepted. */
  readonly delayMs: number;
  /** How long open connections may bring another request before idle ones are closed. */
  readonly lingerMs: number;
  /** When requests still in progress are asked to finish soon. */
  readonly hurryAfterMs: number;
  /** When requests still in progress are cut off. */
  readonly timeoutMs: number;
}

const LOOK_PAUSE_MS = 50;
/** The turns of the event loop in which a connection that waits for us is accepted, its request read and begun. */
const TURNS = 3;

/**
 * Follows a server's connections from its start on; gives the function that ends it without cutting off a request.
 *
 * HTTP can refuse further requests on a kept-alive connection only with an answer. So each connection gets `Connection:
 * close` with its next answer, and connections without requests are closed after a while: a request that was on its way
 * when we began is still answered. The port accepts new connections until then.
 */
export function followConnections(
  server: Server,
): (limits: DrainLimits, hurry: () => Promise<unknown>) => Promise<void> {
  const connections = new Set<Socket>();
  /** The newest request of each connection: pipelined requests are answered in their order. */
  const newest = new WeakMap<Socket, ServerResponse>();
  let isDraining = false;

  server.on('connection', (socket) => {
    connections.add(socket);
    socket.once('close', () => connections.delete(socket));
  });
  server.prependListener('request', ({ socket }, response) => {
    const before = newest.get(socket);
    newest.set(socket, response);
    if (!isDraining) return;
    // After an answer that closes the connection, Node would not send the later ones.
    if (before && !before.headersSent) before.shouldKeepAlive = true;
    response.shouldKeepAlive = false;
  });

  return async ({ delayMs, lingerMs, hurryAfterMs, timeoutMs }, hurry) => {
    isDraining = true;
    for (const socket of connections) {
      const response = newest.get(socket);
      if (response && !response.headersSent) response.shouldKeepAlive = false;
    }
    await delay(delayMs);
    const lingerUntilMs = performance.now() + Math.max(0, lingerMs - delayMs);
    while (connections.size > 0 && performance.now() < lingerUntilMs) await delay(LOOK_PAUSE_MS);
    // After a stall the timers come first: what has arrived meanwhile is read before anything is closed.
    for (let turn = 0; turn < TURNS; turn += 1) await nextTurn();
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    // Node does not count a connection as idle if it never brought a request.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    const look = setInterval(() => server.closeIdleConnections(), LOOK_PAUSE_MS);
    const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
    const ended = new AbortController();
    const deadline = delay(hurryAfterMs, undefined, { signal: ended.signal }).catch(() => undefined);
    await Promise.race([closed, deadline]);
    await Promise.all([closed, hurry()]).finally(() => {
      ended.abort();
      clearTimeout(cut);
      clearInterval(look);
    });
  };
}
