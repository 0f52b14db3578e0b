import {
  countryCode,
  currencyCode,
  jsonNumber,
  type PayoutCode,
  payoutCodes,
  type SinglePayoutRequest,
  singlePayoutRequest,
} from '@pesewa/contracts';
import {
  type Clock,
  feeFor,
  formatAmount,
  type Ids,
  type Money,
  parseAmount,
  type Result,
  refuse,
} from '@pesewa/kernel';
import { answerJson } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { lookedUpPayout, submittedPayout } from './bodies.ts';
import type { Terms } from './domain/payment.ts';
import { findProcessor, processorsIn } from './domain/processors.ts';
import { lastFourDigits, scriptOf } from './domain/script.ts';
import type { Journal } from './journal.ts';
import { readJsonBody } from './json-body.ts';
import type { Payments } from './payments.ts';
import type { Scenarios } from './scenarios.ts';
import type { Wallets } from './wallets.ts';
import { type AnswerAs, isBase64Of, resetConnection, type Wire } from './wire.ts';

/** What the payout API of the simulated upstream works with. */
export interface PayoutRoutesDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly payments: Payments;
  readonly wallets: Wallets;
  readonly scenarios: Scenarios;
  readonly journal: Journal;
  readonly answerAs: AnswerAs;
  readonly clientPublicKey: string;
  readonly callbackUrl: string;
}

/** The simulator's own fee of a payout: 0.5 % (design 6). */
const payoutFee = { fixedMinor: 0n, basisPoints: 50n, minimumMinor: 0n };

const nameEnquiry = z.object({
  accountNumber: z.string().min(1),
  bankCode: z.string().min(1),
  currency: z.string().min(1),
  country: z.string().min(1),
});

/** Places of the wallets, by currency (contract 2.5). */
const walletPlaces: ReadonlyMap<string, { readonly country: string; readonly symbol: string }> = new Map([
  ['GMD', { country: 'GMB', symbol: 'D' }],
  ['GHS', { country: 'GHA', symbol: '&#8373;' }],
  ['XOF', { country: 'CIV', symbol: 'CFA' }],
  ['KES', { country: 'KEN', symbol: 'KSh' }],
  ['XAF', { country: 'CMR', symbol: 'FCFA' }],
  ['NGN', { country: 'NGA', symbol: '&#8358;' }],
  ['ZAR', { country: 'ZAF', symbol: 'R' }],
  ['EGP', { country: 'EGY', symbol: 'E&#163;' }],
]);

/** The last digits of an account that a name enquiry does not find: payouts to it fail, too (design 6). */
const NO_ACCOUNT_DIGITS = '0001';

const holderNames = [
  'Awa Jallow',
  'Kofi Mensah',
  'Aminata Kone',
  'Wanjiru Kamau',
  'Chinedu Okafor',
  'Thandi Nkosi',
];

