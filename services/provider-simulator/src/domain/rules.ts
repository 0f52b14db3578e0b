import { type CompletionFlow, rightOtps } from '@pesewa/contracts';
import { accept, type Result, refuse } from '@pesewa/kernel';
import {
  absentPayment,
  type CallbackTried,
  evolve,
  type Outcome,
  type Payment,
  type PaymentEvent,
  type PendingPayment,
  statementsOf,
  type Terms,
} from './payment.ts';
import { scriptOf } from './script.ts';

/** A command of a payment; the balance is the wallet's at that time, in minor units. */
export type Command = { readonly nowMs: number; readonly balanceMinor: bigint } & (
  | { readonly type: 'submit'; readonly terms: Terms }
  | { readonly type: 'complete'; readonly otp: string | undefined }
  | { readonly type: 'pay' }
  | { readonly type: 'cancel' }
  /** Gives a completed payout back, as its beneficiary's bank may at any time; nothing changes if it has done so. */
  | { readonly type: 'reverse' }
  /** Performs what is due by now, if anything. */
  | { readonly type: 'proceed' }
  | { readonly type: 'reportCallback'; readonly result: CallbackTried['result'] }
);

/** Why a command is refused. */
export type PaymentRefusal =
  | 'payment.duplicate'
  | 'payment.unknown'
  | 'payment.closed'
  | 'completion.not_required'
  | 'otp.missing'
  | 'otp.expired'
  | 'otp.exceeded';

/** How long things take. */
export interface Timing {
  /** From the end of a payment, or what started it, to its callback. */
  readonly callbackDelayMs: number;
  /** Until the customer has accepted on the phone or paid at the link. */
  readonly customerDelayMs: number;
  /** Until a collection without a completion fails. */
  readonly completionWindowMs: number;
  readonly callbackAttemptsMax: number;
}

/** The rules of simulated payments: the decider, and the steps that become due by themselves. */
export type PaymentRules = ReturnType<typeof createPaymentRules>;

const WRONG_OTPS_MAX = 3;
const RETRY_BASE_MS = 500;

/** The reasons of failed payments. */
export const reasons = {
  successful: 'Successful',
  declinedPayout: 'Beneficiary institution declined',
  declinedCollection: 'CUSTOMER DECLINED',
  insufficientFunds: 'Insufficient wallet balance',
  cancelled: 'CANCELLED BY CUSTOMER',
  otpExpired: 'OTP EXPIRED',
  otpExceeded: 'OTP ATTEMPTS EXCEEDED',
} as const;

/** Builds the rules for a timing. */
export function createPaymentRules(timing: Timing) {
  return {
    initial: absentPayment,
    evolve,
    decide: (command: Command, payment: Payment) => decide(command, payment, timing),
    /** When the payment changes by itself: ends, expires or is reversed; undefined if it never does. */
    nextChangeAtMs: (payment: Payment) => changeAtMs(payment, timing),
    /** When the next callback is due, and its statement; undefined if there is none. */
    nextCallback: (payment: Payment) => callbackDue(payment, timing),
  };
}

function changeAtMs(payment: Payment, timing: Timing): number | undefined {
  if (payment.status === 'ABSENT') return undefined;
  const script = scriptOf(payment.terms.digits);
  if (payment.status === 'PENDING') {
    // A payment that stays pending for ever must not expire either, so that its status stays pending.
    if (script.outcome === 'never') return undefined;
    if (payment.awaitsCompletion) return payment.acceptedAtMs + timing.completionWindowMs;
    return payment.startedAtMs + script.pendingMs + customerDelayMs(payment, timing);
  }
  const reversible = payment.status === 'COMPLETED' && payment.terms.kind === 'payout';
  if (!reversible || script.reversedAfterMs === undefined) return undefined;
  return payment.endedAtMs + script.reversedAfterMs;
}

function customerDelayMs({ terms }: PendingPayment, timing: Timing): number {
  const waits = terms.flow?.kind === 'stk' || terms.flow?.kind === 'link';
  // If the callback comes before the answer to payin, the customer was faster than that answer.
  return waits && scriptOf(terms.digits).answer !== 'afterCallback' ? timing.customerDelayMs : 0;
}

function callbackDue(payment: Payment, timing: Timing) {
  if (payment.status === 'ABSENT' || payment.status === 'PENDING') return undefined;
  const { done, attempts, attemptedAtMs } = payment.callbacks;
  const statement = statementsOf(payment)[done];
  if (statement === undefined) return undefined;
  if (attempts > 0) return { atMs: attemptedAtMs + RETRY_BASE_MS * 2 ** (attempts - 1), statement };
  if (statement.status === 'REVERSED') {
    return { atMs: (payment.reversedAtMs ?? payment.endedAtMs) + timing.callbackDelayMs, statement };
  }
  const early = scriptOf(payment.terms.digits).answer === 'afterCallback';
  const first = early
    ? payment.endedAtMs
    : Math.max(payment.endedAtMs, payment.startedAtMs + timing.callbackDelayMs);
  return { atMs: first + done * timing.callbackDelayMs, statement };
}

function decide(
  command: Command,
  payment: Payment,
  timing: Timing,
): Result<readonly PaymentEvent[], PaymentRefusal> {
  switch (command.type) {
    case 'submit':
      return submit(command, command.terms, payment, timing);
    case 'complete':
      return complete(command, command.otp, payment, timing);
    case 'pay':
    case 'cancel':
      return decideAtLink(command, payment);
    case 'reverse':
      return reverse(command, payment);
    case 'proceed':
      return accept(proceed(command, payment, timing));
    case 'reportCallback':
      return accept(reportCallback(command.result, command.nowMs, payment, timing));
  }
}

