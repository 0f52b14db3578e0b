import { checkStatusRequest, countryCode } from '@pesewa/contracts';
import { type Clock, unreachable } from '@pesewa/kernel';
import {
  type AppEnv,
  type AuthenticationDeps,
  type AuthenticationRefusal,
  authenticate,
} from '@pesewa/merchant-api';
import { type Logger, readJsonBody } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { answerRejected, answerStatus } from './answers.ts';
import type { Collections } from './collections.ts';
import { BODY_BYTES_MAX, isSecurityModule, merchantKeyOf } from './requests.ts';
import { statusOperations } from './status-operations.ts';

/** The dependencies of the status check; they include no rail, so that no check can ask one. */
export interface StatusRouteDeps extends AuthenticationDeps {
  readonly collections: Pick<Collections, 'find'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/** The route that gives a collection's status (contract 4.9). */
export function createStatusRoutes(deps: StatusRouteDeps): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  const authentication = authenticate(deps, {
    scope: 'collections',
    keyOf: merchantKeyOf,
    refuse: (context, refusal) => answerUnauthenticated(context, refusal, deps.clock.nowMs()),
  });
  routes.post(statusOperations.checkStatus.getRoutingPath(), authentication, (context) =>
    checkStatus(context, deps),
  );
  return routes;
}

/**
 * Finds a collection by the merchant's reference, else by ours. All refusals have the same body (contract 7 and 10.14).
 */
async function checkStatus(context: Context<AppEnv>, deps: StatusRouteDeps): Promise<Response> {
  const reference = await readReference(context);
  if (reference === undefined) return answerRejected(context, 400, deps.clock.nowMs());
  const found = await deps.collections.find(context.get('merchant').id, reference).then(
    (collection) => ({ collection }),
    (error: unknown) => {
      deps.logger.error({ err: error }, 'a collection could not be read');
      return undefined;
    },
  );
  return found ? answerStatus(context, found.collection) : answerRejected(context, 503, deps.clock.nowMs());
}

/** The requested reference, if form and security module are correct. */
async function readReference(context: Context<AppEnv>): Promise<string | undefined> {
  const request = await readJsonBody(context, checkStatusRequest, BODY_BYTES_MAX);
  if (!request.ok || countryCode(request.value.transactionCountry.toUpperCase()) === undefined)
    return undefined;
  const { transactionReference } = request.value;
  return isSecurityModule(context.req.header('x-module'), [transactionReference])
    ? transactionReference
    : undefined;
}

/** Answers a merchant who is not let in, in the four fields of contract 4.9. */
export function answerUnauthenticated(
  context: Context<AppEnv>,
  refusal: AuthenticationRefusal,
  nowMs: number,
): Response {
  switch (refusal.kind) {
    case 'unknown':
    case 'suspended':
    case 'outOfScope':
    case 'wrongAddress':
    case 'unsigned':
      return answerRejected(context, 400, nowMs);
    case 'unavailable':
      return answerRejected(context, 503, nowMs);
    case 'tooMany':
      context.header('retry-after', String(refusal.waitSeconds));
      return answerRejected(context, 429, nowMs);
    default:
      return unreachable(refusal);
  }
}
