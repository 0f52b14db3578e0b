import { createHash, timingSafeEqual } from 'node:crypto';
import { Hono } from 'hono';
import type { Registry } from 'prom-client';
import type { Health, HealthReport } from './health.ts';
import { answerJson } from './http.ts';

/** The operations side of a service: probes and metrics for machines, and the operator APIs behind a token. */
export interface OperationsApp {
  readonly app: Hono;
  /** Routes added here ask for `Authorization: Bearer <operator token>` (design 1). */
  readonly operator: Hono;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest();

/** Builds the operations app of a service; the operator routes are mounted by {@link mountOperator}. */
export function createOperationsApp(options: {
  readonly health: Health;
  readonly metrics: Registry;
}): OperationsApp {
  const app = new Hono();
  const answer = (report: HealthReport) =>
    new Response(JSON.stringify(report), {
      status: report.healthy ? 200 : 503,
      headers: { 'content-type': 'application/json' },
    });
  app.get('/livez', async () => answer(await options.health.liveness()));
  app.get('/readyz', async () => answer(await options.health.readiness()));
  app.get('/metrics', async (context) =>
    context.text(await options.metrics.metrics(), 200, { 'content-type': options.metrics.contentType }),
  );
  app.notFound((context) =>
    answerJson(context, 404, { code: 'not_found', message: 'there is nothing at this path' }),
  );
  return { app, operator: new Hono() };
}

/** Puts the operator routes behind the token; called once all of them are added. */
export function mountOperator(operations: OperationsApp, operatorToken: string): void {
  const expected = sha256(operatorToken);
  const guarded = new Hono();
  guarded.use(async (context, next) => {
    const header = context.req.header('authorization');
    if (header === undefined) {
      return answerJson(context, 401, {
        code: 'unauthenticated',
        message: 'send Authorization: Bearer <operator token>',
      });
    }
    const token = /^Bearer (\S+)$/.exec(header)?.[1] ?? '';
    if (!timingSafeEqual(sha256(token), expected)) {
      return answerJson(context, 403, { code: 'forbidden', message: 'the operator token is wrong' });
    }
    await next();
    return undefined;
  });
  guarded.route('/', operations.operator);
  operations.app.route('/', guarded);
}
