import {
  type CompletePayinRequest,
  checkStatusRequest,
  completePayinRequest,
  describeProblem,
  firstProblem,
  JsonError,
  type PayinRequest,
  parseJson,
  payinRequest,
} from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import { hardenApp, type Logger, readJsonText } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import type { z } from 'zod';
import { answerCompleting, answerInitiated, answerRefused, answerRejected, answerStatus } from './answers.ts';
import type { Collections } from './collections.ts';
import type { Complete } from './completer.ts';
import { type CollectionForm, otpProblem, readForm, securityTexts } from './domain/initiation.ts';
import type { Initiate } from './initiator.ts';
import type { Patience } from './patience.ts';

/** The largest body of a collection request. */
const BYTES_MAX = 16_384;
const CHECK_STATUS_PATH = '/collection/v1/check-status';

interface AppDeps {
  readonly collections: Pick<Collections, 'accept' | 'find'>;
  readonly initiate: Initiate;
  readonly complete: Complete;
  readonly patience: Pick<Patience, 'within'>;
  readonly identify: (business: string) => Promise<Merchant | undefined>;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly logger: Logger;
}

/** Builds the collection API (contract 4.7 to 4.9). */
export function createApp(deps: AppDeps): Hono {
  const app = new Hono();
  hardenApp(app, {
    logger: deps.logger,
    broken: (context) =>
      context.req.path === CHECK_STATUS_PATH
        ? answerRejected(context, 500, deps.clock.nowMs())
        : answerRefused(context, 'INTERNAL ERROR', {
            description:
              'something broke on our side: check the status of the collection before anything else',
          }),
    notFound: (context) => answerRejected(context, 404, deps.clock.nowMs()),
  });
  app.post('/collection/v1/payin', (context) => payin(context, deps));
  app.post('/collection/v1/complete-payin', (context) => completePayin(context, deps));
  app.post(CHECK_STATUS_PATH, (context) => checkStatus(context, deps));
  return app;
}

/** Records the collection, then asks the rail; the answer waits for the rail no longer than it may (design 9). */
async function payin(context: Context, deps: AppDeps): Promise<Response> {
  const read = await readRequest<PayinRequest>(context, deps, payinRequest);
  if (!read.ok) return read.refusal;
  const { merchant, form } = read.value;
  const accepted = await deps.collections.accept(merchant, form).catch((error: unknown) => {
    deps.logger.error({ err: error }, 'a collection could not be stored');
    return undefined;
  });
  if (!accepted) {
    const description = 'the collection may or may not be recorded: check its status';
    return answerRefused(context, 'SERVICE UNAVAILABLE', { description });
  }
  if (!accepted.ok) return answerRefused(context, accepted.refusal.reason, accepted.refusal);
  const initiated = await deps.patience.within(deps.initiate(accepted.value));
  const collection = initiated?.collection ?? accepted.value;
  if (collection.status === 'FAILED') {
    return answerRefused(context, collection.failureReason ?? 'FAILED', { reference: collection.reference });
  }
  return answerInitiated(context, collection, initiated?.redirectionUrl ?? '');
}

async function completePayin(context: Context, deps: AppDeps): Promise<Response> {
  const read = await readRequest<CompletePayinRequest>(context, deps, completePayinRequest, otpProblem);
  if (!read.ok) return read.refusal;
  const { merchant, form, request } = read.value;
  const completed = await deps.complete(merchant, form, request.otpCode).catch((error: unknown) => {
    deps.logger.error({ err: error }, 'a completion could not be stored');
    return undefined;
  });
  if (!completed)
    return answerRefused(context, 'SERVICE UNAVAILABLE', {
      description: 'the completion was not passed on: send it again',
    });
  if (!completed.ok) return answerRefused(context, completed.refusal.reason, completed.refusal);
  return answerCompleting(context, completed.value.reference);
}

/** Everything that is refused gets one and the same body (contract 7, design 9). */
async function checkStatus(context: Context, deps: AppDeps): Promise<Response> {
  const rejected = () => answerRejected(context, 400, deps.clock.nowMs());
  const merchant = await authenticate(context, deps);
  if (!merchant) return rejected();
  const body = await readBody(context, checkStatusRequest);
  if (!body.ok) return rejected();
  const { transactionReference } = body.value;
  if (context.req.header('x-module') !== base64(transactionReference)) return rejected();
  return answerStatus(context, await deps.collections.find(merchant.id, transactionReference));
}

interface ReadRequest<Request> {
  readonly merchant: Merchant;
  readonly request: Request;
  readonly form: CollectionForm;
}

/** Authentication, form and security module, in this order (design 9). */
async function readRequest<Request extends PayinRequest>(
  context: Context,
  deps: AppDeps,
  schema: z.ZodType<Request>,
  problemOf: (request: Request) => ReturnType<typeof otpProblem> = () => undefined,
): Promise<Result<ReadRequest<Request>, Response>> {
  const invalid = (description: string) => refuse(answerRefused(context, 'INVALID REQUEST', { description }));
  const merchant = await authenticate(context, deps);
  if (!merchant) {
    const description = 'X-business must be the Base64 of your public key, and X-app must be api';
    return refuse(answerRefused(context, 'UNAUTHORIZED', { description }));
  }
  const body = await readBody(context, schema);
  if (!body.ok) return invalid(body.refusal);
  const form = readForm(body.value);
  if (!form.ok) return invalid(describeProblem(form.refusal));
  const problem = problemOf(body.value);
  if (problem) return invalid(describeProblem(problem));
  const module = context.req.header('x-module');
  if (!securityTexts(form.value).some((text) => base64(text) === module)) {
    return refuse(answerRefused(context, 'INCORRECT SECURITY MODULE'));
  }
  return accept({ merchant, request: body.value, form: form.value });
}

async function authenticate(context: Context, deps: AppDeps): Promise<Merchant | undefined> {
  if (context.req.header('x-app') !== 'api') return undefined;
  const merchant = await deps.identify(context.req.header('x-business') ?? '');
  return merchant?.status === 'active' ? merchant : undefined;
}

const bodyProblems = {
  'body.too_large': `the body must have at most ${BYTES_MAX} bytes`,
  'body.not_json': 'Content-Type must be application/json',
  'body.not_utf8': 'the body must be UTF-8',
} as const;

/** Reads a body by its schema, or says in one sentence why it can't be. */
async function readBody<Body>(context: Context, schema: z.ZodType<Body>): Promise<Result<Body, string>> {
  const body = await readJsonText(context, BYTES_MAX);
  if (!body.ok) return refuse(bodyProblems[body.refusal]);
  try {
    const parsed = schema.safeParse(parseJson(body.text));
    return parsed.success ? accept(parsed.data) : refuse(describeProblem(firstProblem(parsed.error)));
  } catch (error) {
    if (error instanceof JsonError) return refuse('the body must be well-formed JSON, each key once');
    throw error;
  }
}

function base64(text: string): string {
  return Buffer.from(text, 'utf8').toString('base64');
}
