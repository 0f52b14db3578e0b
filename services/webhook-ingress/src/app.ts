import type { IncomingMessage } from 'node:http';
import { clientAddress, type TrustedProxies } from '@pesewa/addresses';
import type { PaymentKind } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import { addErrorHandling, answerJson, isCompressed, type Logger, readBytes } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { answer, BODY_BYTES_MAX, type RequestOutcome, resultOf } from './answers.ts';
import type { Callbacks, Receive } from './callbacks.ts';
import type { CallbackHeader, CallbackRequest } from './domain/callback.ts';
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
