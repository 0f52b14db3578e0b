import { countryCode, currencyHtml, jsonNumber, servedCountries } from '@pesewa/contracts';
import { formatAmount } from '@pesewa/kernel';
import { answerJson, readJsonBody } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { findProcessor, processorsIn } from './domain/processors.ts';
import { lastFourDigits, scriptOf } from './domain/script.ts';
import { lookedUpPayout } from './payment-bodies.ts';
import { refusal, success } from './payout-answers.ts';
import { type SubmissionDeps, submitBatch, submitSingle } from './payout-submissions.ts';
import { BODY_BYTES_MAX, type HttpEnv, isBase64Of } from './scripted-answers.ts';
import type { Wallets } from './wallets.ts';

/** The dependencies of the simulated upstream's payout API. */
export interface PayoutRoutesDeps extends SubmissionDeps {
  readonly wallets: Wallets;
  readonly clientPublicKey: string;
}

const nameEnquiry = z.object({
  accountNumber: z.string().min(1),
  bankCode: z.string().min(1),
  currency: z.string().min(1),
  country: z.string().min(1),
});

/** The last digits of an account that a name enquiry does not find; payouts to it fail too (contract 10.18). */
const NO_ACCOUNT_DIGITS = '0001';

const holderNames = [
  'Awa Jallow',
  'Kofi Mensah',
  'Aminata Kone',
  'Wanjiru Kamau',
  'Chinedu Okafor',
  'Thandi Nkosi',
];

/** The simulated upstream's payout API (contract 4.1 to 4.6). */
export function createPayoutRoutes(deps: PayoutRoutesDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.use(async (context, next) => {
    if (!isBase64Of(context.req.header('x-api-key'), deps.clientPublicKey)) {
      return refusal(context, 'unauthenticated', 'the API key is missing or wrong');
    }
    await next();
    return undefined;
  });
  app.post('/transactions/transfer/single', (context) => submitSingle(context, deps));
  app.post('/transactions/transfer/bulk', (context) => submitBatch(context, deps));
  app.get('/transactions/:reference/query', (context) =>
    lookUp(context, context.req.param('reference'), deps),
  );
  app.post('/wallets/balance', (context) => {
    const asked = context.req.query('currency')?.toUpperCase();
    const wallets = deps.wallets.list().filter(({ currency }) => asked === undefined || currency === asked);
    return success(context, 'Balances', wallets.map(walletRecord));
  });
  app.get('/banks', (context) => {
    const country = context.req.query('country') ?? '';
    if (country === '') return refusal(context, 'malformed', 'country is required');
    return success(context, 'Processors', processorsIn(countryCode(country) ?? '').map(processorRecord));
  });
  app.post('/transactions/name-enquiry', (context) => enquireName(context, deps));
  return app;
}

async function lookUp(
  context: Context<HttpEnv>,
  reference: string,
  deps: PayoutRoutesDeps,
): Promise<Response> {
  const found = await deps.payments.find('payout', reference);
  const nowMs = deps.clock.nowMs();
  const known =
    found && nowMs >= found.acceptedAtMs + scriptOf(found.terms.digits).deniedMs ? found : undefined;
  const amount = found?.terms.amount;
  deps.journal.noteRequest(nowMs, {
    operation: 'lookup',
    reference: found?.terms.reference ?? reference,
    amount: amount ? formatAmount(amount.minor, amount.currency) : '',
    currency: amount?.currency ?? '',
    outcome: known?.status ?? 'NOT FOUND',
  });
  if (known === undefined) return refusal(context, 'notFound', 'the transaction was not found');
  return success(context, 'Transaction found', lookedUpPayout(known));
}

async function enquireName(context: Context<HttpEnv>, deps: PayoutRoutesDeps): Promise<Response> {
  const body = await readJsonBody(context, nameEnquiry, BODY_BYTES_MAX);
  if (!body.ok) return refusal(context, 'malformed', body.refusal);
  const { accountNumber, bankCode, country } = body.value;
  const processor = findProcessor(countryCode(country) ?? '', bankCode);
  if (!processor?.active || processor.blockTransaction) {
    return refusal(context, 'noRoute', 'the processor is unknown, inactive or blocked');
  }
  const digits = lastFourDigits(accountNumber);
  if (digits === NO_ACCOUNT_DIGITS) return refusal(context, 'notFound', 'there is no such account');
  const index = Number(digits) % holderNames.length;
  const accountName = holderNames[index] ?? '';
  const found = () =>
    answerJson(context, 200, {
      isSuccessful: true,
      responseMessage: 'Account found',
      responseData: { accountName, accountNumber, bankCode, sessionId: `u${deps.ids.next('rn')}` },
    });
  const answer = scriptOf(digits).answer === 'never' ? 'never' : 'normal';
  const callbackTried = () => Promise.resolve();
  return deps.answerAs(context, answer, { normal: found, serverError: found, callbackTried });
}

function walletRecord({ currency, minor }: { readonly currency: string; readonly minor: bigint }) {
  const country = Object.values(servedCountries).find((served) => served.currency === currency)?.code ?? '';
  return {
    balance: jsonNumber(formatAmount(minor, currency)),
    countryCode: country,
    countryAvatar: country === '' ? '' : `https://flags.example/${country.toLowerCase()}.svg`,
    currencyCode: currency,
    currencyHtml: currencyHtml(currency),
  };
}

function processorRecord(processor: ReturnType<typeof processorsIn>[number]) {
  return { avatar: '#c8963e', sortCode: processor.code, ...processor };
}
