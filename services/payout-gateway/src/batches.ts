import { hash } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Merchant } from '@pesewa/directory';
import { accept, continueTrace, feeFor, type Result, refuse } from '@pesewa/kernel';
import type { Transaction } from '@pesewa/messaging';
import { paymentId } from '@pesewa/payments';
import {
  type AcceptanceDeps,
  contentHashOf,
  insufficientFunds,
  isSameContent,
  keyOf,
  newPayout,
  overDay,
  takesNoWork,
  walletOf,
} from './acceptance.ts';
import { type BatchOrder, canonicalBatch, itemPath } from './domain/batch.ts';
import { type DayLimit, dayLimitOf, openDayBook, overDayMax, overPayoutMax } from './domain/limits.ts';
import { noRouteRefusal } from './domain/routing.ts';
import type { OrderRefusal, PayoutOrder } from './domain/submission.ts';
import type { Payout, Reservation } from './store.ts';

/** The payout gateway's use case for batches. */
export interface Batches {
  /**
   * Accepts all items of a batch or none. The same batch again gets the same answer and changes nothing (invariant P7).
   */
  readonly submit: (
    merchant: Merchant,
    order: BatchOrder,
    /** The `traceparent` of the request, unchanged: all items belong to one trace. */
    traceparent?: string,
  ) => Promise<Result<null, OrderRefusal>>;
}

/** A batch about to be stored. */
interface CandidateBatch {
  readonly reservation: Reservation;
  readonly order: BatchOrder;
  readonly payouts: readonly Payout[];
  readonly dayLimit: DayLimit | undefined;
}

/** How many items are prepared, stored or looked up before other requests may run. */
const ITEMS_PER_STEP = 250;

/** Builds {@link Batches}. */
export function createBatches(deps: AcceptanceDeps): Batches {
  // A batch is a transaction of its own, and only one runs at a time: it is large, and single payouts must still get
  // through.
  const accepting = deps.messaging.groupCommit<CandidateBatch, Result<null, OrderRefusal>>(
    'payouts.accept-batch',
    async (batches, transaction, isRetry) => {
      const outcomes: Result<null, OrderRefusal>[] = [];
      for (const batch of batches) outcomes.push(await acceptBatch(deps, batch, transaction, isRetry));
      return outcomes;
    },
    { itemsMax: 1, groupsMax: 1 },
  );

  return {
    submit: async (merchant, order, traceparent) => {
      const hashes = await hashItems(order);
      const reservation: Reservation = {
        merchantId: merchant.id,
        merchantReference: order.terms.merchantReference,
        batchReference: deps.ids.next('ba'),
        contentHash: hash('sha256', canonicalBatch(order.terms, hashes), 'base64'),
      };
      const admission = deps.isWhole() ? await admitBatch(deps, merchant, order) : refuse(takesNoWork);
      // Duplicates take precedence over routing, limits and funds, so they are looked for if those refuse.
      if (!admission.ok) return (await findEarlier(deps, reservation, order)) ?? admission;
      const trace = continueTrace(traceparent, deps.ids);
      const payouts = await preparePayouts(deps, { reservation, order, hashes, trace, ...admission.value });
      return accepting.submit({ reservation, order, payouts, dayLimit: admission.value.dayLimit });
    },
  };
}

/** Runs over the indexes in steps, between which other requests may run. */
async function inSteps(
  count: number,
  step: (first: number, end: number) => Promise<void> | void,
): Promise<void> {
  for (let first = 0; first < count; first += ITEMS_PER_STEP) {
    await step(first, Math.min(first + ITEMS_PER_STEP, count));
    await nextTurn();
  }
}

async function hashItems({ items }: BatchOrder): Promise<readonly string[]> {
  const hashes: string[] = [];
  await inSteps(
    items.length,
    (first, end) => void hashes.push(...items.slice(first, end).map(contentHashOf)),
  );
  return hashes;
}

interface Admission {
  readonly wallet: Merchant['wallets'][number];
  /** The rail of each bank code in the batch. */
  readonly rails: ReadonlyMap<string, string>;
  readonly dayLimit: DayLimit | undefined;
}

/**
 * Judges routing, limits, funds and our own capacity, in this order; daily limits and funds by the sum (contract 10.2).
 */
async function admitBatch(
  deps: AcceptanceDeps,
  merchant: Merchant,
  order: BatchOrder,
): Promise<Result<Admission, OrderRefusal>> {
  const { total } = order.terms;
  const { currency } = total;
  const rails = await routeItems(deps, order);
  if (!rails.ok) return rails;
  for (const [index, { amount }] of order.items.entries()) {
    const overMax = overPayoutMax(merchant.limits, amount, `${itemPath(index)}.amount`);
    if (overMax) return refuse(overMax);
  }
  const dayLimit = dayLimitOf(merchant, currency, new Date(deps.clock.nowMs()));
  const wallet = walletOf(merchant, currency);
  if (wallet) {
    const fees = order.items.reduce((sum, { amount }) => sum + feeFor(wallet.payoutFee, amount.minor), 0n);
    if (await deps.canSpend({ merchantId: merchant.id, currency }, total.minor + fees))
      return deps.messaging.acceptsWork()
        ? accept({ wallet, rails: rails.value, dayLimit })
        : refuse(takesNoWork);
  }
  return refuse((await overDay(deps, dayLimit, total.minor)) ?? insufficientFunds(wallet, currency));
}

