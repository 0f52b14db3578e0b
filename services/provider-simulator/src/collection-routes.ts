import {
  type CollectionRefusal,
  type CompletePayinRequest,
  checkStatusCodes,
  checkStatusRequest,
  completePayinRequest,
  completionFlow,
  currencyCode,
  findMobileOperator,
  isPayable,
  type MobileOperator,
} from '@pesewa/contracts';
import {
  accept,
  type Clock,
  feeFor,
  formatAmount,
  type Ids,
  type Money,
  parseAmount,
  type Result,
  refuse,
} from '@pesewa/kernel';
import { answerJson, readJsonBody } from '@pesewa/runtime';
import { type Context, Hono } from 'hono';
import { answerBody, pendingAnswer, refusal } from './collection-answers.ts';
import type { Terms } from './domain/payment.ts';
import { type PaymentRefusal, reasons } from './domain/rules.ts';
import { lastFourDigits, scriptOf } from './domain/script.ts';
import type { Journal, JournalEntry } from './journal.ts';
import type { KnownPayment } from './payment-index.ts';
import type { Payments, RequestResult } from './payments.ts';
import type { Scenarios } from './scenarios.ts';
import {
  type AnswerAsScripted,
  BODY_BYTES_MAX,
  type HttpEnv,
  isBase64Of,
  resetConnection,
} from './scripted-answers.ts';

/** The dependencies of the simulated upstream's collection API. */
export interface CollectionRoutesDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly payments: Payments;
  readonly scenarios: Scenarios;
  readonly journal: Journal;
  readonly answerAs: AnswerAsScripted;
  readonly clientPublicKey: string;
  /** Where callbacks go without a webhookUrl of their own. */
  readonly callbackUrl: string;
  /** The simulator's own address, for payment links. */
  readonly publicUrl: string;
}

/** The simulator's own fee of a collection: 1 %. */
const collectionFee = { fixedMinor: 0n, basisPoints: 100n, minimumMinor: 0n };

const refusalNames = {
  'payment.duplicate': 'DUPLICATE REFERENCE',
  'payment.unknown': 'UNKNOWN REFERENCE',
  'payment.closed': 'COLLECTION CLOSED',
  'completion.not_required': 'COMPLETION NOT REQUIRED',
  'otp.missing': 'INVALID REQUEST',
  'otp.expired': 'OTP EXPIRED',
  'otp.exceeded': 'OTP ATTEMPTS EXCEEDED',
} as const satisfies Record<PaymentRefusal, CollectionRefusal>;

/** The simulated upstream's collection API (contract 4.7 to 4.9). */
export function createCollectionRoutes(deps: CollectionRoutesDeps): Hono<HttpEnv> {
  const app = new Hono<HttpEnv>();
  app.post('/payin', (context) => initiate(context, deps));
  app.post('/complete-payin', (context) => complete(context, deps));
  app.post('/check-status', (context) => checkStatus(context, deps));
  return app;
}

type ReadRequest = { readonly body: CompletePayinRequest; readonly amount: Money };

async function initiate(context: Context<HttpEnv>, deps: CollectionRoutesDeps): Promise<Response> {
  const read = await readRequest(context, deps);
  if (!read.ok) return read.refusal;
  const { body, amount } = read.value;
  const reference = body.transactionReference;
  const refuseWith = (reason: CollectionRefusal) => {
    deps.journal.noteRequest(deps.clock.nowMs(), noteOf('payin', reference, amount, reason));
    return refusal(context, reason, reference);
  };
  const known = await deps.payments.find('collection', reference);
  if (known?.terms.reference === reference) return refuseWith('DUPLICATE REFERENCE');
  const mobileOperator = findMobileOperator(body.operatorCode);
  if (mobileOperator?.country !== body.transactionCountry || mobileOperator.currency !== amount.currency)
    return refuseWith('OPERATOR NOT AVAILABLE');
  if (!isPayable(amount.minor, mobileOperator)) return refuseWith('INVALID AMOUNT');
  const terms = termsOf(body, mobileOperator, amount, deps);
  const done = await deps.payments.request('collection', reference, { type: 'submit', terms });
  if (!done.ok) return refuseWith(refusalNames[done.refusal]);
  return answerPayin(context, done.value, deps);
}

