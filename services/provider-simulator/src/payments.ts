import type { PaymentKind } from '@pesewa/contracts';
import { accept, type Clock, type Result, refuse } from '@pesewa/kernel';
import type { CallbackStatement, CallbackTried, Payment, PaymentEvent, Terms } from './domain/payment.ts';
import { type Command, isRefusedByScript, type PaymentRefusal, type PaymentRules } from './domain/rules.ts';
import type { Journal } from './journal.ts';
import type { KnownPayment, PaymentIndex } from './payment-index.ts';
import type { Scheduler } from './scheduler.ts';
import type { Wallets } from './wallets.ts';

/** Sends the client a callback about a payment; never rejects. */
export type SendCallback = (
  payment: KnownPayment,
  statement: CallbackStatement,
) => Promise<CallbackTried['result']>;

/** The requests of clients, customers and the control API; the simulator adds the other fields of a command. */
export type Request =
  | { readonly type: 'submit'; readonly terms: Terms }
  | { readonly type: 'complete'; readonly otp: string | undefined }
  | { readonly type: 'pay' }
  | { readonly type: 'cancel' }
  | { readonly type: 'reverse' };

/** The result of a request: its events, and the payment after them. */
export interface RequestResult {
  readonly events: readonly PaymentEvent[];
  readonly payment: Payment;
}

/** The simulated payments: decided at once in memory, answered once the journal is on disk. */
export interface Payments {
  readonly request: (
    kind: PaymentKind,
    reference: string,
    request: Request,
  ) => Promise<Result<RequestResult, PaymentRefusal>>;
  /** Accepts all of a batch's payouts or none: if a script refuses an item, only that is recorded (invariant P7). */
  readonly requestBatch: (
    batchReference: string,
    terms: readonly Terms[],
  ) => Promise<Result<readonly RequestResult[], PaymentRefusal>>;
  /** A payment by the client's reference, else by the simulator's own; its effects are on disk. */
  readonly find: (kind: PaymentKind, reference: string) => Promise<KnownPayment | undefined>;
  /** Resolves once a callback of the payment was attempted. */
  readonly callbackTried: (kind: PaymentKind, reference: string) => Promise<void>;
  /** Continues everything that was pending when the journal ended. */
  readonly resume: () => void;
}

interface PaymentsDeps {
  readonly clock: Clock;
  readonly rules: PaymentRules;
  readonly wallets: Wallets;
  readonly scheduler: Scheduler;
  readonly sendCallback: SendCallback;
  readonly journal: Journal;
  /** Already contains the journal's payments. */
  readonly paymentIndex: PaymentIndex;
}

type Due =
  | { readonly type: 'proceed' }
  | { readonly type: 'reportCallback'; readonly result: CallbackTried['result'] };

/** Builds the payments of one simulator over their index; nothing changes by itself before `resume`. */
export function createPayments(deps: PaymentsDeps): Payments {
  const { paymentIndex, journal, rules, scheduler } = deps;
  const performOnly = createPerform(deps);

  const perform = (kind: PaymentKind, reference: string, asked: Request | Due) => {
    const done = performOnly(kind, reference, asked);
    const latest = done.ok ? done.value.events.at(-1) : undefined;
    if (!done.ok || latest === undefined) return done;
    if (latest.type !== 'callbackTried') armMove(kind, reference, done.value.payment);
    callbacks.arm(kind, reference, done.value.payment);
    return done;
  };
  const armMove = (kind: PaymentKind, reference: string, payment: Payment) => {
    const atMs = rules.nextChangeAtMs(payment);
    // An outdated timer finds nothing due and does nothing.
    if (atMs !== undefined) scheduler.at(atMs, () => void perform(kind, reference, { type: 'proceed' }));
  };
  const callbacks = createCallbackLoop(deps, (kind, reference, result) => {
    perform(kind, reference, { type: 'reportCallback', result });
  });
  return {
    request: async (kind, reference, asked) => {
      const done = perform(kind, reference, asked);
      await journal.flushed();
      return done;
    },
    requestBatch: async (batchReference, terms) => {
      const submit = (some: readonly Terms[]) =>
        some.map((item) => perform('payout', item.reference, { type: 'submit', terms: item }));
      const taken = [batchReference, ...terms.map(({ reference }) => reference)].some(
        (reference) =>
          paymentIndex.isBatch(reference) || paymentIndex.get('payout', reference).status !== 'ABSENT',
      );
      if (taken) return refuse('payment.duplicate');
      const turnedAway = terms.filter((item) =>
        isRefusedByScript(paymentIndex.get('payout', item.reference), item),
      );
      const done = submit(turnedAway.length > 0 ? turnedAway : terms);
      await journal.flushed();
      return accept(done.flatMap((one) => (one.ok ? one.value : [])));
    },
    find: async (kind, reference) => {
      const payment = paymentIndex.find(kind, reference);
      await journal.flushed();
      return payment;
    },
    callbackTried: callbacks.tried,
    resume: () => {
      for (const [kind, reference, payment] of paymentIndex.all()) {
        armMove(kind, reference, payment);
        callbacks.arm(kind, reference, payment);
      }
    },
  };
}

