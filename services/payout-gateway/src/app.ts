import type { Merchant } from '@pesewa/directory';
import { allowedMethods, createDocumentationRoutes, createMerchantLookup } from '@pesewa/merchant-api';
import { answerJson, hardenApp, type Logger } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { type AppEnv, answer } from './answers.ts';
import { createBatchRoutes } from './batch-routes.ts';
import type { Batches } from './batches.ts';
import { createFlagRoutes } from './flags.ts';
import { createInquiryRoutes, type InquiryDeps } from './inquiry-routes.ts';
import { createOpenApiDocument } from './openapi.ts';
import { createPayoutRoutes } from './payout-routes.ts';
import type { Payouts } from './payouts.ts';
import { tooMany } from './rate-answers.ts';
import type { RateLimits } from './rate-limits.ts';

/** The dependencies of the payout API. */
export interface AppDeps {
  readonly payouts: Payouts;
  readonly batches: Batches;
  readonly identify: (apiKey: string) => Promise<Merchant | undefined>;
  readonly inquiries: Omit<InquiryDeps, 'rateLimits' | 'logger'>;
  readonly rateLimits: RateLimits;
  readonly logger: Logger;
}

/**
 * Builds the payout API (contract 4.1 to 4.6): identifies the merchant, checks its permission and rate, then routes
 * (contract 10.2).
 */
export function createApp(deps: AppDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  const lookUp = createMerchantLookup(deps);
  const notFound = (context: Context) => answerUnrouted(app, context);
  hardenApp(app, {
    logger: deps.logger,
    broken: (context) =>
      answer(context, 'broken', 'something broke on our side: ask for the payout before you send it again'),
    notFound,
  });

  app.use('/api/v1/*', async (context, next) => {
    const identified = await lookUp(context.req.header('x-api-key') ?? '');
    if (identified === 'unavailable')
      return answer(context, 'unavailable', 'the key can not be looked up at present: try again');
    const { merchant } = identified;
    if (!merchant)
      return answer(context, 'unauthenticated', 'x-api-key must be the Base64 of your public key');
    if (merchant.status !== 'active') return answer(context, 'notPermitted', 'this merchant is suspended');
    const waitSeconds = await deps.rateLimits.countRequest(merchant);
    if (waitSeconds !== undefined) return tooMany(context, 'too many requests', waitSeconds);
    context.set('merchant', merchant);
    await next();
    return undefined;
  });

  app.route('/', createPayoutRoutes(deps));
  app.route('/', createBatchRoutes(deps));
  app.route(
    '/',
    createInquiryRoutes({ ...deps.inquiries, rateLimits: deps.rateLimits, logger: deps.logger }),
  );
  app.route(
    '/',
    createDocumentationRoutes({ title: 'Pesewa payout API', createDocument: createOpenApiDocument }),
  );
  app.route('/', createFlagRoutes(notFound));
  return app;
}

/**
 * Answers an unrouted request: 405 with the allowed methods if the path exists, else 404 (and not `25`, which is about
 * a reference).
 */
function answerUnrouted(app: Hono<AppEnv>, context: Context): Response {
  const allowed = allowedMethods(app.routes, context.req.path);
  if (allowed.length > 0 && !allowed.includes(context.req.method)) {
    context.header('allow', allowed.join(', '));
    return answerJson(context, 405, {
      isSuccessful: false,
      responseCode: '30',
      responseMessage: `this path takes ${allowed.join(', ')}`,
    });
  }
  return answerJson(context, 404, {
    isSuccessful: false,
    responseCode: '30',
    responseMessage: 'there is nothing at this path',
  });
}