async function answerPayin(
  context: Context<HttpEnv>,
  done: RequestResult,
  deps: CollectionRoutesDeps,
): Promise<Response> {
  const { events, payment } = done;
  const [first] = events;
  if (first?.type === 'attemptRefused' && first.how === 'tooManyRequests') {
    context.header('retry-after', '1');
    return refusal(context, 'TOO MANY REQUESTS', '');
  }
  if (payment.status === 'ABSENT') return resetConnection(context);
  const { digits, reference, ownReference } = payment.terms;
  const { answer } = scriptOf(digits);
  const awaitsCustomer = payment.status === 'PENDING' && payment.awaitsCompletion;
  // No callback can come before an answer that the customer's part depends on; it then comes before the completion's.
  return deps.answerAs(context, answer === 'afterCallback' && awaitsCustomer ? 'normal' : answer, {
    normal: () => answerJson(context, 200, pendingAnswer(payment, deps.publicUrl)),
    serverError: () => refusal(context, 'INTERNAL ERROR', ownReference),
    callbackTried: () => deps.payments.callbackTried('collection', reference),
  });
}

async function complete(context: Context<HttpEnv>, deps: CollectionRoutesDeps): Promise<Response> {
  const read = await readRequest(context, deps);
  if (!read.ok) return read.refusal;
  const { body, amount } = read.value;
  const found = await deps.payments.find('collection', body.transactionReference);
  const reference = found?.terms.reference ?? body.transactionReference;
  const ownReference = found?.terms.ownReference ?? reference;
  const note = (outcome: string) =>
    deps.journal.noteRequest(deps.clock.nowMs(), noteOf('complete', reference, amount, outcome));
  const refuseWith = (reason: CollectionRefusal, detail?: string) => {
    note(reason);
    return refusal(context, reason, ownReference, detail);
  };
  const asked = found?.terms.amount;
  if (asked && (asked.minor !== amount.minor || asked.currency !== amount.currency)) {
    return refuseWith('REQUEST MISMATCH');
  }
  const request = { type: 'complete', otp: body.otpCode } as const;
  const done = await deps.payments.request('collection', reference, request);
  if (!done.ok) {
    const detail = done.refusal === 'otp.missing' ? 'otpCode is required' : undefined;
    return refuseWith(refusalNames[done.refusal], detail);
  }
  const { events, payment } = done.value;
  if (events.length === 0) note('accepted before');
  const refused = refusedOtp(events);
  if (refused) return refusal(context, refused, ownReference);
  if (payment.status === 'ABSENT') return refusal(context, 'UNKNOWN REFERENCE', reference);
  return deps.answerAs(context, scriptOf(payment.terms.digits).answer, {
    normal: () => answerJson(context, 200, answerBody('09', 'PENDING', ownReference)),
    serverError: () => refusal(context, 'INTERNAL ERROR', ownReference),
    callbackTried: () => deps.payments.callbackTried('collection', reference),
  });
}

/** Why a completion that changed the payment was refused: its OTP was wrong, the last one, or late. */
function refusedOtp(events: RequestResult['events']): CollectionRefusal | undefined {
  for (const event of events) {
    if (event.type === 'executed' && event.reason === reasons.otpExceeded) return 'OTP ATTEMPTS EXCEEDED';
    if (event.type === 'executed' && event.reason === reasons.otpExpired) return 'OTP EXPIRED';
  }
  return events.some(({ type }) => type === 'otpRefused') ? 'INCORRECT OTP' : undefined;
}

