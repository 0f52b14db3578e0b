import { type AppEnv, createDocumentationRoutes, createNotFoundHandler } from '@pesewa/merchant-api';
import { addErrorHandling } from '@pesewa/runtime';
import { Hono } from 'hono';
import { answerRefused, answerRejected } from './answers.ts';
import { collectionOperations } from './collection-operations.ts';
import { type CollectionRouteDeps, createCollectionRoutes } from './collection-routes.ts';
import { createListRoutes, type ListRouteDeps } from './list-routes.ts';
import { createOpenApiDocument } from './openapi.ts';
import { fillSecurityModule } from './requests.ts';
import { createStatusRoutes, type StatusRouteDeps } from './status-routes.ts';

/** The dependencies of the collection API. */
export type AppDeps = CollectionRouteDeps & StatusRouteDeps & ListRouteDeps;

/** The paths whose answers all have the shape of contract 2.9; all others reject with a four-field body. */
const detailed: ReadonlySet<string> = new Set(
  Object.values(collectionOperations).map((operation) => operation.getRoutingPath()),
);

/** Builds the collection API (contract 4.7 to 4.9): checks the merchant and its rate, then routes (contract 10.2). */
export function createApp(deps: AppDeps): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  addErrorHandling(app, {
    logger: deps.logger,
    broken: (context) =>
      detailed.has(context.req.path)
        ? answerRefused(context, 'INTERNAL ERROR', {
            description:
              'something broke on our side: check the status of the collection before anything else',
          })
        : answerRejected(context, 500, deps.clock.nowMs()),
    notFound: createNotFoundHandler(app, (context, status) =>
      answerRejected(context, status, deps.clock.nowMs()),
    ),
  });
  app.route('/', createCollectionRoutes(deps));
  app.route('/', createStatusRoutes(deps));
  app.route('/', createListRoutes(deps));
  app.route(
    '/',
    createDocumentationRoutes({
      title: 'Pesewa collection API',
      buildOpenApiDocument: createOpenApiDocument,
      prepareRequest: fillSecurityModule,
    }),
  );
  return app;
}
