import type { TrustedProxies } from '@pesewa/addresses';
import type { KeyHolder, Merchant } from '@pesewa/directory';
import { type Clock, unreachable } from '@pesewa/kernel';
import {
  type AppEnv,
  type AuthenticationRefusal,
  authenticate,
  createDocumentationRoutes,
  createNotFoundHandler,
  createRateLimiter,
} from '@pesewa/merchant-api';
import { addErrorHandling, answerJson, type Logger } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { answerRefused, answerTooMany } from './api-operation.ts';
import { createBatchRoutes } from './batch-routes.ts';
import type { Batches } from './batches.ts';
import { createCountryFlagRoutes } from './country-flags.ts';
import { createInquiryRoutes, type InquiryDeps } from './inquiry-routes.ts';
import { createListRoutes, type ListDeps } from './list-routes.ts';
import { createOpenApiDocument } from './openapi.ts';
import { createPayoutRoutes } from './payout-routes.ts';
import type { Payouts } from './payouts.ts';
import { createStatementRoutes } from './statement-routes.ts';
import type { WalletStatements } from './wallet-statements.ts';
import type { WhyWaiting } from './why-waiting.ts';

const ENQUIRIES_PER_MINUTE = 60;

/** The dependencies of the payout API. */
export interface AppDeps {
  readonly payouts: Payouts;
  readonly batches: Batches;
  readonly identify: (apiKey: string) => Promise<KeyHolder | undefined>;
  readonly proxies: TrustedProxies;
  readonly inquiries: Omit<InquiryDeps, 'rateLimits' | 'logger'>;
  readonly lists: ListDeps;
  readonly whyWaiting: WhyWaiting;
  readonly statements: WalletStatements;
  readonly rateLimits: ReturnType<typeof createRateLimits>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/**
 * Builds the payout API (contract 4.1 to 4.6): identifies the merchant, checks its permission and rate, then routes
 * (contract 10.2).
 */
export function createApp(deps: AppDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  const notFound = createNotFoundHandler(app, answerUnrouted);
  addErrorHandling(app, {
    logger: deps.logger,
    broken: (context) =>
      answerRefused(
        context,
        'broken',
        'something broke on our side: ask for the payout before you send it again',
      ),
    notFound,
  });

  const keyOf = (context: Context) => context.req.header('x-api-key') ?? '';
  const limitRequest = deps.rateLimits.limitRequest;
  const api = { scope: 'payouts', keyOf, refuse: answerUnauthenticated } as const;
  app.use('/api/v1/*', authenticate({ ...deps, limitRequest }, api));

  app.route('/', createPayoutRoutes(deps));
  app.route('/', createBatchRoutes(deps));
  app.route('/', createListRoutes({ ...deps, ...deps.lists }));
  app.route('/', createStatementRoutes(deps));
  app.route(
    '/',
    createInquiryRoutes({ ...deps.inquiries, rateLimits: deps.rateLimits, logger: deps.logger }),
  );
  app.route(
    '/',
    createDocumentationRoutes({ title: 'Pesewa payout API', buildOpenApiDocument: createOpenApiDocument }),
  );
  app.route('/', createCountryFlagRoutes(notFound));
  return app;
}

/**
 * Each merchant's rate limits, counted separately in this process. Counting gives the whole seconds to wait if it was one
 * too many, else undefined.
 */
export function createRateLimits() {
  const requests = createRateLimiter(1);
  const enquiries = createRateLimiter(60);
  return {
    limitRequest: ({ id, limits }: Merchant) => requests(id, limits.requestsPerSecond),
    /** Counts a name enquiry, which reveals personal data. */
    limitNameEnquiry: ({ id, limits }: Merchant) =>
      enquiries(id, limits.nameEnquiriesPerMinute ?? ENQUIRIES_PER_MINUTE),
  };
}

function answerUnauthenticated(context: Context, refusal: AuthenticationRefusal): Response {
  switch (refusal.kind) {
    case 'unavailable':
      return answerRefused(context, 'unavailable', 'the key can not be looked up at present: try again');
    case 'unknown':
      return answerRefused(context, 'unauthenticated', 'x-api-key must be the Base64 of your public key');
    case 'suspended':
      return answerRefused(context, 'notPermitted', 'this merchant is suspended');
    case 'outOfScope':
      return answerRefused(
        context,
        'notPermitted',
        'x-api-key is not for payouts: send a key that has the scope payouts',
      );
    case 'wrongAddress':
      return answerRefused(context, 'notPermitted', refusal.message);
    case 'unsigned':
      return answerRefused(context, 'unauthenticated', refusal.message);
    case 'tooMany':
      return answerTooMany(context, 'too many requests', refusal.waitSeconds);
    default:
      return unreachable(refusal);
  }
}

/** Answers a path or method that does not exist, and not by `25`, which is about a reference. */
function answerUnrouted(context: Context, status: 404 | 405, allowed: readonly string[]): Response {
  return answerJson(context, status, {
    isSuccessful: false,
    responseCode: '30',
    responseMessage:
      status === 405 ? `this path takes ${allowed.join(', ')}` : 'there is nothing at this path',
  });
}
