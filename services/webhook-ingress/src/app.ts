import type { IncomingMessage } from 'node:http';
import { clientAddress, type TrustedProxies } from '@pesewa/addresses';
import type { PaymentKind } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import {
  addErrorHandling,
  answerJson,
  isCompressed,
  jsonHeaders,
  type Logger,
  readBytes,
} from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import type { CallbackRefusal, Callbacks, Receive } from './callbacks.ts';
import type { CallbackHeader, CallbackRequest } from './domain/callback.ts';
import type { ReceptionOutcome } from './domain/reception.ts';
import type { CallbackMetrics } from './metrics.ts';

const kinds: ReadonlyMap<string, PaymentKind> = new Map([
  ['payouts', 'payout'],
  ['collections', 'collection'],
]);

const unknown = { rail: 'unknown', kind: 'unknown', result: 'rejected', reason: 'not_found' } as const;

interface AppEnv {
  /** What the HTTP server hands over. */
  Bindings: { readonly incoming: Pick<IncomingMessage, 'rawHeaders' | 'socket'> };
}

interface Deps extends TrustedProxies {
  readonly callbacks: Pick<Callbacks, 'receiverOf'>;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly metrics: CallbackMetrics;
}

/** Builds the callback API for rails: `POST /rails/{rail}/payouts`, `POST /rails/{rail}/collections` (contract 10.16). */
export function createApp(deps: Deps): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  addErrorHandling(app, {
    logger: deps.logger,
    broken: () => answer('not_stored'),
    notFound: (context) =>
      answerJson(context, 404, { code: 'not_found', message: 'there is nothing at this path' }),
  });

  app.post('/rails/:rail/:kind', async (context) => {
    const { rail } = context.req.param();
    const kind = kinds.get(context.req.param('kind'));
    const receive = kind && deps.callbacks.receiverOf(rail, kind);
    if (!receive) {
      // The name in the request must not become a label: a sender could create any number of metrics.
      deps.metrics.answered({ ...unknown, kind: kind ?? unknown.kind });
      return context.notFound();
    }
    const body = await readBody(context);
    const ending =
      typeof body === 'string'
        ? body
        : await take(deps, receive, callbackRequest(deps, context, { rail, kind, body }));
    deps.metrics.answered({ rail, kind, ...resultOf(ending) });
    return answer(ending);
  });

  return app;
}

async function readBody(context: Context): Promise<Uint8Array | 'compressed' | 'too_large' | 'cut'> {
  // Signature and storage are for the raw bytes of the callback; and a small compressed body must not expand into a
  // large one.
  if (isCompressed(context.req.header('content-encoding'))) return 'compressed';
  try {
    return (await readBytes(context, BODY_BYTES_MAX)) ?? 'too_large';
  } catch {
    return 'cut';
  }
}

function callbackRequest(
  deps: Pick<Deps, 'clock' | 'trustedProxies' | 'proxies'>,
  context: Context<AppEnv>,
  { rail, kind, body }: Pick<CallbackRequest, 'rail' | 'kind' | 'body'>,
): CallbackRequest {
  const { rawHeaders, socket } = context.env.incoming;
  const peerAddress = socket.remoteAddress;
  return {
    rail,
    kind,
    body,
    headers: headersOf(rawHeaders),
    peerAddress,
    clientAddress: clientAddress({
      peerAddress,
      forwardedFor: context.req.header('x-forwarded-for'),
      trustedProxies: deps.trustedProxies,
      proxies: deps.proxies,
    }),
    receivedAtMs: deps.clock.nowMs(),
  };
}

/** The lines of a header, names and values in turns, as they came. */
function headersOf(lines: readonly string[]): readonly CallbackHeader[] {
  const headers: CallbackHeader[] = [];
  for (let at = 0; at < lines.length; at += 2)
    headers.push({ name: (lines[at] ?? '').toLowerCase(), value: lines[at + 1] ?? '' });
  return headers;
}

