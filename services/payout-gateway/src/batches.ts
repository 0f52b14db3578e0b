import { hash } from 'node:crypto';
import type { Merchant } from '@pesewa/directory';
import { continueTrace, type Result } from '@pesewa/kernel';
import { type AcceptanceDeps, contentHashOf, isFinal, newPayout } from './acceptance.ts';
import { type Admission, admit } from './admission.ts';
import { createBatchAcceptance, findEarlierBatch, forEachStep } from './batch-acceptance.ts';
import { type BatchRequest, canonicalBatch, itemPath } from './domain/batch.ts';
import type { RequestRefusal } from './domain/request.ts';
import type { RequestDeps } from './payouts.ts';
import type { Payout, Reservation } from './store.ts';

/** The payout gateway's use case for batches. */
export interface Batches {
  /**
   * Accepts all items of a batch or none. The same batch again gets the same answer and changes nothing (invariant P7).
   */
  readonly request: (
    merchant: Merchant,
    order: BatchRequest,
    /** The `traceparent` of the request, unchanged: all items belong to one trace. */
    traceparent?: string,
  ) => Promise<Result<null, RequestRefusal>>;
}

/** Builds {@link Batches}. */
export function createBatches(deps: RequestDeps): Batches {
  const acceptance = createBatchAcceptance(deps);
  return {
    request: async (merchant, order, traceparent) => {
      const arrivedAtMs = deps.clock.nowMs();
      const hashes = await hashItems(order);
      const key: ReservedKey = {
        merchantId: merchant.id,
        merchantReference: order.terms.merchantReference,
        batchReference: deps.ids.next('ba'),
        acceptedAtMs: deps.clock.nowMs(),
        contentHash: hash('sha256', canonicalBatch(order.terms, hashes), 'base64'),
      };
      const admission = await admit(deps, merchant, {
        requests: order.items,
        total: order.terms.total,
        pathOf: (index, field) => `${itemPath(index)}.${field}`,
      });
      // Duplicates take precedence over routing, limits and funds, so they are looked for if those refuse.
      if (!admission.ok) {
        const earlier = await findEarlierBatch(deps, key, order);
        if (earlier || !isFinal(admission.refusal)) return earlier ?? admission;
        return acceptance.refuse({ key, order, refusal: admission.refusal });
      }
      const trace = continueTrace(traceparent, deps.ids);
      const { termsOf, limits } = admission.value;
      const payouts = await preparePayouts(deps, { reservation: key, order, hashes, trace, termsOf });
      const reservation = { ...key, total: order.terms.total, ...rangeOf(payouts) };
      return acceptance.accept({ reservation, order, payouts, limits, arrivedAtMs });
    },
  };
}

/** What is known of a batch before its items have references of ours. */
type ReservedKey = Omit<Reservation, 'total' | keyof ReturnType<typeof rangeOf>>;

/** How many items a batch has, and the ends of their references, which sort by the time alone. */
function rangeOf(payouts: readonly Payout[]): Pick<Reservation, 'itemCount' | 'firstItem' | 'lastItem'> {
  let firstItem = payouts[0]?.reference ?? '';
  let lastItem = firstItem;
  for (const { reference } of payouts) {
    if (reference < firstItem) firstItem = reference;
    if (reference > lastItem) lastItem = reference;
  }
  return { itemCount: payouts.length, firstItem, lastItem };
}

async function hashItems({ items }: BatchRequest): Promise<readonly string[]> {
  const hashes: string[] = [];
  await forEachStep(
    items.length,
    (first, end) => void hashes.push(...items.slice(first, end).map(contentHashOf)),
  );
  return hashes;
}

async function preparePayouts(
  deps: Pick<AcceptanceDeps, 'ids' | 'clock'>,
  batch: Pick<Admission, 'termsOf'> & {
    readonly reservation: ReservedKey;
    readonly order: BatchRequest;
    readonly hashes: readonly string[];
    readonly trace: string;
  },
): Promise<readonly Payout[]> {
  const { reservation, order, hashes, termsOf, trace } = batch;
  const { merchantId, batchReference } = reservation;
  const payouts: Payout[] = [];
  await forEachStep(order.items.length, (first, end) => {
    for (const [offset, item] of order.items.slice(first, end).entries()) {
      const parts = { merchantId, batchReference, order: item, traceparent: trace };
      const contentHash = hashes[first + offset] ?? contentHashOf(item);
      payouts.push(newPayout(deps, { ...parts, contentHash, ...termsOf(item) }));
    }
  });
  return payouts;
}
