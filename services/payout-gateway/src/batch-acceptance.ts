import { setImmediate as nextTurn } from 'node:timers/promises';
import { accept, type Result, refuse } from '@pesewa/kernel';
import { openLimitUsage } from '@pesewa/merchant-api';
import type { Transaction } from '@pesewa/messaging';
import { isOverdue, paymentId } from '@pesewa/payments';
import { type AcceptanceDeps, contentHashOf, isSameContent, keyOf, overtakenRefusal } from './acceptance.ts';
import { type BatchRequest, itemPath } from './domain/batch.ts';
import type { DayLimit } from './domain/limits.ts';
import type { PayoutRequest, RequestRefusal } from './domain/request.ts';
import { acceptedEvent } from './events.ts';
import type { Payout, Reservation } from './store.ts';

/** An admitted batch, about to be stored. */
export interface CandidateBatch {
  readonly reservation: Reservation;
  readonly order: BatchRequest;
  readonly payouts: readonly Payout[];
  /** What is counted of the day, of each item in turn. */
  readonly limits: readonly DayLimit[];
  /** When its request came, before anything was judged. */
  readonly arrivedAtMs: number;
}

/** A batch that was refused before acceptance. */
interface RefusedBatch extends Pick<CandidateBatch, 'order'> {
  readonly key: BatchKey;
  readonly refusal: RequestRefusal;
}

/** What a batch is recognised by. */
type BatchKey = Pick<Reservation, 'merchantId' | 'merchantReference' | 'contentHash'>;

type Outcome = Result<null, RequestRefusal>;

/** How many items are prepared, stored or looked up before other requests may run. */
const ITEMS_PER_STEP = 250;

/** Runs over the indexes in steps, between which other requests may run. */
export async function forEachStep(
  count: number,
  step: (first: number, end: number) => Promise<void> | void,
): Promise<void> {
  for (let first = 0; first < count; first += ITEMS_PER_STEP) {
    await step(first, Math.min(first + ITEMS_PER_STEP, count));
    await nextTurn();
  }
}

/**
 * Accepts batches: each is a transaction of its own, and only one runs at a time, because it is large and single
 * payouts must still get through.
 */
export function createBatchAcceptance(deps: AcceptanceDeps) {
  const group = deps.messaging.groupCommit<CandidateBatch | RefusedBatch, Outcome>(
    'payouts.accept-batch',
    async (batches, transaction, isRetry) => {
      const outcomes: Outcome[] = [];
      for (const batch of batches)
        outcomes.push(
          'refusal' in batch
            ? await refuseBatch(deps, batch, transaction.session, isRetry)
            : await acceptBatch(deps, batch, transaction, isRetry),
        );
      return outcomes;
    },
    { itemsMax: 1 },
  );
  return {
    accept: group.submit,
    /** Gives the refusal, unless the batch was accepted meanwhile. */
    refuse: group.submit,
  };
}

/** The refusal of a batch; its own reference is enough to collide with the same batch. */
async function refuseBatch(
  deps: AcceptanceDeps,
  { key, order, refusal }: RefusedBatch,
  session: Transaction['session'],
  isRetry: boolean,
): Promise<Outcome> {
  const earlier = isRetry ? await findEarlierBatch(deps, key, order, session) : undefined;
  if (earlier) return earlier;
  await deps.store.refused.mark([paymentId(key)], session);
  return refuse(refusal);
}

