import { currencyCode, describeProblem, firstProblem } from '@pesewa/contracts';
import { accept, type Clock, formatAmount, parseAmount, type Result, refuse } from '@pesewa/kernel';
import { answerJson } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import type { Faults } from './faults.ts';
import type { Journal } from './journal.ts';
import type { Payments } from './payments.ts';
import type { ReceivedWebhooks } from './received-webhooks.ts';
import type { Scenarios } from './scenarios.ts';
import type { HttpEnv } from './scripted-answers.ts';
import type { Wallets } from './wallets.ts';

/** The dependencies of the control API. */
export interface ControlRoutesDeps {
  readonly clock: Clock;
  readonly journal: Journal;
  readonly received: ReceivedWebhooks;
  /** Where webhooks go on to, by merchant. */
  readonly receivers: Map<string, string>;
  readonly wallets: Wallets;
  readonly scenarios: Scenarios;
  readonly faults: Faults;
  readonly payments: Pick<Payments, 'request'>;
}

const LATENCY_MS_MAX = 60_000;
const TIMES_MAX = 1_000_000;

const fourDigits = z.string().regex(/^\d{4}$/, { error: 'must be four digits' });
const scenario = z.strictObject({ like: fourDigits.nullable() });
const faultChange = z.strictObject({
  callbacks: z.boolean().nullish(),
  outage: z.boolean().nullish(),
  latencyMs: z.int().min(0).max(LATENCY_MS_MAX).nullish(),
  merchantEndpoint: z
    .strictObject({ status: z.int().min(200).max(599), times: z.int().min(0).max(TIMES_MAX) })
    .nullish(),
});
const receiverChange = z.strictObject({
  url: z.url({ protocol: /^https?$/, error: 'must be an http or https address' }).nullable(),
});
const walletChange = z.strictObject({
  wallets: z.array(z.strictObject({ currency: z.string(), balance: z.string() })).max(200),
});

/** The control API of the README of this service. */
export function createControlRoutes(deps: ControlRoutesDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.get('/journal', async (context) =>
    answerJson(context, 200, { entries: await deps.journal.entries(context.req.query('reference')) }),
  );
  app.get('/received', async (context) => {
    const filter = { merchantId: context.req.query('merchant'), reference: context.req.query('reference') };
    return answerJson(context, 200, { webhooks: await deps.received.find(filter) });
  });
  app.get('/receivers', (context) => answerReceivers(context, deps));
  app.put('/receivers/:merchantId', async (context) => {
    const body = await readBody(context, receiverChange);
    if (!body.ok) return badRequest(context, body.refusal);
    const { url } = body.value;
    if (url === null) deps.receivers.delete(context.req.param('merchantId'));
    else deps.receivers.set(context.req.param('merchantId'), url);
    return answerReceivers(context, deps);
  });
  app.get('/wallets', (context) => answerWallets(context, deps));
  app.put('/wallets', (context) => putWallets(context, deps));
  app.get('/scenarios', (context) => answerJson(context, 200, { scenarios: deps.scenarios.list() }));
  app.put('/scenarios/:digits', async (context) => {
    const digits = fourDigits.safeParse(context.req.param('digits'));
    const body = await readBody(context, scenario);
    if (!digits.success) return badRequest(context, 'a scenario is named by four digits');
    if (!body.ok) return badRequest(context, body.refusal);
    deps.scenarios.change(digits.data, body.value.like ?? undefined);
    return answerJson(context, 200, { digits: digits.data, like: body.value.like });
  });
  app.delete('/scenarios/:digits', (context) => {
    deps.scenarios.change(context.req.param('digits'), undefined);
    return answerJson(context, 200, { digits: context.req.param('digits'), like: null });
  });
  app.put('/reversals/:reference', async (context) => {
    const reference = context.req.param('reference');
    const done = await deps.payments.request('payout', reference, { type: 'reverse' });
    if (done.ok) return answerJson(context, 200, { reference, status: done.value.payment.status });
    if (done.refusal === 'payment.unknown')
      return answerJson(context, 404, {
        code: 'not_found',
        message: 'no payout was sent with this reference',
      });
    return answerJson(context, 409, { code: 'closed', message: 'only a completed payout can be reversed' });
  });
  app.get('/faults', (context) => answerJson(context, 200, deps.faults.current()));
  app.put('/faults', async (context) => {
    const body = await readBody(context, faultChange);
    if (!body.ok) return badRequest(context, body.refusal);
    deps.faults.change(body.value);
    return answerJson(context, 200, deps.faults.current());
  });
  return app;
}

async function putWallets(context: Context, deps: ControlRoutesDeps): Promise<Response> {
  const body = await readBody(context, walletChange);
  if (!body.ok) return badRequest(context, body.refusal);
  const balances = body.value.wallets.map(readBalance);
  // All or none: if one of them is wrong, the others must stay unchanged.
  for (const balance of balances) if (!balance.ok) return badRequest(context, balance.refusal);
  for (const balance of balances) {
    if (!balance.ok) continue;
    const { currency, minor } = balance.value;
    deps.wallets.set(currency, minor);
    deps.journal.recordWallet(deps.clock.nowMs(), currency, minor);
  }
  await deps.journal.flushed();
  return answerWallets(context, deps);
}

function readBalance(wallet: { readonly currency: string; readonly balance: string }) {
  const currency = currencyCode(wallet.currency);
  if (currency === undefined) return refuse('wallets.currency must be an ISO 4217 code');
  const balance = parseAmount(wallet.balance, currency);
  return balance.ok ? balance : refuse('wallets.balance must be a decimal text');
}

function answerReceivers(context: Context, { receivers }: ControlRoutesDeps): Response {
  return answerJson(context, 200, { receivers: Object.fromEntries(receivers) });
}

function answerWallets(context: Context, { wallets }: ControlRoutesDeps): Response {
  const shown = wallets
    .list()
    .map(({ currency, minor }) => ({ currency, balance: formatAmount(minor, currency) }));
  return answerJson(context, 200, { wallets: shown });
}

async function readBody<Schema extends z.ZodType>(
  context: Context,
  schema: Schema,
): Promise<Result<z.output<Schema>, string>> {
  const body: unknown = await context.req.json().catch(() => undefined);
  const parsed = schema.safeParse(body);
  return parsed.success ? accept(parsed.data) : refuse(describeProblem(firstProblem(parsed.error)));
}

function badRequest(context: Context, message: string): Response {
  return answerJson(context, 400, { code: 'malformed', message });
}
