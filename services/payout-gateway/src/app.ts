import {
  describeProblem,
  firstProblem,
  JsonError,
  jsonNumber,
  type PayoutCode,
  parseJson,
  payoutCodes,
  singlePayoutRequest,
} from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { formatAmount } from '@pesewa/kernel';
import { answerJson, hardenApp, type Logger, readJsonText } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import type { Payouts } from './payouts.ts';
import type { Payout } from './store.ts';

interface AppEnv {
  readonly Variables: { merchant: Merchant };
}

/** The largest body of a single payout. */
const SINGLE_BYTES_MAX = 16_384;

/** Builds the payout API (contract 4.1, 4.3). */
export function createApp(deps: {
  readonly payouts: Payouts;
  readonly identify: (apiKey: string) => Promise<Merchant | undefined>;
  readonly logger: Logger;
}): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  hardenApp(app, {
    logger: deps.logger,
    broken: (context) =>
      answer(context, 'broken', 'something broke on our side: ask for the payout before you send it again'),
    notFound: (context) =>
      answerJson(context, 404, {
        isSuccessful: false,
        responseCode: '25',
        responseMessage: 'there is nothing at this path',
      }),
  });

  app.use('/api/v1/*', async (context, next) => {
    const merchant = await deps.identify(context.req.header('x-api-key') ?? '');
    if (!merchant)
      return answer(context, 'unauthenticated', 'x-api-key must be the Base64 of your public key');
    if (merchant.status !== 'active') return answer(context, 'notPermitted', 'this merchant is suspended');
    context.set('merchant', merchant);
    await next();
    return undefined;
  });

  app.post('/api/v1/transactions/transfer/single', async (context) => {
    const body = await readJsonText(context, SINGLE_BYTES_MAX);
    if (!body.ok) return answer(context, 'malformed', bodyProblems[body.refusal]);
    const parsed = parseBody(body.text);
    if (typeof parsed === 'string') return answer(context, 'malformed', parsed);
    const payout = await deps.payouts
      .submit(context.get('merchant'), parsed.request)
      .catch((error: unknown) => {
        deps.logger.error({ err: error }, 'a payout could not be stored');
        return undefined;
      });
    if (!payout)
      return answer(context, 'unavailable', 'the payout may or may not be stored: send it again unchanged');
    if (!payout.ok) return answer(context, payout.refusal.code, payout.refusal.message);
    return answer(context, 'accepted', 'Transaction submitted successfully', view(payout.value));
  });

  app.get('/api/v1/transactions/:reference/query', async (context) => {
    const payout = await deps.payouts.find(context.get('merchant').id, context.req.param('reference'));
    if (!payout) return answer(context, 'notFound', 'Transaction not found');
    return answer(context, 'answered', 'Transaction found', {
      ...view(payout),
      valueAmount: money(payout, payout.order.amount.minor + payout.fee),
      statusReason: payout.statusReason ?? '',
    });
  });

  return app;
}

const bodyProblems = {
  'body.too_large': `the body must have at most ${SINGLE_BYTES_MAX} bytes`,
  'body.not_json': 'Content-Type must be application/json',
  'body.not_utf8': 'the body must be UTF-8',
} as const;

function parseBody(text: string) {
  try {
    const parsed = singlePayoutRequest.safeParse(parseJson(text));
    return parsed.success ? { request: parsed.data } : describeProblem(firstProblem(parsed.error));
  } catch (error) {
    if (error instanceof JsonError) return 'the body must be well-formed JSON, each key once';
    throw error;
  }
}

function money(payout: Payout, minor: bigint): number {
  return jsonNumber(formatAmount(minor, payout.order.amount.currency));
}

/** A payout as a submission answers it (contract 2.4). */
function view(payout: Payout) {
  return {
    transactionStatus: payout.status,
    merchantReference: payout.order.merchantReference,
    transactionReference: payout.reference,
    amount: money(payout, payout.order.amount.minor),
    feeAmount: money(payout, payout.fee),
  };
}

function answer(
  context: Pick<Context, 'newResponse'>,
  name: PayoutCode,
  message: string,
  data?: unknown,
): Response {
  const { code, status } = payoutCodes[name];
  return answerJson(context, status, {
    isSuccessful: status === 200,
    responseCode: code,
    responseMessage: message,
    ...(data !== undefined && { responseData: data }),
  });
}