async function take(
  deps: Pick<Deps, 'clock' | 'logger' | 'metrics'>,
  receive: Receive,
  request: CallbackRequest,
): Promise<RequestOutcome> {
  const { rail, kind } = request;
  try {
    const received = await receive(request);
    if (!received.ok) return received.refusal;
    deps.metrics.durableAfter(request, deps.clock.nowMs() - request.receivedAtMs);
    return received.value;
  } catch (error) {
    deps.logger.error({ err: error, rail, kind }, 'a callback could not be stored');
    return 'not_stored';
  }
}

/** The ways in which a request to a callback address can end; `cut`: its body did not arrive completely. */
type RequestOutcome = ReceptionOutcome | CallbackRefusal | 'too_large' | 'compressed' | 'cut' | 'not_stored';

interface Answer {
  readonly status: 200 | 400 | 401 | 403 | 408 | 413 | 415 | 429 | 503;
  readonly body: { readonly received: true } | { readonly code: string; readonly message: string };
}

/** The largest body of a callback. */
const BODY_BYTES_MAX = 8_192;

const received: Answer = { status: 200, body: { received: true } };
// Details about a wrong signature or address would only help a forger; the operators' list has the reason.
const unauthenticated: Answer = {
  status: 401,
  body: { code: 'unauthenticated', message: 'the callback is not authenticated' },
};
const malformed: Answer = {
  status: 400,
  body: { code: 'malformed', message: 'the body is no callback of this rail' },
};
/** A failure of ours is never the rail's: it is asked to send the callback again (contract 10.16). */
const unavailable: Answer = {
  status: 503,
  body: { code: 'unavailable', message: 'not taken: send it again' },
};

const answers: Readonly<Record<RequestOutcome, Answer>> = {
  stored: received,
  repeated: received,
  repassed: received,
  recovered: received,
  id_reused: received,
  failed: unavailable,
  not_stored: unavailable,
  overloaded: unavailable,
  not_kept: unavailable,
  no_room: unavailable,
  rate_exceeded: { status: 429, body: { code: 'too_many', message: 'too many at once: send it again' } },
  'address.unlisted': {
    status: 403,
    body: { code: 'not_permitted', message: 'callbacks are not taken from here' },
  },
  'signature.wrong': unauthenticated,
  'signature.expired': unauthenticated,
  'signature.missing': unauthenticated,
  'body.malformed': malformed,
  'reference.foreign': malformed,
  cut: { status: 408, body: { code: 'cut', message: 'the body did not arrive in full' } },
  too_large: {
    status: 413,
    body: { code: 'too_large', message: `a callback has at most ${BODY_BYTES_MAX} bytes` },
  },
  compressed: { status: 415, body: { code: 'not_supported', message: 'send the body uncompressed' } },
};

const furtherHeaders: Readonly<Partial<Record<Answer['status'], Readonly<Record<string, string>>>>> = {
  // RFC 9110 12.5.3: a sender that can read it doesn't compress again.
  415: { 'accept-encoding': 'identity' },
  429: { 'retry-after': '1' },
  503: { 'retry-after': '5' },
};

/** Ends that say nothing about the callback itself: a broken connection, or our own limits. */
const ownOutcomes: ReadonlySet<RequestOutcome> = new Set(['cut', 'rate_exceeded']);

/**
 * Answers a rail; a refusal reveals only what its sender may know. Its headers are a plain object, which goes out as it is: made
 * into `Headers` and back, they took longer than the check of a signature.
 */
function answer(ending: RequestOutcome): Response {
  const { status, body } = answers[ending];
  return new Response(JSON.stringify(body), {
    status,
    headers: { ...jsonHeaders, ...furtherHeaders[status] },
  });
}

/** An ending in the labels of metrics. */
function resultOf(ending: RequestOutcome): { readonly result: string; readonly reason: string } {
  const { status } = answers[ending];
  const isRejected = status >= 400 && status < 500 && !ownOutcomes.has(ending);
  return isRejected ? { result: 'rejected', reason: ending } : { result: ending, reason: '' };
}