async function acceptBatch(
  deps: AcceptanceDeps,
  batch: CandidateBatch,
  { session, emit }: Transaction,
  isRetry: boolean,
): Promise<Outcome> {
  const { reservation, order, payouts, limits } = batch;
  const earlier = isRetry ? await findEarlierBatch(deps, reservation, order, session) : undefined;
  if (earlier) return earlier;
  if (isRetry && (await isOvertaken(deps, batch, session))) return refuse(overtakenRefusal);
  if (isOverdue(batch.arrivedAtMs, deps.clock.nowMs())) return refuse(overtakenRefusal);
  if (limits.length > 0) {
    const days = openLimitUsage(await deps.usage.read(limits, session));
    const exceeded = days.add(limits);
    if (exceeded) {
      const { refusal } = exceeded;
      return (
        (await findEarlierBatch(deps, reservation, order, session)) ??
        (await refuseBatch(deps, { key: reservation, order, refusal }, session, false))
      );
    }
    // Before the items: if it were written last, any single payout of the merchant in the meantime would undo the whole
    // batch each time.
    await deps.usage.save(days.changes(), session);
  }
  // First, so that the same batch sent twice at once collides here and not after its last item.
  await deps.store.reserve(reservation, session);
  await forEachStep(payouts.length, async (first, end) => {
    const some = payouts.slice(first, end);
    const inserted = deps.store.insert(some, session);
    // A failure is noticed below; MongoDB works while the events are encoded.
    inserted.catch(() => undefined);
    await nextTurn();
    for (const payout of some) emit(acceptedEvent(payout));
    await inserted;
  });
  return accept(null);
}

/** Whether one of the batch's references was refused after the batch had come; frees those that were refused before. */
async function isOvertaken(
  { store, clock }: Pick<AcceptanceDeps, 'store' | 'clock'>,
  { reservation, payouts, arrivedAtMs }: CandidateBatch,
  session: Transaction['session'],
): Promise<boolean> {
  const ids = [reservation, ...payouts.map(keyOf)].map(paymentId);
  let isOne = false;
  await forEachStep(ids.length, async (first, end) => {
    const requests = ids.slice(first, end).map((id) => ({ id, arrivedAtMs }));
    if ((await store.refused.release(requests, clock.nowMs, session)).size > 0) isOne = true;
  });
  return isOne;
}

/**
 * Checks the batch's references for earlier use: the same batch is accepted, anything else refused; undefined if all
 * are free.
 */
export async function findEarlierBatch(
  { store }: AcceptanceDeps,
  reservation: BatchKey,
  { items }: BatchRequest,
  session?: Transaction['session'],
): Promise<Result<null, RequestRefusal> | undefined> {
  const header = await findHeader(store, reservation, session);
  if (header) return header;
  const keys = items.map((order) => keyOf({ merchantId: reservation.merchantId, order }));
  let taken: RequestRefusal | undefined;
  await forEachStep(keys.length, async (first, end) => {
    if (taken) return;
    const some = keys.slice(first, end);
    const ids = await store.findUsedIds(some, session);
    const index = ids.size === 0 ? -1 : some.findIndex((key) => ids.has(paymentId(key)));
    if (index !== -1) taken = duplicateRefusal(`${itemPath(first + index)}.transactionReference`);
  });
  if (!taken) return undefined;
  // Outside a transaction the batch may have been committed between the two reads: its own items don't refuse it.
  const meanwhile = session ? undefined : await findHeader(store, reservation);
  if (meanwhile) return meanwhile;
  return (await isRebuiltBatch({ store }, reservation, items, session)) ? accept(null) : refuse(taken);
}

/** What the batch's own reference says of it; undefined if that is free. */
async function findHeader(
  store: AcceptanceDeps['store'],
  reservation: BatchKey,
  session?: Transaction['session'],
): Promise<Outcome | undefined> {
  const [header] = (await store.findUses([reservation], session)).values();
  if (!header) return undefined;
  const same = header.kind === 'batch' && header.contentHash === reservation.contentHash;
  return same ? accept(null) : refuse(duplicateRefusal('transactionReference'));
}

/**
 * Whether the items are exactly those of one batch that was brought back: then it is that batch, sent again. No event
 * has the merchant's reference of a batch, so the batch is recognised by its items (ADR 45).
 */
async function isRebuiltBatch(
  { store }: Pick<AcceptanceDeps, 'store'>,
  { merchantId }: Pick<Reservation, 'merchantId'>,
  items: readonly PayoutRequest[],
  session?: Transaction['session'],
): Promise<boolean> {
  const batches = new Set<string | null>();
  let areSame = true;
  await forEachStep(items.length, async (first, end) => {
    if (!areSame) return;
    const some = items.slice(first, end);
    const found = await store.findUses(
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

function duplicateRefusal(path: string): RequestRefusal {
  return { code: 'duplicate', message: `${path} was used before: use a new reference for a new payout` };
}