/** Whether the next attempt at a payment is refused without effect. */
export function isRefusedByScript(payment: Payment, terms: Terms): boolean {
  return payment.status === 'ABSENT' && payment.attempts < scriptOf(terms.digits).refusedAttempts.times;
}

function submit(command: Command, terms: Terms, payment: Payment, timing: Timing) {
  if (payment.status !== 'ABSENT') return refuse<PaymentRefusal>('payment.duplicate');
  if (isRefusedByScript(payment, terms)) {
    const { how } = scriptOf(terms.digits).refusedAttempts;
    return accept([{ type: 'attemptRefused', how, atMs: command.nowMs } as const]);
  }
  const accepted = { type: 'accepted', terms, atMs: command.nowMs } as const;
  return accept([accepted, ...proceed(command, evolve(payment, accepted), timing)]);
}

function complete(
  command: Command,
  otp: string | undefined,
  payment: Payment,
  timing: Timing,
): Result<readonly PaymentEvent[], PaymentRefusal> {
  if (payment.status === 'ABSENT') return refuse('payment.unknown');
  const { flow } = payment.terms;
  if (flow === undefined || flow.kind === 'link' || flow.kind === 'stk')
    return refuse('completion.not_required');
  if (payment.status !== 'PENDING') return refuse(closedRefusal(payment.reason));
  if (!payment.awaitsCompletion) return accept([]);
  const expired = proceed(command, payment, timing);
  if (expired.length > 0) return accept(expired);
  if (flow.kind === 'stkThenComplete') return accept(start(command, payment, timing));
  if (otp === undefined) return refuse('otp.missing');
  return accept(checkOtp(command, otp, payment, flow, timing));
}

function closedRefusal(reason: string): PaymentRefusal {
  if (reason === reasons.otpExpired) return 'otp.expired';
  return reason === reasons.otpExceeded ? 'otp.exceeded' : 'payment.closed';
}

function checkOtp(
  command: Command,
  otp: string,
  payment: PendingPayment,
  flow: Extract<CompletionFlow, { kind: 'otp' }>,
  timing: Timing,
): readonly PaymentEvent[] {
  if (otp === rightOtps[flow.otpLength]) return start(command, payment, timing);
  const refused = { type: 'otpRefused', atMs: command.nowMs } as const;
  if (payment.wrongOtps + 1 < WRONG_OTPS_MAX) return [refused];
  return [refused, ended('FAILED', reasons.otpExceeded, command.nowMs)];
}

function start(command: Command, payment: PendingPayment, timing: Timing): readonly PaymentEvent[] {
  const requested = { type: 'completionRequested', atMs: command.nowMs } as const;
  return [requested, ...proceed(command, evolve(payment, requested), timing)];
}

function decideAtLink(command: Command, payment: Payment): Result<readonly PaymentEvent[], PaymentRefusal> {
  if (payment.status === 'ABSENT' || payment.terms.flow?.kind !== 'link') return refuse('payment.unknown');
  if (payment.status !== 'PENDING') return refuse('payment.closed');
  if (command.type === 'cancel') return accept([ended('FAILED', reasons.cancelled, command.nowMs)]);
  const { outcome, pendingMs } = scriptOf(payment.terms.digits);
  const lasts = outcome === 'never' || pendingMs > 0;
  return accept(lasts ? [] : [execute(command, payment)]);
}

function reverse({ nowMs }: Command, payment: Payment): Result<readonly PaymentEvent[], PaymentRefusal> {
  if (payment.status === 'ABSENT' || payment.terms.kind !== 'payout') return refuse('payment.unknown');
  if (payment.status === 'REVERSED') return accept([]);
  if (payment.status !== 'COMPLETED') return refuse('payment.closed');
  return accept([{ type: 'reversed', atMs: nowMs }]);
}

function proceed(command: Command, payment: Payment, timing: Timing): readonly PaymentEvent[] {
  const atMs = changeAtMs(payment, timing);
  if (atMs === undefined || atMs > command.nowMs) return [];
  if (payment.status !== 'PENDING') return [{ type: 'reversed', atMs: command.nowMs }];
  if (payment.awaitsCompletion) return [ended('FAILED', reasons.otpExpired, command.nowMs)];
  return [execute(command, payment)];
}

function execute({ nowMs, balanceMinor }: Command, { terms }: PendingPayment): PaymentEvent {
  if (scriptOf(terms.digits).outcome === 'FAILED') {
    return ended(
      'FAILED',
      terms.kind === 'payout' ? reasons.declinedPayout : reasons.declinedCollection,
      nowMs,
    );
  }
  if (terms.kind === 'payout' && balanceMinor < terms.amount.minor + terms.feeMinor) {
    return ended('FAILED', reasons.insufficientFunds, nowMs);
  }
  return ended('COMPLETED', reasons.successful, nowMs);
}

function ended(outcome: Outcome, reason: string, atMs: number): PaymentEvent {
  return { type: 'executed', outcome, reason, atMs };
}

function reportCallback(
  result: CallbackTried['result'],
  nowMs: number,
  payment: Payment,
  timing: Timing,
): readonly PaymentEvent[] {
  const due = callbackDue(payment, timing);
  if (due === undefined || payment.status === 'ABSENT' || payment.status === 'PENDING') return [];
  const exhausted = payment.callbacks.attempts + 1 >= timing.callbackAttemptsMax;
  const final = result !== 'refused' || exhausted;
  return [{ type: 'callbackTried', statement: due.statement, result, final, atMs: nowMs }];
}
