import type { Clock } from '@pesewa/kernel';
import { hardenApp, type Logger, refuseOperator } from '@pesewa/runtime';
import { Hono } from 'hono';
import { addAccountRoutes } from './account-routes.ts';
import { addCommandRoutes, type CommandRouteDeps } from './command-routes.ts';
import { addStatementRoutes } from './statement-routes.ts';
import type { Statements } from './statements.ts';
import type { LedgerStore } from './store.ts';

/** Builds the operator API of the ledger (ADR 60); it is mounted behind the operator token. */
export function createApp(
  deps: CommandRouteDeps & {
    readonly store: Pick<LedgerStore, 'findWallet' | 'findEntries' | 'findShared'>;
    readonly statements: Statements;
    readonly clock: Clock;
    readonly logger: Logger;
  },
): Hono {
  const app = new Hono();
  hardenApp(app, {
    logger: deps.logger,
    broken: (context) => refuseOperator(context, 500, 'broken', 'something broke on our side'),
    notFound: (context) => refuseOperator(context, 404, 'not_found', 'there is nothing at this path'),
  });
  addAccountRoutes(app, deps);
  addStatementRoutes(app, deps);
  addCommandRoutes(app, deps);
  return app;
}
