import { bulkPayoutRequest, singlePayoutRequest } from '@pesewa/contracts';
import { type Clock, feeFor, formatAmount, type Ids } from '@pesewa/kernel';
import { readJsonBody } from '@pesewa/runtime';
import type { Context } from 'hono';
import type { Terms } from './domain/payment.ts';
import { lastFourDigits, scriptOf } from './domain/script.ts';
import type { Journal } from './journal.ts';
import { submittedPayout } from './payment-bodies.ts';
import type { Payments, RequestResult } from './payments.ts';
import { refusal, submitted } from './payout-answers.ts';
import { type ReadPayout, readBatch, readSingle } from './payout-requests.ts';
import type { Scenarios } from './scenarios.ts';
import { type AnswerAsScripted, BODY_BYTES_MAX, type HttpEnv, resetConnection } from './scripted-answers.ts';

/** The dependencies of accepting payouts. */
export interface SubmissionDeps {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly payments: Payments;
  readonly scenarios: Scenarios;
  readonly journal: Journal;
  readonly answerAs: AnswerAsScripted;
  readonly callbackUrl: string;
}

/** The simulator's own fee of a payout: 0.5 %. */
const payoutFee = { fixedMinor: 0n, basisPoints: 50n, minimumMinor: 0n };

/** Answers a single payout (contract 4.1). */
export async function submitSingle(context: Context<HttpEnv>, deps: SubmissionDeps): Promise<Response> {
  const body = await readJsonBody(context, singlePayoutRequest, BODY_BYTES_MAX);
  if (!body.ok) return refusal(context, 'malformed', body.refusal);
  const order = readSingle(body.value);
  if (!order.ok) return refusal(context, order.refusal.code, order.refusal.message);
  const terms = termsOf(order.value, undefined, deps);
  const done = await deps.payments.request('payout', terms.reference, { type: 'submit', terms });
  if (!done.ok) return duplicate(context, [terms], deps);
  const { payment } = done.value;
  const turnedAway = answerRefusedAttempt(context, [done.value]);
  if (turnedAway || payment.status === 'ABSENT') return turnedAway ?? resetConnection(context);
  const normal = () => submitted(context, 'Transaction submitted successfully', submittedPayout(payment));
  return answerAsScripted(context, terms, normal, deps);
}

/** Answers a batch, which is accepted completely or not at all; its items are ordinary payments (contract 4.2). */
export async function submitBatch(context: Context<HttpEnv>, deps: SubmissionDeps): Promise<Response> {
  const body = await readJsonBody(context, bulkPayoutRequest, BODY_BYTES_MAX);
  if (!body.ok) return refusal(context, 'malformed', body.refusal);
  const orders = readBatch(body.value);
  if (!orders.ok) return refusal(context, orders.refusal.code, orders.refusal.message);
  const batchReference = body.value.transactionReference;
  const terms = orders.value.map((order) => termsOf(order, batchReference, deps));
  const done = await deps.payments.requestBatch(batchReference, terms);
  if (!done.ok) return duplicate(context, terms, deps);
  const normal = () => submitted(context, 'Transactions submitted successfully');
  // One answer for all: that of the first item with an unusual answer.
  const special = terms.find(({ digits }) => scriptOf(digits).answer !== 'normal');
  return (
    answerRefusedAttempt(context, done.value) ??
    (special ? answerAsScripted(context, special, normal, deps) : normal())
  );
}

/** The answer to an attempt that the script refuses without effect. */
function answerRefusedAttempt(
  context: Context<HttpEnv>,
  done: readonly RequestResult[],
): Response | undefined {
  const turnedAway = done.flatMap(({ events }) =>
    events.flatMap((event) => (event.type === 'attemptRefused' ? event.how : [])),
  );
  if (turnedAway.length === 0) return undefined;
  if (!turnedAway.includes('tooManyRequests')) return resetConnection(context);
  context.header('retry-after', '1');
  return refusal(context, 'tooManyRequests', 'too many requests');
}

function answerAsScripted(
  context: Context<HttpEnv>,
  { digits, reference }: Terms,
  normal: () => Response,
  deps: SubmissionDeps,
): Promise<Response> {
  return deps.answerAs(context, scriptOf(digits).answer, {
    normal,
    serverError: () => refusal(context, 'broken', 'internal error'),
    callbackTried: () => deps.payments.callbackTried('payout', reference),
  });
}

function duplicate(context: Context<HttpEnv>, terms: readonly Terms[], deps: SubmissionDeps): Response {
  for (const { reference, amount } of terms) {
    deps.journal.noteRequest(deps.clock.nowMs(), {
      operation: 'payout',
      reference,
      amount: formatAmount(amount.minor, amount.currency),
      currency: amount.currency,
      outcome: 'duplicate',
    });
  }
  return refusal(context, 'duplicate', 'a transaction reference was used before');
}

function termsOf(order: ReadPayout, batchReference: string | undefined, deps: SubmissionDeps): Terms {
  return {
    kind: 'payout',
    reference: order.reference,
    batchReference,
    // A prefix distinguishes our references from those of a client that makes its own in the same way.
    ownReference: `u${deps.ids.next('po')}`,
    amount: order.amount,
    feeMinor: feeFor(payoutFee, order.amount.minor),
    digits: deps.scenarios.resolve(lastFourDigits(order.accountNumber)),
    callbackUrl: deps.callbackUrl,
  };
}
