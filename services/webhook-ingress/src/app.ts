import { createHash } from 'node:crypto';
import type { Clock } from '@pesewa/kernel';
import { answerJson, hardenApp, type Logger, readBytes } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import type { Callbacks } from './callbacks.ts';
import type { CallbackKind } from './domain/callback.ts';

/** The largest body of a callback. */
const BODY_BYTES_MAX = 65_536;

const kinds: ReadonlyMap<string, CallbackKind> = new Map([
  ['payouts', 'payout'],
  ['collections', 'collection'],
]);

interface AppEnv {
  /** What the HTTP server hands over. */
  Bindings: { readonly incoming?: { readonly socket: { readonly remoteAddress?: string | undefined } } };
}

/** Builds the callback API for rails: `POST /rails/{rail}/payouts`, `POST /rails/{rail}/collections` (design 1). */
export function createApp(deps: {
  readonly callbacks: Callbacks;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly storeTimeoutMs: number;
}): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  hardenApp(app, {
    logger: deps.logger,
    broken: (context) => unavailable(context),
    notFound: (context) =>
      answerJson(context, 404, { code: 'not_found', message: 'there is nothing at this path' }),
  });

  app.post('/rails/:rail/:kind', async (context) => {
    const { rail } = context.req.param();
    const kind = kinds.get(context.req.param('kind'));
    if (kind === undefined || !deps.callbacks.isRail(rail)) return context.notFound();
    const body = await readBytes(context, BODY_BYTES_MAX);
    if (body === undefined) {
      const message = `a callback has at most ${BODY_BYTES_MAX} bytes`;
      return answerJson(context, 413, { code: 'too_large', message });
    }
    const receiving = deps.callbacks.receive({
      rail,
      kind,
      body,
      headers: [...context.req.raw.headers].map(([name, value]) => ({ name, value })),
      // A request without a connection, as in tests, has no environment at all.
      peerAddress: context.env?.incoming?.socket.remoteAddress,
      receivedAtMs: deps.clock.nowMs(),
      digest: createHash('sha256').update(body).digest('hex'),
    });
    const received = await within(receiving, deps).catch((error: unknown) => {
      deps.logger.error({ err: error, rail, kind }, 'a callback could not be stored');
      return undefined;
    });
    if (received === undefined) return unavailable(context);
    if (received.ok) return answerJson(context, 200, { received: true });
    if (received.refusal === 'callback.unknown_rail') return context.notFound();
    return answerJson(context, 400, { code: 'malformed', message: 'the body is no callback of this rail' });
  });

  return app;
}

/** Our own failure is never the rail's: it is told to come again (research/webhooks 5). */
function unavailable(context: Context): Response {
  context.header('retry-after', '5');
  return answerJson(context, 503, { code: 'unavailable', message: 'not stored: send it again' });
}

/** Gives up waiting after the bound; what is stored all the same is a repeat when it comes again. */
async function within<Value>(
  work: Promise<Value>,
  deps: { readonly clock: Clock; readonly storeTimeoutMs: number },
): Promise<Value> {
  const waiting = new AbortController();
  const tooLong = deps.clock.sleep(deps.storeTimeoutMs, waiting.signal).then(() => {
    throw new Error('storing took too long');
  });
  // Once the work has won the race, nobody looks at the clock any more.
  tooLong.catch(() => undefined);
  try {
    return await Promise.race([work, tooLong]);
  } finally {
    work.catch(() => undefined);
    waiting.abort();
  }
}