/** Authentication, form and security module, in this order (contract 10.2). */
async function readRequest(
  context: Context<HttpEnv>,
  deps: CollectionRoutesDeps,
): Promise<Result<ReadRequest, Response>> {
  if (!isKnownClient(context, deps)) return refuse(refusal(context, 'UNAUTHORIZED', ''));
  const body = await readJsonBody(context, completePayinRequest, BODY_BYTES_MAX);
  if (!body.ok) return refuse(refusal(context, 'INVALID REQUEST', '', body.refusal));
  const { transactionReference: reference, transactionAmount, customerNumber } = body.value;
  const currency = currencyCode(body.value.transactionCurrency);
  if (currency === undefined) {
    const problem = 'transactionCurrency must be an ISO 4217 code';
    return refuse(refusal(context, 'INVALID REQUEST', reference, problem));
  }
  const amount = parseAmount(transactionAmount, currency);
  const texts = amount.ok
    ? [transactionAmount, formatAmount(amount.value.minor, currency)]
    : [transactionAmount];
  const module = context.req.header('x-module');
  if (!texts.some((text) => isBase64Of(module, `${text}${reference}${customerNumber}`))) {
    return refuse(refusal(context, 'INCORRECT SECURITY MODULE', reference));
  }
  if (!amount.ok) return refuse(refusal(context, 'INVALID AMOUNT', reference));
  return accept({ body: body.value, amount: amount.value });
}

async function checkStatus(context: Context<HttpEnv>, deps: CollectionRoutesDeps): Promise<Response> {
  const rejected = () =>
    answerJson(context, 400, {
      timestamp: new Date(deps.clock.nowMs()).toISOString(),
      status: 400,
      error: 'Bad Request',
      path: '/collection/v1/check-status',
    });
  if (!isKnownClient(context, deps)) return rejected();
  const body = await readJsonBody(context, checkStatusRequest, BODY_BYTES_MAX);
  if (!body.ok) return rejected();
  const { transactionReference: reference } = body.value;
  if (!isBase64Of(context.req.header('x-module'), reference)) return rejected();
  const found = await deps.payments.find('collection', reference);
  const details = checkStatusCodes[statusOf(found, deps.clock.nowMs())];
  const entry = noteOf(
    'check',
    found?.terms.reference ?? reference,
    found?.terms.amount,
    details.responseMessage,
  );
  deps.journal.noteRequest(deps.clock.nowMs(), entry);
  return answerJson(context, 200, { serverResponse: { responseDetails: details } });
}

function statusOf(found: KnownPayment | undefined, nowMs: number): keyof typeof checkStatusCodes {
  if (!found || nowMs < found.acceptedAtMs + scriptOf(found.terms.digits).deniedMs) return 'notFound';
  if (found.status === 'PENDING') return 'pending';
  return found.status === 'FAILED' ? 'failed' : 'completed';
}

function isKnownClient(context: Context, { clientPublicKey }: CollectionRoutesDeps): boolean {
  return (
    isBase64Of(context.req.header('x-business'), clientPublicKey) && context.req.header('x-app') === 'api'
  );
}

function termsOf(
  body: CompletePayinRequest,
  mobileOperator: MobileOperator,
  amount: Money,
  deps: CollectionRoutesDeps,
): Terms {
  return {
    kind: 'collection',
    reference: body.transactionReference,
    ownReference: `u${deps.ids.next('co')}`,
    amount,
    feeMinor: feeFor(collectionFee, amount.minor),
    digits: deps.scenarios.resolve(lastFourDigits(body.customerNumber)),
    callbackUrl: body.webhookUrl ?? deps.callbackUrl,
    flow: completionFlow(mobileOperator, body.transactionType),
  };
}

function noteOf(
  operation: JournalEntry['operation'],
  reference: string,
  amount: Money | undefined,
  outcome: string,
): Omit<JournalEntry, 'at' | 'kind'> {
  const text = amount ? formatAmount(amount.minor, amount.currency) : '';
  return {
    operation,
    reference,
    amount: text,
    currency: amount?.currency ?? '',
    outcome,
  };
}