/** The payout API that the simulated upstream serves (contract 4.1 to 4.6). */
export function createPayoutRoutes(deps: PayoutRoutesDeps): Hono<Wire> {
  const app = new Hono<Wire>();
  app.use(async (context, next) => {
    if (!isBase64Of(context.req.header('x-api-key'), deps.clientPublicKey)) {
      return refusal(context, 'unauthenticated', 'the API key is missing or wrong');
    }
    await next();
    return undefined;
  });
  app.post('/transactions/transfer/single', (context) => submit(context, deps));
  app.post('/transactions/transfer/bulk', (context) =>
    refusal(context, 'noRoute', 'bulk payouts are not supported'),
  );
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

async function submit(context: Context<Wire>, deps: PayoutRoutesDeps): Promise<Response> {
  const body = await readJsonBody(context, singlePayoutRequest);
  if (!body.ok) return refusal(context, 'malformed', body.refusal);
  const amount = readAmount(body.value);
  if (!amount.ok) return refusal(context, amount.refusal.code, amount.refusal.message);
  const terms = termsOf(body.value, amount.value, deps);
  const done = await deps.payments.request('payout', terms.reference, { type: 'submit', terms });
  if (!done.ok) {
    const shown = {
      amount: formatAmount(terms.amount.minor, terms.amount.currency),
      currency: terms.amount.currency,
    };
    deps.journal.noteRequest(deps.clock.nowMs(), {
      operation: 'payout',
      reference: terms.reference,
      ...shown,
      outcome: 'duplicate',
    });
    return refusal(context, 'duplicate', 'the transaction reference was used before');
  }
  const { events, payment } = done.value;
  const [first] = events;
  if (first?.type === 'attemptRefused' || payment.status === 'ABSENT') {
    if (first?.type === 'attemptRefused' && first.how === 'tooManyRequests') {
      context.header('retry-after', '1');
      return refusal(context, 'tooManyRequests', 'too many requests');
    }
    return resetConnection(context);
  }
  return deps.answerAs(context, scriptOf(terms.digits).answer, {
    normal: () =>
      envelope(context, 'accepted', true, 'Transaction submitted successfully', submittedPayout(payment)),
    serverError: () => refusal(context, 'broken', 'internal error'),
    callbackTried: () => deps.payments.callbackTried('payout', terms.reference),
  });
}

function readAmount(body: SinglePayoutRequest): Result<Money, { code: PayoutCode; message: string }> {
  const currency = currencyCode(body.currency);
  if (currency === undefined)
    return refuse({ code: 'malformed', message: 'currency must be an ISO 4217 code' });
  if (countryCode(body.country) === undefined) {
    return refuse({ code: 'malformed', message: 'country is unknown' });
  }
  const amount = parseAmount(body.beneficiary.amount, currency);
  if (!amount.ok || amount.value.minor <= 0n) {
    return refuse({ code: 'invalidAmount', message: 'beneficiary.amount is no acceptable amount' });
  }
  return amount;
}

function termsOf(body: SinglePayoutRequest, amount: Money, deps: PayoutRoutesDeps): Terms {
  return {
    kind: 'payout',
    reference: body.transactionReference,
    // Ours stand apart from those of a client that makes its own the same way.
    ownReference: `u${deps.ids.next('po')}`,
    amount,
    feeMinor: feeFor(payoutFee, amount.minor),
    digits: deps.scenarios.resolve(lastFourDigits(body.beneficiary.accountNumber)),
    callbackUrl: deps.callbackUrl,
  };
}

async function lookUp(context: Context<Wire>, reference: string, deps: PayoutRoutesDeps): Promise<Response> {
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

async function enquireName(context: Context<Wire>, deps: PayoutRoutesDeps): Promise<Response> {
  const body = await readJsonBody(context, nameEnquiry);
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
  return answerJson(context, 200, {
    isSuccessful: true,
    responseMessage: 'Account found',
    responseData: { accountName, accountNumber, bankCode, sessionId: `u${deps.ids.next('ev')}` },
  });
}

function walletRecord({ currency, minor }: { readonly currency: string; readonly minor: bigint }) {
  const place = walletPlaces.get(currency);
  return {
    balance: jsonNumber(formatAmount(minor, currency)),
    countryCode: place?.country ?? '',
    countryAvatar: place === undefined ? '' : `https://flags.example/${place.country.toLowerCase()}.svg`,
    currencyCode: currency,
    currencyHtml: place?.symbol ?? currency,
  };
}

function processorRecord(processor: ReturnType<typeof processorsIn>[number]) {
  return { avatar: '#c8963e', sortCode: processor.code, ...processor };
}

function success(context: Context, message: string, data: object): Response {
  return envelope(context, 'answered', true, message, data);
}

function refusal(context: Context, code: PayoutCode, message: string): Response {
  return envelope(context, code, false, message);
}

/** Every answer of the payout API (contract 2.1, design 9). */
function envelope(context: Context, name: PayoutCode, isSuccessful: boolean, message: string, data?: object) {
  const { code, status } = payoutCodes[name];
  return answerJson(context, status, {
    isSuccessful,
    responseCode: code,
    responseMessage: message,
    ...(data && { responseData: data }),
  });
}
