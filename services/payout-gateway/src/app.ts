import type { Merchant } from '@pesewa/directory';
import { answerJson, hardenApp, type Logger } from '@pesewa/runtime';
import { Hono } from 'hono';
import { type AppEnv, answer } from './answers.ts';
import { createPayoutRoutes } from './payout-routes.ts';
import type { Payouts } from './payouts.ts';

/** Builds the payout API (contract 4.1 to 4.6): who asks, whether they may, then the routes. */
export function createApp(deps: {
  readonly payouts: Payouts;
  readonly identify: (apiKey: string) => Promise<Merchant | undefined>;
  readonly logger: Logger;
}): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  hardenApp(app, {
    logger: deps.logger,
    broken: (context) =>
      answer(context, 'broken', 'something broke on our side: ask for the payout before you send it again'),
    notFound: (context) =>
      answerJson(context, 404, {
        isSuccessful: false,
        responseCode: '25',
        responseMessage: 'there is nothing at this path',
      }),
  });

  app.use('/api/v1/*', async (context, next) => {
    const merchant = await deps.identify(context.req.header('x-api-key') ?? '');
    if (!merchant)
      return answer(context, 'unauthenticated', 'x-api-key must be the Base64 of your public key');
    if (merchant.status !== 'active') return answer(context, 'notPermitted', 'this merchant is suspended');
    context.set('merchant', merchant);
    await next();
    return undefined;
  });

  app.route('/', createPayoutRoutes(deps));
  return app;
}