/** Routes each bank code once; a refusal names the first item without a route. */
async function routeItems(
  deps: AcceptanceDeps,
  { terms, items }: BatchOrder,
): Promise<Result<ReadonlyMap<string, string>, OrderRefusal>> {
  const rails = new Map<string, string>();
  for (const [index, { beneficiary }] of items.entries()) {
    const { bankCode } = beneficiary;
    if (rails.has(bankCode)) continue;
    const { country, channel } = terms;
    const question = { country, channel, currency: terms.total.currency, bankCode };
    const route = await deps.routePayout(question);
    if (route.kind !== 'routed')
      return refuse(noRouteRefusal(route, question, `${itemPath(index)}.bankCode`));
    rails.set(bankCode, route.rail);
  }
  return accept(rails);
}

async function preparePayouts(
  deps: AcceptanceDeps,
  batch: Omit<Admission, 'dayLimit'> & {
    readonly reservation: Reservation;
    readonly order: BatchOrder;
    readonly hashes: readonly string[];
    readonly trace: string;
  },
): Promise<readonly Payout[]> {
  const { reservation, order, hashes, wallet, rails, trace } = batch;
  const { merchantId, batchReference } = reservation;
  const payouts: Payout[] = [];
  await inSteps(order.items.length, (first, end) => {
    for (const [offset, item] of order.items.slice(first, end).entries()) {
      const parts = { merchantId, batchReference, order: item, traceparent: trace };
      const contentHash = hashes[first + offset] ?? contentHashOf(item);
      const fee = feeFor(wallet.payoutFee, item.amount.minor);
      const rail = rails.get(item.beneficiary.bankCode) ?? '';
      payouts.push(newPayout(deps, { ...parts, contentHash, fee, rail }));
    }
  });
  return payouts;
}

async function acceptBatch(
  deps: AcceptanceDeps,
  batch: CandidateBatch,
  { session, emit }: Transaction,
  isRetry: boolean,
): Promise<Result<null, OrderRefusal>> {
  const { reservation, order, payouts, dayLimit } = batch;
  const earlier = isRetry ? await findEarlier(deps, reservation, order, session) : undefined;
  if (earlier) return earlier;
  if (dayLimit) {
    const days = openDayBook(await deps.usage.read([dayLimit], session));
    if (!days.admits(dayLimit, order.terms.total.minor))
      return (await findEarlier(deps, reservation, order, session)) ?? refuse(overDayMax(dayLimit.max));
    // Before the items: if it were written last, any single payout of the merchant in the meantime would undo the whole
    // batch each time.
    await deps.usage.save(days.changes(), session);
  }
  // First, so that the same batch sent twice at once collides here and not after its last item.
  await deps.store.reserve(reservation, session);
  const fees = payouts.reduce((sum, { fee }) => sum + fee, 0n);
  const acceptedAtMs = deps.clock.nowMs();
  await deps.batchStore.insert(
    { ...reservation, terms: order.terms, items: payouts.length, fees, acceptedAtMs },
    session,
  );
  await inSteps(payouts.length, async (first, end) => {
    const some = payouts.slice(first, end);
    const inserted = deps.store.insert(some, session);
    // A failure is noticed below; MongoDB works while the events are encoded.
    inserted.catch(() => undefined);
    await nextTurn();
    for (const payout of some) emit(deps.events.accepted(payout));
    await inserted;
  });
  return accept(null);
}

/**
 * Checks the batch's references for earlier use: the same batch is accepted, anything else refused; undefined if all
 * are free.
 */
async function findEarlier(
  { store }: AcceptanceDeps,
  reservation: Reservation,
  { items }: BatchOrder,
  session?: Transaction['session'],
): Promise<Result<null, OrderRefusal> | undefined> {
  const [header] = (await store.findTaken([reservation], session)).values();
  if (header) {
    const same = header.kind === 'batch' && header.contentHash === reservation.contentHash;
    return same ? accept(null) : refuse(usedBefore('transactionReference'));
  }
  const keys = items.map((order) => keyOf({ merchantId: reservation.merchantId, order }));
  let taken: OrderRefusal | undefined;
  await inSteps(keys.length, async (first, end) => {
    if (taken) return;
    const some = keys.slice(first, end);
    const ids = await store.findTakenIds(some, session);
    const index = ids.size === 0 ? -1 : some.findIndex((key) => ids.has(paymentId(key)));
    if (index !== -1) taken = usedBefore(`${itemPath(first + index)}.transactionReference`);
  });
  if (!taken) return undefined;
  return (await areBroughtBack({ store }, reservation, items, session)) ? accept(null) : refuse(taken);
}

/**
 * Whether the items are exactly those of one batch that was brought back: then it is that batch, sent again. No event
 * has the merchant's reference of a batch, so the batch is recognised by its items (ADR 46).
 */
async function areBroughtBack(
  { store }: Pick<AcceptanceDeps, 'store'>,
  { merchantId }: Reservation,
  items: readonly PayoutOrder[],
  session?: Transaction['session'],
): Promise<boolean> {
  const batches = new Set<string | null>();
  let areSame = true;
  await inSteps(items.length, async (first, end) => {
    if (!areSame) return;
    const some = items.slice(first, end);
    const found = await store.findTaken(
      some.map((order) => keyOf({ merchantId, order })),
      session,
    );
    areSame = some.every((order) => {
      const earlier = found.get(paymentId(keyOf({ merchantId, order })));
      if (earlier?.kind !== 'payout' || earlier.payout.recipientKnown) return false;
      batches.add(earlier.payout.batchReference);
      return isSameContent(earlier.payout, contentHashOf(order));
    });
  });
  return areSame && batches.size === 1 && !batches.has(null);
}

function usedBefore(path: string): OrderRefusal {
  return { code: 'duplicate', message: `${path} was used before: use a new reference for a new payout` };
}
