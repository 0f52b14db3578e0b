import { isIP, type Socket } from 'node:net';
import { type PeerCertificate, TLSSocket } from 'node:tls';
import {
  type AddressRefusal,
  AddressRefusedError,
  checkAddress,
  createGuardedLookup,
  createNameResolver,
  isPublicHost,
  NameUnresolvedError,
  type ResolveName,
} from '@pesewa/addresses';
import type { TestView } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import { Agent, buildConnector, request } from 'undici';
import type { AttemptError, AttemptResult } from './domain/delivery.ts';

/** A webhook to send. */
export interface Dispatch {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** What a single call met, for people who look for the reason. */
export interface Observation {
  readonly result: AttemptResult;
  /** The rule that the address breaks as it is written. */
  readonly rule: AddressRefusal | null;
  /** The addresses of the host's name; null where it was not asked. */
  readonly resolved: readonly string[] | null;
  readonly connection: Connection;
  readonly isRedirect: boolean;
  /** Whether the answer's body was longer than what is read of it. */
  readonly isBodyCut: boolean;
}

/** The connection of a single call; all of it is null if there was none. */
export type Connection = Pick<TestView, 'connectedTo' | 'tls' | 'tlsProblem'>;

/** Sends webhooks; an attempt always ends in a result within the deadline. */
export interface Sender extends AsyncDisposable {
  readonly send: (dispatch: Dispatch) => Promise<AttemptResult>;
  /** Sends as `send` does, under the same rules, and reports more of it. */
  readonly observe: (dispatch: Dispatch) => Promise<Observation>;
}

type Exchange = Omit<Observation, 'rule' | 'resolved' | 'connection'>;

const RESPONSE_BYTES_MAX = 65_536;
const HEADER_BYTES_MAX = 16_384;
const KEEP_ALIVE_TIMEOUT_MS = 4_000;
/** What is shown of a certificate's issuer, which is the endpoint's own text. */
const ISSUER_LENGTH_MAX = 100;
const notConnected: Connection = { connectedTo: null, tls: null, tlsProblem: null };
const refusedResult: AttemptResult = { kind: 'failed', error: 'refused' };

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
  /** How names of merchants' hosts are resolved; by the system's name servers by default. */
  readonly resolveName?: ResolveName;
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
  const resolveName = options.resolveName ?? createNameResolver();
  const connectorFor = (isListed: boolean) =>
    isListed
      ? buildConnector({ timeout: options.deadlineMs, allowH2: false })
      : createGuardedConnector(options.deadlineMs, resolveName);
  const listed = new Agent({ ...shared, connect: connectorFor(true) });
  const guarded = new Agent({ ...shared, connect: connectorFor(false) });
  const call = async (dispatch: Dispatch, url: URL, agent: Agent): Promise<Exchange> => {
    try {
      return await exchange(agent, { ...dispatch, url }, options);
    } catch (error) {
      return { result: { kind: 'failed', error: classify(error) }, isRedirect: false, isBodyCut: false };
    }
  };
  return {
    send: async (dispatch) => {
      const judged = checkAddress(dispatch.url, options.allowedOrigins);
      if (!judged.ok) return refusedResult;
      const { url, listed: isListed } = judged.value;
      return (await call(dispatch, url, isListed ? listed : guarded)).result;
    },
    observe: async (dispatch) => {
      const judged = checkAddress(dispatch.url, options.allowedOrigins);
      if (!judged.ok) {
        const rule = judged.refusal;
        const nothing = { resolved: null, connection: notConnected, isRedirect: false, isBodyCut: false };
        return { result: refusedResult, rule, ...nothing };
      }
      const { url, listed: isListed } = judged.value;
      // The call resolves the name again: what it connects to is what it has checked itself.
      const signal = AbortSignal.timeout(options.deadlineMs);
      const resolved =
        isListed || isLiteral(url) ? null : await addressesOf(url.hostname, resolveName, signal);
      let connection = notConnected;
      const connect = noting(connectorFor(isListed), (met) => {
        connection = met;
      });
      // A connection that is open already would show nothing of how it was made.
      const agent = new Agent({ ...shared, connect });
      const exchanged = await call(dispatch, url, agent);
      await agent.destroy();
      return { ...exchanged, rule: null, resolved, connection };
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all([listed.close(), guarded.close()]);
    },
  };
}

/**
 * Checks the host again right before connecting, because literal addresses skip name resolution. Resolving a name ends with
 * the attempt to connect: a socket that is given up leaves its lookup running.
 */
function createGuardedConnector(timeout: number, resolveName: ResolveName): buildConnector.connector {
  const lookup = createGuardedLookup(resolveName, timeout);
  const connect = buildConnector({ timeout, lookup, allowH2: false });
  return (options, callback) => {
    if (isPublicHost(options.hostname)) connect(options, callback);
    else callback(new AddressRefusedError('the address is not public'), null);
  };
}

