import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/** How long a server's end may take. */
export interface DrainLimits {
  /** For how long new connections are still taken, whether there are any or not. */
  readonly delayMs: number;
  /** For how long open connections may bring another request before those that bring none are closed. */
  readonly lingerMs: number;
  /** After how long requests that are still in progress are to hurry. */
  readonly hurryAfterMs: number;
  /** After how long requests that are still in progress are cut off. */
  readonly timeoutMs: number;
}

const LOOK_PAUSE_MS = 50;

/**
 * Follows a server's connections from its start on; gives what ends it without cutting off a request.
 *
 * HTTP has no way to refuse another request on a connection that is kept alive but to say so in an answer. So each connection
 * gets `Connection: close` with its next answer, and those that ask for nothing are closed after a while: a request that was
 * on its way when we began is still answered. The port takes new connections until then.
 */
export function followConnections(
  server: Server,
): (limits: DrainLimits, hurry: () => Promise<unknown>) => Promise<void> {
  const connections = new Set<Socket>();
  /** The newest request of each connection: what is asked without waiting for answers is answered in its order. */
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
    // Node answers nothing on a connection after the answer that closes it.
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
    const closed = new Promise<void>((resolve) => {
      server.close(() => resolve());
    });
    // Node does not count as idle what was opened and never asked for anything.
    for (const socket of connections) if (socket.bytesRead === 0) socket.destroy();
    const look = setInterval(() => server.closeIdleConnections(), LOOK_PAUSE_MS);
    const cut = setTimeout(() => server.closeAllConnections(), timeoutMs);
    const ended = new AbortController();
    const patience = delay(hurryAfterMs, undefined, { signal: ended.signal }).catch(() => undefined);
    await Promise.race([closed, patience]);
    await Promise.all([closed, hurry()]).finally(() => {
      ended.abort();
      clearTimeout(cut);
      clearInterval(look);
    });
  };
}
