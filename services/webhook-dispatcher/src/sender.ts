import type { lookup } from 'node:dns';
import { AddressRefusedError, checkAddress, createGuardedLookup, isPublicHost } from '@pesewa/addresses';
import type { Clock } from '@pesewa/kernel';
import { Agent, buildConnector, request } from 'undici';
import type { AttemptError, AttemptResult } from './domain/delivery.ts';

/** A webhook to send. */
export interface Dispatch {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Sends webhooks; an attempt always ends in a result within the deadline. */
export interface Sender extends AsyncDisposable {
  readonly send: (dispatch: Dispatch) => Promise<AttemptResult>;
}

const RESPONSE_BYTES_MAX = 65_536;
const HEADER_BYTES_MAX = 16_384;
const KEEP_ALIVE_TIMEOUT_MS = 4_000;

/**
 * Opens the connections to merchants (contract 10.15): redirects and the environment's proxies are not used, one
 * deadline covers connecting, sending and reading, and the answer's body is read up to a limit, dropped, and never
 * decompressed.
 */
export function openSender(options: {
  readonly allowedOrigins: readonly string[];
  readonly deadlineMs: number;
  readonly connectionsPerOriginMax: number;
  readonly clock: Clock;
  /** How names are resolved; by default the system's way. */
  readonly resolveName?: typeof lookup;
}): Sender {
  const shared = {
    connections: options.connectionsPerOriginMax,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_TIMEOUT_MS,
    maxHeaderSize: HEADER_BYTES_MAX,
    headersTimeout: options.deadlineMs,
    bodyTimeout: options.deadlineMs,
    allowH2: false,
  };
  const listed = new Agent({ ...shared, connect: { timeout: options.deadlineMs } });
  const guarded = new Agent({ ...shared, connect: createGuardedConnector(options) });
  return {
    send: async (dispatch) => {
      const judged = checkAddress(dispatch.url, options.allowedOrigins);
      if (!judged.ok) return { kind: 'failed', error: 'refused' };
      const agent = judged.value.listed ? listed : guarded;
      try {
        return await exchange(agent, { ...dispatch, ...judged.value }, options);
      } catch (error) {
        return { kind: 'failed', error: classify(error) };
      }
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([listed.close(), guarded.close()]);
    },
  };
}

/** Checks the host again right before connecting, because literal addresses skip name resolution. */
function createGuardedConnector(settings: {
  readonly deadlineMs: number;
  readonly resolveName?: typeof lookup;
}): buildConnector.connector {
  const connect = buildConnector({
    timeout: settings.deadlineMs,
    lookup: createGuardedLookup(settings.resolveName),
    allowH2: false,
  });
  return (options, callback) => {
    if (isPublicHost(options.hostname)) connect(options, callback);
    else callback(new AddressRefusedError('the address is not public'), null);
  };
}

async function exchange(
  agent: Agent,
  dispatch: Omit<Dispatch, 'url'> & { readonly url: URL },
  options: { readonly deadlineMs: number; readonly clock: Clock },
): Promise<AttemptResult> {
  const signal = AbortSignal.timeout(options.deadlineMs);
  const { url, headers, body } = dispatch;
  const answer = await request(url, { dispatcher: agent, method: 'POST', headers, body, signal });
  await discard(answer.body);
  const retryAfter = answer.headers['retry-after'];
  const retryAfterText = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  return {
    kind: 'answered',
    status: answer.statusCode,
    retryAfterMs: readRetryAfter(retryAfterText, options.clock.nowMs()),
  };
}

/**
 * Reads the body up to the limit and the deadline, so that the connection can be reused; the status has decided the
 * result.
 */
async function discard(body: AsyncIterable<Uint8Array>): Promise<void> {
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.byteLength;
      if (length > RESPONSE_BYTES_MAX) break;
    }
  } catch {
    // A body that breaks off or never ends changes nothing, because it is dropped anyway.
  }
}

/** Reads Retry-After, seconds or a date, as milliseconds from now; null if it is malformed. */
export function readRetryAfter(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

const byCode: Readonly<Record<string, AttemptError>> = {
  ENOTFOUND: 'dns',
  EAI_AGAIN: 'dns',
  ECONNREFUSED: 'connect',
  EHOSTUNREACH: 'connect',
  ENETUNREACH: 'connect',
  ETIMEDOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  UND_ERR_HEADERS_TIMEOUT: 'timeout',
  UND_ERR_BODY_TIMEOUT: 'timeout',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
};

/** The class of a failure; messages are not kept, because they may name addresses. */
function classify(error: unknown): AttemptError {
  if (error instanceof AddressRefusedError) return 'refused';
  if (error instanceof AggregateError && error.errors.length > 0) return classify(error.errors[0]);
  if (!(error instanceof Error)) return 'malformed';
  if (error.name === 'TimeoutError') return 'timeout';
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return 'tls';
  return byCode[code] ?? (error.cause === undefined ? 'malformed' : classify(error.cause));
}
