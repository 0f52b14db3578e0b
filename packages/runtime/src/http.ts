import type { Server } from 'node:http';
import { createAdaptorServer, type HttpBindings } from '@hono/node-server';
import type { Context, Env, Hono } from 'hono';
import { routePath } from 'hono/route';
import type { StatusCode } from 'hono/utils/http-status';
import { limitConnections } from './connection-limits.ts';
import { followConnections } from './drain.ts';
import type { Logger } from './logger.ts';
import { instrumentRequests, isCutOff, type RequestMeter, type ServerBindings } from './requests.ts';
import type { Endable } from './shutdown.ts';
import { allowUploads } from './uploads.ts';

/** A listening HTTP server; disposing of it finishes requests in flight, within a bound, and resets no connection. */
export interface HttpServer extends Endable {
  readonly port: number;
}

const limits = {
  headersTimeoutMs: 10_000,
  requestTimeoutMs: 15_000,
  keepAliveTimeoutMs: 65_000,
  checkingIntervalMs: 5_000,
  headerBytesMax: 16_384,
  lingerMs: 500,
  hurryAfterMs: 5_000,
  drainTimeoutMs: 10_000,
  connectionsMax: 10_000,
  answerTimeoutMs: 60_000,
} as const;

/** Listens, with limits on headers, time and connections; port 0 chooses a free one. */
export async function serveHttp<E extends Env>(options: {
  readonly app: Hono<E>;
  readonly host: string;
  readonly port: number;
  /** How long a whole request may take to arrive; slower ones are cut off. */
  readonly requestTimeoutMs?: number;
  readonly requests?: RequestMeter;
  /** For a port that strangers reach: how many connections one address may have, and answers are cut that take too long. */
  readonly connectionsPerAddressMax?: number;
  /** How long it still accepts new connections when it ends; 0 if absent. */
  readonly drainDelayMs?: number;
  /** How long open connections may bring another request when it ends; 500 if absent. */
  readonly lingerMs?: number;
  /**
   * Ends waits that requests don't depend on; called if requests are still in progress seconds after the server has
   * stopped listening.
   */
  readonly hurry?: () => Promise<unknown>;
}): Promise<HttpServer> {
  const requestTimeoutMs = options.requestTimeoutMs ?? limits.requestTimeoutMs;
  // The adaptor's type allows HTTP/2 too; without options it is a plain HTTP/1.1 server.
  const server = createAdaptorServer({
    fetch: (request, bindings) => {
      (bindings as ServerBindings).requests = options.requests;
      return options.app.fetch(request, bindings);
    },
    serverOptions: {
      maxHeaderSize: limits.headerBytesMax,
      headersTimeout: Math.min(limits.headersTimeoutMs, requestTimeoutMs),
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: limits.keepAliveTimeoutMs,
      connectionsCheckingInterval: Math.min(limits.checkingIntervalMs, requestTimeoutMs),
    },
  }) as Server;
  server.maxConnections = limits.connectionsMax;
  allowUploads(server);
  const { connectionsPerAddressMax: perAddressMax } = options;
  if (perAddressMax !== undefined) limitConnections(server, { ...limits, perAddressMax });
  const drain = followConnections(server);
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : options.port;
  const { drainDelayMs: delayMs = 0, lingerMs = limits.lingerMs, hurry = () => Promise.resolve() } = options;
  const { hurryAfterMs, drainTimeoutMs: timeoutMs } = limits;
  const bounds = { delayMs, lingerMs, hurryAfterMs, timeoutMs };
  return {
    port,
    endsWithinMs: Math.max(delayMs, lingerMs) + timeoutMs,
    [Symbol.asyncDispose]: () => drain(bounds, hurry),
  };
}

/** Answers an unexpected error with the API's own fixed answer, logged once; a path with dot segments is never routed. */
export function addErrorHandling<E extends Env>(
  app: Hono<E>,
  options: {
    readonly logger: Logger;
    readonly broken: (context: Context) => Response;
    readonly notFound: (context: Context) => Response;
  },
): void {
  app.onError((error, context) => {
    logFailure(options.logger, { error, context, text: 'request failed' });
    return options.broken(context);
  });
  app.notFound(options.notFound);
  app.use(instrumentRequests);
  app.use(async (context, next) => {
    if (hasDotSegment(context)) return options.notFound(context);
    await next();
    return undefined;
  });
}

/** Logs why a request failed; as an error, unless its client hung up before its body had arrived. */
export function logFailure(
  logger: Pick<Logger, 'debug' | 'error'>,
  failed: { readonly error: Error; readonly context: Context; readonly text: string },
): void {
  const fields = { err: failed.error, route: routePath(failed.context) };
  if (isCutOff(failed.context)) logger.debug(fields, 'the client hung up');
  else logger.error(fields, failed.text);
}

const dotSegment = /[/\\](?:\.|%2e){1,2}(?:[/\\?#]|$)/i;

/**
 * Whether the path, as it was sent, has a segment `.` or `..` in any spelling.
 *
 * A URL resolves such segments before routing, so that a reference of `..` would reach another operation.
 */
function hasDotSegment(context: Context): boolean {
  // If an app is called without a server there is no incoming message.
  const { incoming } = (context.env ?? {}) as Partial<HttpBindings>;
  const [path = ''] = (incoming?.url ?? '').split('?', 1);
  return dotSegment.test(path);
}

/** The headers of an answer in JSON, apart from its length. */
export const jsonHeaders = {
  'content-type': 'application/json; charset=UTF-8',
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
};

/** Answers with JSON whose numbers may carry their own text (see `jsonNumber` of the contracts). */
export function answerJson(
  context: Pick<Context, 'newResponse'>,
  status: StatusCode,
  body: unknown,
): Response {
  return context.newResponse(JSON.stringify(body), {
    status,
    headers: jsonHeaders,
  });
}
