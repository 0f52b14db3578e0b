import type { SinglePayoutRequest } from '@pesewa/contracts';
import type { Merchant } from '@pesewa/directory';
import { accept, continueTrace, feeFor, type Result, refuse } from '@pesewa/kernel';
import type { Transaction } from '@pesewa/messaging';
import { addStep, type Found } from '@pesewa/payments';
import {
  type AcceptanceDeps,
  contentHashOf,
  createAcceptance,
  insufficientFunds,
  isSameContent,
  newPayout,
  overDay,
  takesNoWork,
  walletOf,
} from './acceptance.ts';
import { describe } from './domain/describe.ts';
import { type DayLimit, dayLimitOf, overPayoutMax } from './domain/limits.ts';
import { type PayoutCommand, type PayoutRefusal, payoutDecider } from './domain/payout.ts';
import { noRouteRefusal } from './domain/routing.ts';
import { type OrderRefusal, type PayoutOrder, readOrder } from './domain/submission.ts';
import type { Payout, PayoutChange, Taken } from './store.ts';

/**
 * A command for one payout, and the id of the event behind it; null if that is the event that changed the payout last.
 */
export interface PayoutOrderCommand {
  readonly reference: string;
  readonly command: PayoutCommand;
  readonly causationId: string | null;
}

/** The payout gateway's use cases: accepts, shows and advances payouts. */
export interface Payouts {
  /**
   * Accepts a payout once. The same order again gives the same record; different content is refused (contract 10.3).
   */
  readonly submit: (
    merchant: Merchant,
    request: SinglePayoutRequest,
    /** The `traceparent` of the request, unchanged. */
    traceparent?: string,
  ) => Promise<Result<Payout, OrderRefusal>>;
  readonly find: (merchantId: string, reference: string) => Promise<Found<Payout> | undefined>;
  /** Applies commands within a transaction: loads, decides in order, saves, emits. */
  readonly apply: (commands: readonly PayoutOrderCommand[], transaction: Transaction) => Promise<void>;
}

interface PayoutsDeps extends AcceptanceDeps {
  readonly refused: (refusal: PayoutRefusal, reference: string) => void;
}

/** Builds {@link Payouts}. */
export function createPayouts(deps: PayoutsDeps): Payouts {
  const { store } = deps;
  const acceptOne = createAcceptance(deps);

  return {
    submit: async (merchant, request, traceparent) => {
      const order = readOrder(request);
      if (!order.ok) return order;
      const contentHash = contentHashOf(order.value);
      const admission = deps.isWhole() ? await admit(deps, merchant, order.value) : refuse(takesNoWork);
      if (!admission.ok) {
        // Duplicates take precedence over routing, limits and funds, so they are looked for if those refuse.
        const key = { merchantId: merchant.id, merchantReference: order.value.merchantReference };
        const [earlier] = (await store.findTaken([key])).values();
        return earlier ? sameOrRefused(earlier, contentHash) : admission;
      }
      const { fee, rail, dayLimit } = admission.value;
      const payout = newPayout(deps, {
        merchantId: merchant.id,
        order: order.value,
        contentHash,
        fee,
        rail,
        batchReference: null,
        traceparent: continueTrace(traceparent, deps.ids),
      });
      const acceptance = await acceptOne({ payout, dayLimit });
      if (acceptance.kind === 'refused') return refuse(acceptance.refusal);
      return sameOrRefused(acceptance, contentHash);
    },
    find: async (merchantId, reference) => {
      const isWhole = deps.isWhole();
      const found = await store.find(merchantId, reference);
      if (!found && !isWhole) throw new Error('whether there is such a payout is not known yet');
      return found;
    },
    apply: (commands, transaction) => applyCommands(deps, commands, transaction),
  };
}

interface Admission {
  readonly rail: string;
  readonly fee: bigint;
  readonly dayLimit: DayLimit | undefined;
}

/**
 * Judges routing, limits, funds and our own capacity, in this order (contract 10.2); it reads the database only if it
 * refuses.
 */
async function admit(
  deps: PayoutsDeps,
  merchant: Merchant,
  { amount, country, channel, beneficiary }: PayoutOrder,
): Promise<Result<Admission, OrderRefusal>> {
  const { currency } = amount;
  const question = { country, currency, channel, bankCode: beneficiary.bankCode };
  const route = await deps.routePayout(question);
  if (route.kind !== 'routed') return refuse(noRouteRefusal(route, question, 'beneficiary.bankCode'));
  const overMax = overPayoutMax(merchant.limits, amount, 'beneficiary.amount');
  if (overMax) return refuse(overMax);
  const dayLimit = dayLimitOf(merchant, currency, new Date(deps.clock.nowMs()));
  const wallet = walletOf(merchant, currency);
  const fee = wallet ? feeFor(wallet.payoutFee, amount.minor) : 0n;
  if (wallet && (await deps.canSpend({ merchantId: merchant.id, currency }, amount.minor + fee)))
    return deps.messaging.acceptsWork() ? accept({ rail: route.rail, fee, dayLimit }) : refuse(takesNoWork);
  return refuse((await overDay(deps, dayLimit, amount.minor)) ?? insufficientFunds(wallet, currency));
}

function sameOrRefused(taken: Taken, contentHash: string): Result<Payout, OrderRefusal> {
  if (taken.kind === 'payout' && isSameContent(taken.payout, contentHash)) return accept(taken.payout);
  const message =
    'transactionReference was used before with other content: use a new reference for a new payout';
  return refuse({ code: 'duplicate', message });
}

async function applyCommands(
  { store, events, clock, refused }: Pick<PayoutsDeps, 'store' | 'events' | 'clock' | 'refused'>,
  commands: readonly PayoutOrderCommand[],
  transaction: Transaction,
): Promise<void> {
  const references = [...new Set(commands.map(({ reference }) => reference))];
  const loaded = await store.findByReferences(references, transaction.session);
  const changes = new Map<string, PayoutChange>(
    loaded.map((payout) => [payout.reference, { before: payout, after: payout }]),
  );
  for (const { reference, command, causationId } of commands) {
    const change = changes.get(reference);
    if (!change) continue;
    const decision = payoutDecider.decide(command, change.after);
    if (!decision.ok) {
      refused(decision.refusal, reference);
      continue;
    }
    let { after } = change;
    const cause = causationId ?? after.causedBy;
    for (const domainEvent of decision.value) {
      const { attempts: number, attemptedAtMs: claimedAtMs } = after;
      const atMs = clock.nowMs();
      const timeline = addStep(after.timeline, {
        what: describe(domainEvent),
        atMs,
        ...(claimedAtMs !== null && { attempt: { number, claimedAtMs } }),
      });
      after = { ...after, ...payoutDecider.evolve(after, domainEvent), timeline, causedBy: cause };
      const event = events.eventOf(domainEvent, after, { causationId: cause, atMs });
      if (event) transaction.emit(event);
    }
    changes.set(reference, { before: change.before, after });
  }
  await store.save(
    [...changes.values()].filter(({ before, after }) => before !== after),
    transaction.session,
  );
}