/** Decides, applies and records in one synchronous step, so that no two requests see the same state. */
function createPerform({ paymentIndex, clock, journal, rules, wallets }: PaymentsDeps) {
  return (
    kind: PaymentKind,
    reference: string,
    asked: Request | Due,
  ): Result<RequestResult, PaymentRefusal> => {
    const single = kind === 'payout' && asked.type === 'submit' && asked.terms.batchReference === undefined;
    if (single && paymentIndex.isBatch(reference)) return refuse('payment.duplicate');
    const before = paymentIndex.get(kind, reference);
    const terms = asked.type === 'submit' ? asked.terms : termsOf(before);
    if (terms === undefined) return refuse('payment.unknown');
    const balanceMinor = wallets.balance(terms.amount.currency);
    const command: Command = { ...asked, nowMs: clock.nowMs(), balanceMinor };
    const decided = rules.decide(command, before);
    if (!decided.ok) return decided;
    for (const event of decided.value) {
      paymentIndex.apply(kind, reference, event);
      journal.recordEvent(terms, event);
    }
    return accept({ events: decided.value, payment: paymentIndex.get(kind, reference) });
  };
}

function termsOf(payment: Payment): Terms | undefined {
  return payment.status === 'ABSENT' ? undefined : payment.terms;
}

/** Sends each payment's callbacks one after another, when they are due. */
function createCallbackLoop(
  { paymentIndex, journal, rules, scheduler, sendCallback }: PaymentsDeps,
  report: (kind: PaymentKind, reference: string, result: CallbackTried['result']) => void,
) {
  const armed = new Set<string>();
  const waiting = new Map<string, () => void>();
  const keyOf = (kind: PaymentKind, reference: string) => `${kind}:${reference}`;

  const sendDue = async (kind: PaymentKind, reference: string) => {
    const key = keyOf(kind, reference);
    const payment = paymentIndex.get(kind, reference);
    const next = rules.nextCallback(payment);
    if (next === undefined || payment.status === 'ABSENT') return;
    // No one may learn of an effect that a crash could still undo.
    await journal.flushed();
    const result = await sendCallback(payment, next.statement);
    armed.delete(key);
    report(kind, reference, result);
    waiting.get(key)?.();
    waiting.delete(key);
  };
  return {
    arm: (kind: PaymentKind, reference: string, payment: Payment) => {
      const next = rules.nextCallback(payment);
      const key = keyOf(kind, reference);
      if (next === undefined || armed.has(key)) return;
      armed.add(key);
      scheduler.at(next.atMs, () => void sendDue(kind, reference));
    },
    tried: async (kind: PaymentKind, reference: string) => {
      const payment = paymentIndex.get(kind, reference);
      if ('callbacks' in payment && payment.callbacks.done + payment.callbacks.attempts > 0) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting.set(keyOf(kind, reference), resolve);
      await promise;
    },
  };
}
