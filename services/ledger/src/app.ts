import { addErrorHandling, type Logger, operatorRefusal } from '@pesewa/runtime';
import { Hono } from 'hono';
import { type AccountRouteDeps, addAccountRoutes } from './account-routes.ts';
import { addCommandRoutes, type CommandRouteDeps } from './command-routes.ts';

/** Builds the operator API of the ledger (ADR 60); it is mounted behind the operator token. */
export function createApp(deps: CommandRouteDeps & AccountRouteDeps & { readonly logger: Logger }): Hono {
  const app = new Hono();
  addErrorHandling(app, {
    logger: deps.logger,
    broken: (context) => operatorRefusal(context, 500, 'broken', 'something broke on our side'),
    notFound: (context) => operatorRefusal(context, 404, 'not_found', 'there is nothing at this path'),
  });
  addAccountRoutes(app, deps);
  addCommandRoutes(app, deps);
  return app;
}
