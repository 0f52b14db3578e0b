import {
  type CompletePayinRequest,
  completePayinRequest,
  describeProblem,
  type FieldProblem,
  type PayinRequest,
  payinRequest,
} from '@pesewa/contracts';
import { accept, type Clock, type Result, refuse, unreachable } from '@pesewa/kernel';
import {
  type AppEnv,
  type AuthenticationDeps,
  type AuthenticationRefusal,
  authenticate,
} from '@pesewa/merchant-api';
import { currentTraceparent, type Logger, readJsonBody } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import type { z } from 'zod';
import type { AnswerDeadline } from './answer-deadline.ts';
import { answerCompleting, answerInitiated, answerRefused } from './answers.ts';
import { collectionOperations } from './collection-operations.ts';
import type { Collections } from './collections.ts';
import type { CompleteCollection } from './completer.ts';
import { type CollectionForm, otpProblem, readForm, securityTexts } from './domain/initiation.ts';
import type { InitiateCollection } from './initiator.ts';
import { BODY_BYTES_MAX, isSecurityModule, merchantKeyOf } from './requests.ts';

const UNSTORED = {
  payin: 'the collection may or may not be recorded: check its status before you send it again',
  completion: 'the completion was not passed on: send it again',
} as const;

/** The dependencies of initiation and completion. */
export interface CollectionRouteDeps extends AuthenticationDeps {
  readonly collections: Pick<Collections, 'accept'>;
  readonly initiate: InitiateCollection;
  readonly complete: CompleteCollection;
  readonly answerDeadline: Pick<AnswerDeadline, 'within' | 'deadlineMs'>;
  readonly clock: Pick<Clock, 'nowMs'>;
  /** Whether a webhook may be sent to an address that a request names (contract 10.15). */
  readonly mayBeCalled: (webhookUrl: string) => boolean;
  readonly logger: Logger;
}

/** The routes that accept collections and completions (contract 4.7, 4.8). */
export function createCollectionRoutes(deps: CollectionRouteDeps): Hono<AppEnv> {
  const routes = new Hono<AppEnv>();
  const authentication = authenticate(deps, {
    scope: 'collections',
    keyOf: merchantKeyOf,
    refuse: answerUnauthenticated,
  });
  routes.post(collectionOperations.payin.getRoutingPath(), authentication, (context) => payin(context, deps));
  routes.post(collectionOperations.completePayin.getRoutingPath(), authentication, (context) =>
    completePayin(context, deps),
  );
  return routes;
}

/** Records the collection, then asks the rail; the answer waits for both only until the deadline (contract 10.11). */
async function payin(context: Context<AppEnv>, deps: CollectionRouteDeps): Promise<Response> {
  const { clock, answerDeadline } = deps;
  const deadlineAtMs = clock.nowMs() + answerDeadline.deadlineMs;
  const read = await readForms<PayinRequest>(context, payinRequest, ({ webhookUrl }) =>
    webhookUrl === undefined || deps.mayBeCalled(webhookUrl) ? undefined : notPublic,
  );
  if (!read.ok) return read.refusal;
  const merchant = context.get('merchant');
  const accepting = deps.collections.accept(
    merchant,
    read.value.form,
    currentTraceparent(context.req.header('traceparent')),
  );
  const accepted = await answerDeadline.within(accepting, deadlineAtMs - clock.nowMs());
  if (!accepted) {
    // A collection that is recorded later goes on as if it had been answered.
    const goesOn = accepting.then(
      (late) => (late.ok ? deps.initiate(late.value) : undefined),
      () => undefined,
    );
    void answerDeadline.within(goesOn, 0);
    return answerRefused(context, 'SERVICE UNAVAILABLE', { description: UNSTORED.payin });
  }
  if (!accepted.ok) {
    const { reason, ...details } = accepted.refusal;
    return answerRefused(context, reason, details);
  }
  const initiated = await answerDeadline.within(deps.initiate(accepted.value), deadlineAtMs - clock.nowMs());
  const collection = initiated?.collection ?? accepted.value;
  if (collection.status === 'FAILED') {
    return answerRefused(context, collection.failureReason ?? 'FAILED', { reference: collection.reference });
  }
  return answerInitiated(context, collection, initiated?.redirectionUrl ?? '');
}

const notPublic: FieldProblem = {
  path: 'webhookUrl',
  message: 'must be https on port 443 of the public internet',
};

async function completePayin(context: Context<AppEnv>, deps: CollectionRouteDeps): Promise<Response> {
  const read = await readForms<CompletePayinRequest>(context, completePayinRequest, otpProblem);
  if (!read.ok) return read.refusal;
  const { form, request } = read.value;
  const merchant = context.get('merchant');
  const completed = await deps.complete(merchant, form, request.otpCode).catch((error: unknown) => {
    deps.logger.error({ err: error }, 'a completion could not be stored');
    return undefined;
  });
  const description = UNSTORED.completion;
  if (!completed) return answerRefused(context, 'SERVICE UNAVAILABLE', { description });
  if (completed.ok) return answerCompleting(context, completed.value.reference);
  const { reason, ...details } = completed.refusal;
  return answerRefused(context, reason, details);
}

interface ReadRequest<Request> {
  readonly request: Request;
  readonly form: CollectionForm;
}

/** Checks form and security module, in this order (contract 10.2). */
async function readForms<Request extends PayinRequest>(
  context: Context<AppEnv>,
  schema: z.ZodType<Request>,
  problemOf: (request: Request) => FieldProblem | undefined,
): Promise<Result<ReadRequest<Request>, Response>> {
  const invalid = (description: string) => refuse(answerRefused(context, 'INVALID REQUEST', { description }));
  const request = await readJsonBody(context, schema, BODY_BYTES_MAX);
  if (!request.ok) return invalid(request.refusal);
  const form = readForm(request.value);
  if (!form.ok) return invalid(describeProblem(form.refusal));
  const problem = problemOf(request.value);
  if (problem) return invalid(describeProblem(problem));
  if (!isSecurityModule(context.req.header('x-module'), securityTexts(form.value))) {
    return refuse(answerRefused(context, 'INCORRECT SECURITY MODULE'));
  }
  return accept({ request: request.value, form: form.value });
}

function answerUnauthenticated(context: Context<AppEnv>, refusal: AuthenticationRefusal): Response {
  switch (refusal.kind) {
    case 'unknown':
    case 'suspended':
      return answerRefused(context, 'UNAUTHORIZED', {
        description: 'X-business must be the Base64 of your public key, and X-app must be api',
      });
    case 'outOfScope':
      return answerRefused(context, 'UNAUTHORIZED', {
        description: 'X-business is not for collections: send a key that has the scope collections',
      });
    case 'wrongAddress':
    case 'unsigned':
      return answerRefused(context, 'UNAUTHORIZED', { description: refusal.message });
    case 'unavailable':
      return answerRefused(context, 'SERVICE UNAVAILABLE', {
        description: 'your key can not be looked up at present: nothing was recorded, send it again',
      });
    case 'tooMany':
      return answerRefused(context, 'TOO MANY REQUESTS', {
        description: `too many requests: nothing was recorded, send it again after ${refusal.waitSeconds} s`,
        retryAfterSeconds: refusal.waitSeconds,
      });
    default:
      return unreachable(refusal);
  }
}
