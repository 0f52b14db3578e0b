import { callerOperations, type OperatorApi, operatorApis } from '@pesewa/contracts';
import { Hono } from 'hono';
import type { Registry } from 'prom-client';
import type { Health, HealthReport } from './health.ts';
import { answerJson, logFailure } from './http.ts';
import type { Logger } from './logger.ts';
import { refuseToken } from './operator-tokens.ts';
import { callerOf, type Operators, setOperator } from './operators.ts';
import { createRequestGate } from './request-gate.ts';
import { instrumentRequests, traceRequest } from './requests.ts';
import { answer, serveOperations } from './serve-operations.ts';

/** The operations side of a service: probes and metrics for machines, and the operator APIs behind a token. */
export interface OperationsApp {
  readonly app: Hono;
  /** Routes added here require `Authorization: Bearer <token of an operator>` (ADR 60). */
  readonly operator: Hono;
  readonly logger: Pick<Logger, 'info'>;
}

/**
 * Builds the operations app of a service; {@link mountOperator} mounts the operator routes.
 *
 * Breakage is logged once and answered as JSON: 503 `unavailable` if it is transient, else 500 `broken`.
 */
export function createOperationsApp(options: {
  readonly health: Health;
  readonly metrics: Registry;
  readonly logger: Pick<Logger, 'debug' | 'error' | 'info'>;
}): OperationsApp {
  const app = new Hono();
  app.onError((error, context) => {
    logFailure(options.logger, { error, context, text: 'an operations request failed' });
    return isTransientByName(error)
      ? answerJson(context, 503, { code: 'unavailable', message: 'the database does not answer: try again' })
      : answerJson(context, 500, { code: 'broken', message: 'this broke: the log has why' });
  });
  app.use(instrumentRequests);
  const answerReport = (report: HealthReport) =>
    new Response(JSON.stringify(report), {
      status: report.healthy ? 200 : 503,
      headers: { 'content-type': 'application/json' },
    });
  app.get('/livez', async () => answerReport(await options.health.liveness()));
  app.get('/readyz', async () => answerReport(await options.health.readiness()));
  app.get('/metrics', async (context) =>
    context.text(await options.metrics.metrics(), 200, { 'content-type': options.metrics.contentType }),
  );
  app.notFound((context) =>
    answerJson(context, 404, { code: 'not_found', message: 'there is nothing at this path' }),
  );
  return { app, operator: new Hono(), logger: options.logger };
}

/**
 * Whether an error comes from the connection or the cluster; recognised by name, because the runtime depends on no
 * driver.
 */
function isTransientByName({ name }: Error): boolean {
  return /^Mongo.*(?:Network|ServerSelection|WaitQueue|PoolCleared|NotConnected|Timeout)/.test(name);
}

/** Serves the OpenAPI document of a service's operator API, if it has one, among its operator routes. */
export function serveOperatorDocument({ operator }: Pick<OperationsApp, 'operator'>, service: string): void {
  const api = (operatorApis as Readonly<Record<string, OperatorApi>>)[service];
  if (api === undefined) return;
  let document: object | undefined;
  operator.get('/openapi.json', async (context) => {
    // Loaded when it is asked for: a process that nobody asks needs no library that writes such documents.
    const { buildOperatorDocument } = await import('./operator-document.ts');
    document ??= buildOperatorDocument(service, api);
    return answerJson(context, 200, document);
  });
}

/**
 * Mounts the operator routes behind the operators' tokens; call it after all routes are added. Disposing of the result
 * ends them, while probes and metrics go on.
 */
export function mountOperator(operations: OperationsApp, operators: Operators): AsyncDisposable {
  const gate = createRequestGate();
  operations.app.use(gate.middleware);
  operations.app.route('/', guardOperator(operations.operator, operators, operations.logger));
  return gate;
}

/**
 * Requires an operator's token for all of the routes, which learn the operator's name by `operatorOf`; whatever is not a GET is
 * logged with their name (ADR 17). Which role a route takes is known to its operation alone.
 */
export function guardOperator(routes: Hono, operators: Operators, logger?: Pick<Logger, 'info'>): Hono {
  const guarded = new Hono();
  guarded.use(async (context, next) => {
    const header = context.req.header('authorization');
    if (header === undefined) {
      return answerJson(context, 401, {
        code: 'unauthenticated',
        message: 'send Authorization: Bearer <operator token>',
      });
    }
    const token = /^Bearer (\S+)$/.exec(header)?.[1];
    // A missing token never matches, even if an operator's token were empty.
    const identified =
      token === undefined ? refuseToken('the operator token is wrong') : await operators.identify(token);
    if (!identified.ok) {
      const { status, code, message } = identified.refusal;
      return answerJson(context, status, { code, message });
    }
    const caller = identified.value;
    setOperator(context, caller);
    const { method, path } = context.req;
    await traceRequest(context, next);
    if (method !== 'GET' && method !== 'HEAD')
      logger?.info({ operator: caller.name, method, path, status: context.res.status }, 'an operator acted');
    return undefined;
  });
  serveOperations(guarded, callerOperations, { show: ({ context }) => answer(200, callerOf(context)) });
  return guarded.route('/', routes);
}