/** Connects as the connector does, and tells what came of it. */
function noting(
  connect: buildConnector.connector,
  note: (met: Connection) => void,
): buildConnector.connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      note(socket ? connectionOf(socket) : { ...notConnected, tlsProblem: tlsProblemOf(error) });
      if (socket) callback(null, socket);
      else callback(error, null);
    });
}

function connectionOf(socket: Socket): Connection {
  const connectedTo = socket.remoteAddress ?? null;
  if (!(socket instanceof TLSSocket)) return { ...notConnected, connectedTo };
  return { connectedTo, tls: tlsOf(socket), tlsProblem: null };
}

/** The facts of TLS; null without a certificate that can be read. Nothing may be thrown in the event of a socket. */
function tlsOf(socket: TLSSocket): Connection['tls'] {
  // A socket that is closed already has none, and one without a certificate an empty one, whatever the types say.
  const { issuer, valid_to: until } = (socket.getPeerCertificate() ?? {}) as Partial<PeerCertificate>;
  const untilMs = Date.parse(until ?? '');
  if (!issuer || Number.isNaN(untilMs)) return null;
  const issuerName = [issuer.O, issuer.CN].filter((name) => name !== undefined).join(', ');
  return {
    version: socket.getProtocol() ?? '',
    issuer: issuerName.slice(0, ISSUER_LENGTH_MAX),
    expiresAt: new Date(untilMs).toISOString(),
  };
}

function tlsProblemOf(error: Error | null): string | null {
  if (classify(error) !== 'tls' || error === null) return null;
  return codeOf(error).toLowerCase();
}

async function exchange(
  agent: Agent,
  dispatch: Omit<Dispatch, 'url'> & { readonly url: URL },
  options: { readonly deadlineMs: number; readonly clock: Clock },
): Promise<Exchange> {
  const signal = AbortSignal.timeout(options.deadlineMs);
  const { url, headers, body } = dispatch;
  const answer = await request(url, { dispatcher: agent, method: 'POST', headers, body, signal });
  const isBodyCut = await discard(answer.body);
  const retryAfter = answer.headers['retry-after'];
  const retryAfterText = Array.isArray(retryAfter) ? retryAfter[0] : retryAfter;
  const status = answer.statusCode;
  return {
    result: {
      kind: 'answered',
      status,
      retryAfterMs: readRetryAfter(retryAfterText, options.clock.nowMs()),
    },
    isRedirect: status >= 300 && status < 400 && answer.headers['location'] !== undefined,
    isBodyCut,
  };
}

function isLiteral({ hostname }: URL): boolean {
  return isIP(hostname.replace(/^\[|\]$/g, '')) !== 0;
}

/** The addresses of a name; none if it is not resolved. */
async function addressesOf(
  hostname: string,
  resolveName: ResolveName,
  signal: AbortSignal,
): Promise<readonly string[]> {
  try {
    return (await resolveName(hostname, signal)).map(({ address }) => address);
  } catch (error) {
    if (error instanceof NameUnresolvedError) return [];
    throw error;
  }
}

/**
 * Reads the body up to the limit and the deadline, so that the connection can be reused; the status has decided the
 * result. Gives whether there was more.
 */
async function discard(body: AsyncIterable<Uint8Array>): Promise<boolean> {
  let length = 0;
  try {
    for await (const chunk of body) {
      length += chunk.byteLength;
      if (length > RESPONSE_BYTES_MAX) return true;
    }
  } catch {
    // A body that breaks off or never ends changes nothing, because it is dropped anyway.
  }
  return false;
}

/** Reads Retry-After, seconds or a date, as milliseconds from now; null if it is malformed. */
export function readRetryAfter(text: string | undefined, nowMs: number): number | null {
  if (text === undefined) return null;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1_000;
  const atMs = Date.parse(text);
  return Number.isNaN(atMs) ? null : Math.max(0, atMs - nowMs);
}

const byCode: Readonly<Record<string, AttemptError>> = {
  // Names of listed origins are resolved by the system.
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
  if (error instanceof AddressRefusedError) return 'not_public';
  if (error instanceof NameUnresolvedError) return 'dns';
  if (error instanceof AggregateError && error.errors.length > 0) return classify(error.errors[0]);
  if (!(error instanceof Error)) return 'malformed';
  if (error.name === 'TimeoutError') return 'timeout';
  const code = codeOf(error);
  if (/CERT|TLS|SSL|SELF_SIGNED|UNABLE_TO_VERIFY/.test(code)) return 'tls';
  return byCode[code] ?? (error.cause === undefined ? 'malformed' : classify(error.cause));
}

function codeOf(error: Error): string {
  return 'code' in error && typeof error.code === 'string' ? error.code : '';
}
