import { addErrorHandling, answerJson, type Logger } from '@pesewa/runtime';
import { Hono } from 'hono';
import { type CollectionRoutesDeps, createCollectionRoutes } from './collection-routes.ts';
import { type ControlRoutesDeps, createControlRoutes } from './control-routes.ts';
import { createLinkRoutes } from './link-routes.ts';
import { createMerchantRoutes } from './merchant-routes.ts';
import { createPayoutRoutes, type PayoutRoutesDeps } from './payout-routes.ts';
import { createFaultGate, type HttpEnv } from './scripted-answers.ts';

/** The dependencies of the public app; each of the two APIs has its own callback address. */
export type AppDeps = Omit<PayoutRoutesDeps & CollectionRoutesDeps & ControlRoutesDeps, 'callbackUrl'> & {
  readonly logger: Logger;
  readonly callbackUrls: { readonly payouts: string; readonly collections: string };
};

/** The simulator's public app: the upstream's APIs, the merchants' endpoint, and the control API. */
export function createApp(deps: AppDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  addErrorHandling(app, {
    logger: deps.logger,
    broken: (context) => answerJson(context, 500, { code: 'broken', message: 'internal error' }),
    notFound: (context) =>
      answerJson(context, 404, { code: 'not_found', message: 'there is nothing at this path' }),
  });
  const gate = createFaultGate(deps);
  app.use('/api/*', gate);
  app.use('/collection/*', gate);
  app.use('/pay/*', gate);
  app.route('/api/v1', createPayoutRoutes({ ...deps, callbackUrl: deps.callbackUrls.payouts }));
  app.route(
    '/collection/v1',
    createCollectionRoutes({ ...deps, callbackUrl: deps.callbackUrls.collections }),
  );
  app.route('/pay', createLinkRoutes(deps.payments));
  app.route('/merchant', createMerchantRoutes(deps));
  app.route('/control', createControlRoutes(deps));
  return app;
}
