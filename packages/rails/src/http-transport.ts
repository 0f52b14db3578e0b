import { type LookupAddress, lookup } from 'node:dns';
import type { LookupFunction } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { DecompressionError, decompress, readRailText } from './rail-text.ts';

/** One HTTP request to a rail; a redirect is an answer and is not followed. */
export interface TransportRequest {
  readonly method: 'GET' | 'POST';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  /** One deadline for connecting, sending and reading to the last byte. */
  readonly timeoutMs: number;
  /** The largest answer that is read, also decompressed, {@link ANSWER_BYTES_MAX} by default; a larger one counts as unreadable. */
  readonly bytesMax?: number;
}

/** An answer that was read completely. */
export interface TransportResponse {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly bodyText: string;
}

/** The port to the network: resolves with any complete answer, rejects with a {@link TransportError}. */
export type Transport = (request: TransportRequest) => Promise<TransportResponse>;

/** An exchange without a complete answer; `sent` is false only if no byte of the request can have left. */
export class TransportError extends Error {
  override readonly name = 'TransportError';
  readonly sent: boolean;
  /** Whether the rail did answer, though unreadably: then the rail is not down. */
  readonly answered: boolean;

  constructor(message: string, sent: boolean, answered = false) {
    super(message);
    this.sent = sent;
    this.answered = answered;
  }
}

/** The default limit for the size of an answer. */
export const ANSWER_BYTES_MAX = 65_536;

const KEEP_ALIVE_TIMEOUT_MS = 4_000;
const HEADER_BYTES_MAX = 16_384;

/** Opens keep-alive connections over HTTP/1.1, at most so many per origin. */
export function createHttpTransport(options: {
  readonly connectionsMax: number;
  readonly connectTimeoutMs: number;
  /** A clock that goes on while the process is suspended, in milliseconds since an arbitrary moment. */
  readonly monotonicMs: () => number;
}) {
  const agent = new Agent({
    connections: options.connectionsMax,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    // With HTTP/2 a request can move between streams and sessions, so that we could not know whether it was sent.
    allowH2: false,
    // Names are resolved by the system: a rail may be reached by the hosts file, which can override its public name, or by a
    // search domain, and resolving over the network knows neither.
    connect: { timeout: options.connectTimeoutMs, lookup: createSharedLookup() },
  });
  return {
    transport: (request: TransportRequest) => exchangeOver(agent, request, options.monotonicMs),
    [Symbol.asyncDispose]: () => agent.close(),
  };
}

function exchangeOver(
  agent: Agent,
  request: TransportRequest,
  monotonicMs: () => number,
): Promise<TransportResponse> {
  const { promise, resolve, reject } = Promise.withResolvers<TransportResponse>();
  const transport = createHandler({ resolve, reject }, request, monotonicMs);
  const url = new URL(request.url);
  try {
    agent.dispatch(
      {
        origin: url.origin,
        path: `${url.pathname}${url.search}`,
        method: request.method,
        // Without this header a server may compress (RFC 9110 12.5.3); those that compress all the same are read too.
        headers: { 'accept-encoding': 'identity', ...request.headers },
        body: request.body ?? null,
      },
      transport.handler,
    );
  } catch (error) {
    transport.fail(describe(error));
  }
  return promise;
}

interface Completion {
  readonly resolve: (response: TransportResponse) => void;
  readonly reject: (error: TransportError) => void;
}

/**
 * Handles one request through undici.
 *
 * `onRequestStart` is called right before the first byte is written: a failure before that (in the queue, name
 * resolution, connecting) has certainly not reached the rail.
 */
