import { hash } from 'node:crypto';
import type { Merchant } from '@pesewa/directory';
import { continueTrace, type Result } from '@pesewa/kernel';
import { type AcceptanceDeps, contentHashOf, newPayout } from './acceptance.ts';
import { type Admission, admit } from './admission.ts';
import { createBatchAcceptance, findEarlierBatch, forEachStep } from './batch-acceptance.ts';
import { type BatchRequest, canonicalBatch, itemPath } from './domain/batch.ts';
import type { RequestRefusal } from './domain/submission.ts';
import type { SubmissionDeps } from './payouts.ts';
import type { Payout, Reservation } from './store.ts';

/** The payout gateway's use case for batches. */
export interface Batches {
  /**
   * Accepts all items of a batch or none. The same batch again gets the same answer and changes nothing (invariant P7).
   */
  readonly submit: (
    merchant: Merchant,
    order: BatchRequest,
    /** The `traceparent` of the request, unchanged: all items belong to one trace. */
    traceparent?: string,
  ) => Promise<Result<null, RequestRefusal>>;
}

/** Builds {@link Batches}. */
export function createBatches(deps: SubmissionDeps): Batches {
  const acceptBatch = createBatchAcceptance(deps);
  return {
    submit: async (merchant, order, traceparent) => {
      const hashes = await hashItems(order);
      const reservation: Reservation = {
        merchantId: merchant.id,
        merchantReference: order.terms.merchantReference,
        batchReference: deps.ids.next('ba'),
        contentHash: hash('sha256', canonicalBatch(order.terms, hashes), 'base64'),
      };
      const admission = await admit(deps, merchant, {
        requests: order.items,
        total: order.terms.total,
        pathOf: (index, field) => `${itemPath(index)}.${field}`,
      });
      // Duplicates take precedence over routing, limits and funds, so they are looked for if those refuse.
      if (!admission.ok) return (await findEarlierBatch(deps, reservation, order)) ?? admission;
      const trace = continueTrace(traceparent, deps.ids);
      const { termsOf, dayLimit } = admission.value;
      const payouts = await preparePayouts(deps, { reservation, order, hashes, trace, termsOf });
      return acceptBatch({ reservation, order, payouts, dayLimit });
    },
  };
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
    readonly reservation: Reservation;
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
