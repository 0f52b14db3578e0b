import type { HttpBindings } from '@hono/node-server';
import type { Context, MiddlewareHandler } from 'hono';
import { matchedRoutes } from 'hono/route';
import { Counter, Histogram, type Registry } from 'prom-client';
import { inServerSpan } from './spans.ts';

/** The status of an answer, or `aborted` if the client had gone before it could be answered. */
type RequestStatus = number | 'aborted';

/** Measures the outcomes of requests, by the templates of their routes. */
export type RequestMeter = ReturnType<typeof createRequestMeter>;

/** What the server passes on with each request; empty if an app is called without a server. */
export type ServerBindings = Partial<HttpBindings> & { requests?: RequestMeter | undefined };

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** The label of all paths without a route: a label per path would let clients create any number of them. */
const NO_ROUTE = 'none';

/** Registers `http_requests_total` and `http_request_seconds`. */
export function createRequestMeter(registry: Registry, monotonicMs: () => number = () => performance.now()) {
  const requests = new Counter({
    name: 'http_requests_total',
    help: 'Requests by route, method and status; `aborted` if the client disconnected before its answer.',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  });
  const seconds = new Histogram({
    name: 'http_request_seconds',
    help: 'Time from a request until its answer was ready, by route and method.',
    labelNames: ['route', 'method'],
    buckets: SECONDS,
    registers: [registry],
  });
  return {
    /** A clock that never goes back, in milliseconds since an arbitrary moment. */
    monotonicMs,
    /** Whether spans are recorded for the requests. */
    isTraced: true,
    answered: ({
      method,
      route,
      status,
      durationMs,
    }: {
      readonly method: string;
      readonly route: string;
      readonly status: RequestStatus;
      readonly durationMs: number;
    }) => {
      requests.inc({ route, method, status });
      seconds.observe({ route, method }, durationMs / 1_000);
    },
  };
}

/** The template of the request's route; middleware, which is registered for all methods, does not count. */
function routeOf(context: Context): string {
  return matchedRoutes(context).findLast(({ method }) => method !== 'ALL')?.path ?? NO_ROUTE;
}

/** Whether the client hung up within its body: what then fails is no fault of ours. */
export function isCutOff(context: Context): boolean {
  const { incoming } = (context.env ?? {}) as Partial<ServerBindings>;
  return isDisconnected(context) && incoming?.complete === false;
}

/** Whether the client has hung up: no answer reaches it. */
function isDisconnected(context: Context): boolean {
  return (context.env as ServerBindings | undefined)?.outgoing?.destroyed === true;
}

/** The outcome of a finished request. */
function statusOf(context: Context): RequestStatus {
  return isDisconnected(context) ? 'aborted' : context.res.status;
}

/** Deals with a request within its span. */
export const traceRequest: MiddlewareHandler = (context, next) =>
  inServerSpan(context, routeOf(context), next, statusOf);

/**
 * Counts and times the requests of an app, and records their spans. It must be the first middleware, so that it sees
 * every answer.
 */
export const instrumentRequests: MiddlewareHandler = async (context, next) => {
  const bindings = context.env as ServerBindings | undefined;
  const meter = bindings?.requests;
  if (bindings === undefined || meter === undefined) return next();
  // An app that is mounted in another one would count the request again.
  bindings.requests = undefined;
  const startedAtMs = meter.monotonicMs();
  await (meter.isTraced ? traceRequest(context, next) : next());
  meter.answered({
    method: context.req.method,
    route: routeOf(context),
    status: statusOf(context),
    durationMs: meter.monotonicMs() - startedAtMs,
  });
  return undefined;
};
