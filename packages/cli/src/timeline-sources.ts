import { z } from 'zod';
import type { CallbackView } from './callbacks.ts';

/** How many items between the one before and this one the service has dropped. */
const notKept = z.number();

const step = z.object({
  at: z.string(),
  what: z.string(),
  attempt: z.number().nullable(),
  claimedAt: z.string().nullable(),
  notKept,
});

/** A gateway's record of a payment, as shown to operators. */
export const payment = z.object({
  kind: z.enum(['payout', 'collection']),
  reference: z.string(),
  merchantId: z.string(),
  merchantReference: z.string(),
  rail: z.string(),
  currency: z.string(),
  amount: z.string(),
  fee: z.string(),
  railFee: z.string(),
  amountReceived: z.string().nullable(),
  status: z.string(),
  step: z.string(),
  version: z.number(),
  reason: z.string().nullable(),
  acceptedAt: z.string(),
  attempts: z.number(),
  attemptedAt: z.string().nullable(),
  earlierUnclear: z.boolean(),
  dueAt: z.string().nullable(),
  steps: z.array(step),
});

const reconcilerLine = z.object({
  at: z.string(),
  what: z.string(),
  detail: z.string(),
  times: z.number(),
  lastAt: z.string(),
  notKept,
});

/** What the reconciler has seen of a payment. */
export const reconciliation = z.object({
  status: z.string(),
  polls: z.number(),
  nextPollAt: z.string().nullable(),
  items: z.array(reconcilerLine),
});

/** A break in a list. */
export const listedBreak = z.object({ id: z.string() });

/** A break with people's actions on it; the texts they wrote are left out. */
export const breakHistory = z.object({
  id: z.string(),
  kind: z.string(),
  status: z.string(),
  history: z.array(z.object({ at: z.string(), by: z.string().nullable(), what: z.string() })),
});

/** An entry of the ledger. */
export const entry = z.object({
  id: z.string(),
  at: z.string(),
  kind: z.string(),
  debit: z.string(),
  credit: z.string(),
  amount: z.string(),
  currency: z.string(),
});

/** A webhook that a merchant is owed. */
export const delivery = z.object({
  id: z.string(),
  reference: z.string(),
  kind: z.string(),
  state: z.string(),
  reason: z.string().nullable(),
  bornAt: z.string(),
  dueAt: z.string().nullable(),
});

/** One attempt of a webhook: a status, or why there was no answer. */
export const webhookAttempt = z.object({
  at: z.string(),
  status: z.number().nullish(),
  error: z.string().nullish(),
  durationMs: z.number(),
});

export type PaymentView = z.output<typeof payment>;
export type ReconcilerLine = z.output<typeof reconcilerLine>;
export type BreakHistory = z.output<typeof breakHistory>;
export type EntryView = z.output<typeof entry>;
/** A webhook with its attempts, the oldest first. */
export type DeliveryLog = z.output<typeof delivery> & {
  readonly attempts: readonly z.output<typeof webhookAttempt>[];
};

/** The services' answers about one payment. */
export interface TimelineSources {
  readonly payment: PaymentView | null;
  readonly callbacks: readonly CallbackView[];
  readonly reconciliation: z.output<typeof reconciliation> | null;
  readonly breaks: readonly BreakHistory[];
  readonly entries: readonly EntryView[];
  readonly deliveries: readonly DeliveryLog[];
  /** The services that gave no answer, and why. */
  readonly missing: readonly { readonly service: string; readonly why: string }[];
  /** The lists that have more items than were read. */
  readonly cut: readonly string[];
}