function createHandler(
  completion: Completion,
  { timeoutMs, bytesMax = ANSWER_BYTES_MAX }: Pick<TransportRequest, 'timeoutMs' | 'bytesMax'>,
  monotonicMs: () => number,
) {
  const deadlineMs = monotonicMs() + timeoutMs;
  let controller: Dispatcher.DispatchController | undefined;
  let finished = false;
  let status = 0;
  let headers: ResponseHeaders = {};
  let length = 0;
  const chunks: Buffer[] = [];

  const finish = (end: () => void) => {
    if (finished) return;
    finished = true;
    clearTimeout(timer);
    end();
  };
  const fail = (why: string, answered = false) =>
    finish(() => {
      completion.reject(new TransportError(why, controller !== undefined, answered));
      controller?.abort(new TransportError(why, true));
    });
  const timer = setTimeout(() => fail('timeout'), timeoutMs);

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart: (started) => {
      // If the process was suspended, the connection may open before the timer fires.
      if (monotonicMs() > deadlineMs) fail('timeout');
      // A request that was given up, or that undici would send a second time, must not be sent.
      if (finished || controller !== undefined) started.abort(new TransportError('given up', false));
      else controller = started;
    },
    onResponseStart: (_controller, statusCode, received) => {
      if (statusCode < 200) return;
      status = statusCode;
      headers = received;
    },
    onResponseData: (_controller, chunk) => {
      length += chunk.byteLength;
      if (length > bytesMax) fail('answer too large', true);
      else chunks.push(chunk);
    },
    onResponseEnd: () => {
      readBody(Buffer.concat(chunks), headers, bytesMax).then(
        (bodyText) =>
          finish(() => completion.resolve({ status, retryAfter: one(headers, 'retry-after'), bodyText })),
        (error: unknown) => finish(() => completion.reject(unreadable(error))),
      );
    },
    onResponseError: (_controller, error) => fail(describe(error)),
  };
  return { handler, fail };
}

type ResponseHeaders = Readonly<Record<string, string | string[] | undefined>>;

async function readBody(bytes: Buffer, headers: ResponseHeaders, bytesMax: number): Promise<string> {
  const content = await decompress(bytes, one(headers, 'content-encoding'), bytesMax);
  return readRailText(content, one(headers, 'content-type'));
}

function one(headers: ResponseHeaders, name: string): string | undefined {
  const header = headers[name];
  return Array.isArray(header) ? header[0] : header;
}

function unreadable(error: unknown): TransportError {
  return new TransportError(
    error instanceof DecompressionError ? error.message : describe(error),
    true,
    true,
  );
}

/** Only the error's code, because messages may name addresses. */
function describe(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return describe(error.errors[0]);
  if (error instanceof Error && 'code' in error && typeof error.code === 'string') return error.code;
  return error instanceof Error ? error.name : 'network failure';
}

type Found = (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void;

/** How `dns.lookup` finds all addresses of a name. */
export type FindAddresses = (hostname: string, found: Found) => void;

const findAddresses: FindAddresses = (hostname, found) => lookup(hostname, { all: true }, found);

/**
 * Builds a lookup for connections that asks the system once for all that wait for the same name: it asks in the few threads
 * that the whole process shares, and one name that is never answered must not take them all.
 */
export function createSharedLookup(find: FindAddresses = findAddresses): LookupFunction {
  const waiting = new Map<string, Found[]>();
  const ask = (hostname: string, found: Found) => {
    const others = waiting.get(hostname);
    if (others) {
      others.push(found);
      return;
    }
    const all = [found];
    waiting.set(hostname, all);
    find(hostname, (error, addresses) => {
      waiting.delete(hostname);
      for (const one of all) one(error, addresses);
    });
  };
  return (hostname, { all, family }, callback) => {
    ask(hostname, (error, addresses) => {
      if (error) return callback(error, '', 0);
      const wanted = addresses.filter(
        (one) => !family || family === one.family || family === `IPv${one.family}`,
      );
      if (all === true) return callback(null, wanted);
      const [first] = wanted;
      if (first) return callback(null, first.address, first.family);
      return callback(
        Object.assign(new Error(`no such address of ${hostname}`), { code: 'ENOTFOUND' }),
        '',
        0,
      );
    });
  };
}
