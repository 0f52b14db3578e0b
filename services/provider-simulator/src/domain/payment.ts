import type { CompletionFlow, PaymentKind } from '@pesewa/contracts';
import type { Money } from '@pesewa/kernel';
import { type ScriptedCallback, scriptOf } from './script.ts';

/** What was requested; without names, and of numbers only the last four digits. */
export interface Terms {
  readonly kind: PaymentKind;
  /** The client's reference. */
  readonly reference: string;
  /** The client's reference of the batch that the payout belongs to. */
  readonly batchReference?: string | undefined;
  /** The simulator's own reference. */
  readonly ownReference: string;
  readonly amount: Money;
  readonly feeMinor: bigint;
  /** The four digits that choose the script, after overrides. */
  readonly digits: string;
  readonly callbackUrl: string;
  /** How the customer takes part; absent for payouts. */
  readonly flow?: CompletionFlow | undefined;
}

/** The ends of a payment. */
export type Outcome = 'COMPLETED' | 'FAILED';

/** The progress of an ended payment's callbacks: finished steps, and attempts of the current one. */
export interface CallbackProgress {
  readonly done: number;
  readonly attempts: number;
  readonly attemptedAtMs: number;
}

interface Known {
  readonly terms: Terms;
  readonly acceptedAtMs: number;
  /** When nothing more was expected from the client: at acceptance, or at the completion of a collection. */
  readonly startedAtMs: number;
}

/** A payment that was never accepted; refused attempts don't change that. */
export interface AbsentPayment {
  readonly status: 'ABSENT';
  readonly attempts: number;
}

/** A payment that has not ended yet. */
export interface PendingPayment extends Known {
  readonly status: 'PENDING';
  readonly awaitsCompletion: boolean;
  readonly wrongOtps: number;
}

/** A payment that has ended; after a reversal it keeps its first end. */
export interface EndedPayment extends Known {
  readonly status: Outcome | 'REVERSED';
  readonly outcome: Outcome;
  readonly reason: string;
  readonly endedAtMs: number;
  readonly reversedAtMs: number | undefined;
  readonly callbacks: CallbackProgress;
}

/** A simulated payment's state. */
export type Payment = AbsentPayment | PendingPayment | EndedPayment;

/** An event of a payment; the journal stores these, and the state is built from them. */
export type PaymentEvent =
  | { readonly type: 'attemptRefused'; readonly how: 'reset' | 'tooManyRequests'; readonly atMs: number }
  | { readonly type: 'accepted'; readonly terms: Terms; readonly atMs: number }
  | { readonly type: 'otpRefused'; readonly atMs: number }
  | { readonly type: 'completionRequested'; readonly atMs: number }
  | { readonly type: 'executed'; readonly outcome: Outcome; readonly reason: string; readonly atMs: number }
  | { readonly type: 'reversed'; readonly atMs: number }
  | CallbackTried;

/** One attempt of a callback, with its statement; `final` ends the step, delivered or not. */
export interface CallbackTried {
  readonly type: 'callbackTried';
  readonly statement: CallbackStatement;
  readonly result: 'delivered' | 'refused' | 'suppressed';
  readonly final: boolean;
  readonly atMs: number;
}

/** What a callback says of its payment. */
export interface CallbackStatement {
  readonly status: Outcome | 'REVERSED';
  readonly amountMinor: bigint;
}

/** The state before the first event. */
export const absentPayment: AbsentPayment = { status: 'ABSENT', attempts: 0 };

const noCallbacks: CallbackProgress = { done: 0, attempts: 0, attemptedAtMs: 0 };

/** The state after an event; throws if the event does not fit the state. */
export function evolve(payment: Payment, event: PaymentEvent): Payment {
  switch (payment.status) {
    case 'ABSENT':
      return evolveAbsent(payment, event);
    case 'PENDING':
      return evolvePending(payment, event);
    case 'COMPLETED':
    case 'FAILED':
    case 'REVERSED':
      return evolveEnded(payment, event);
  }
}

function evolveAbsent(payment: AbsentPayment, event: PaymentEvent): Payment {
  if (event.type === 'attemptRefused') return { ...payment, attempts: payment.attempts + 1 };
  if (event.type !== 'accepted') return rejectEvent(payment, event);
  const { terms, atMs } = event;
  const awaitsCompletion = terms.flow?.kind === 'otp' || terms.flow?.kind === 'stkThenComplete';
  return { status: 'PENDING', terms, acceptedAtMs: atMs, startedAtMs: atMs, awaitsCompletion, wrongOtps: 0 };
}

function evolvePending(payment: PendingPayment, event: PaymentEvent): Payment {
  const { terms, acceptedAtMs, startedAtMs } = payment;
  switch (event.type) {
    case 'otpRefused':
      return { ...payment, wrongOtps: payment.wrongOtps + 1 };
    case 'completionRequested':
      return { ...payment, awaitsCompletion: false, startedAtMs: event.atMs };
    case 'executed':
      return {
        status: event.outcome,
        terms,
        acceptedAtMs,
        startedAtMs,
        outcome: event.outcome,
        reason: event.reason,
        endedAtMs: event.atMs,
        reversedAtMs: undefined,
        callbacks: noCallbacks,
      };
    case 'attemptRefused':
    case 'accepted':
    case 'reversed':
    case 'callbackTried':
      return rejectEvent(payment, event);
  }
}

function evolveEnded(payment: EndedPayment, event: PaymentEvent): Payment {
  if (event.type === 'reversed') return { ...payment, status: 'REVERSED', reversedAtMs: event.atMs };
  if (event.type !== 'callbackTried') return rejectEvent(payment, event);
  const { done, attempts } = payment.callbacks;
  const callbacks = event.final
    ? { done: done + 1, attempts: 0, attemptedAtMs: event.atMs }
    : { done, attempts: attempts + 1, attemptedAtMs: event.atMs };
  return { ...payment, callbacks };
}

function rejectEvent(payment: Payment, event: PaymentEvent): never {
  throw new TypeError(`${event.type} does not fit a payment that is ${payment.status}`);
}

/** How an event changes the wallet of the payment's currency, in minor units. */
export function walletMove(terms: Terms, event: PaymentEvent): bigint {
  const { amount, feeMinor, kind } = terms;
  if (event.type === 'reversed') return amount.minor;
  if (event.type !== 'executed' || event.outcome !== 'COMPLETED') return 0n;
  return kind === 'payout' ? -(amount.minor + feeMinor) : amount.minor - feeMinor;
}

const OTHER_AMOUNT_DIFFERENCE_MINOR = 100n;

/** The callbacks of an ended payment, in order: those of its script, then that of its reversal. */
export function statementsOf(payment: EndedPayment): readonly CallbackStatement[] {
  const amountMinor = payment.terms.amount.minor;
  const statement = (kind: ScriptedCallback): CallbackStatement => {
    switch (kind) {
      case 'truth':
        return { status: payment.outcome, amountMinor };
      case 'opposite':
        return { status: payment.outcome === 'COMPLETED' ? 'FAILED' : 'COMPLETED', amountMinor };
      case 'otherAmount':
        return { status: payment.outcome, amountMinor: amountMinor + OTHER_AMOUNT_DIFFERENCE_MINOR };
    }
  };
  const statements = scriptOf(payment.terms.digits).callbacks.map(statement);
  return payment.reversedAtMs === undefined
    ? statements
    : [...statements, { status: 'REVERSED', amountMinor }];
}
