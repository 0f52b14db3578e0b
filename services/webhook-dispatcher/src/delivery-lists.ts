import { type deliveryOperations, paymentEnds, webhookIdOf } from '@pesewa/contracts';
import type { ServedRequest } from '@pesewa/runtime';
import type { Collection, Filter } from 'mongodb';
import { DUE_KEY } from './database-schema.ts';
import type { DeliveryDocument } from './documents.ts';

/** Which deliveries are listed, and from where on. */
export type DeliveryQuery = ServedRequest<typeof deliveryOperations.list>['query'] & {
  readonly limit: number;
};

/** A list may look through much that it does not show, such as a merchant's rare webhooks in one state. */
const LIST_TIMEOUT_MS = 8_000;
const ends = [...new Set(Object.values(paymentEnds))];

/**
 * A page of deliveries: those of a merchant in the order of their creation, which stays as it is while they are resent;
 * all others by their ids. Undefined if the delivery `after` is deleted or never was.
 */
export async function listDeliveries(
  deliveries: Collection<DeliveryDocument>,
  query: DeliveryQuery,
): Promise<readonly DeliveryDocument[] | undefined> {
  const { reference, state, merchantId, endpoint, after, limit } = query;
  if (merchantId !== undefined && reference === undefined) {
    const begin = after === undefined ? undefined : await deliveries.findOne({ _id: after });
    if (begin === null) return undefined;
    return deliveries
      .find(ofMerchant(merchantId, query, begin), { maxTimeMS: LIST_TIMEOUT_MS })
      .sort({ createdAt: 1, _id: 1 })
      .limit(limit)
      .toArray();
  }
  const filter: Filter<DeliveryDocument> = {
    ...(reference !== undefined && {
      $or: [{ _id: ofPayment(reference) }, { merchantReference: reference }],
    }),
    ...(merchantId !== undefined && { merchantId }),
    ...(endpoint !== undefined && { bulkhead: `${merchantId} ${endpoint}` }),
    ...(state !== undefined && { state }),
    ...(after !== undefined && { _id: { $gt: after } }),
  };
  // Pending ones are found in the index that claims them; the ids in it are sorted before any document is read.
  const hint = reference === undefined && state === 'pending' ? { hint: DUE_KEY } : {};
  return deliveries
    .find(filter, { maxTimeMS: LIST_TIMEOUT_MS, ...hint })
    .sort({ _id: 1 })
    .limit(limit)
    .toArray();
}

function ofMerchant(
  merchantId: string,
  { state, endpoint, from, to }: DeliveryQuery,
  begin: Pick<DeliveryDocument, '_id' | 'createdAt'> | undefined,
): Filter<DeliveryDocument> {
  // What a list goes on after may be older than what is asked for.
  const earliestMs = Math.max(
    from === undefined ? -Infinity : Date.parse(from),
    begin?.createdAt.getTime() ?? -Infinity,
  );
  const createdAt = {
    ...(Number.isFinite(earliestMs) && { $gte: new Date(earliestMs) }),
    ...(to !== undefined && { $lt: new Date(to) }),
  };
  return {
    merchantId,
    ...(state !== undefined && { state }),
    // A bulkhead begins with its merchant: what is pending is found without what was delivered.
    ...(state === 'pending' && { bulkhead: { $gte: `${merchantId} `, $lt: `${merchantId}!` } }),
    ...(endpoint !== undefined && { bulkhead: `${merchantId} ${endpoint}` }),
    ...(Object.keys(createdAt).length > 0 && { createdAt }),
    ...(begin && {
      $or: [{ createdAt: { $gt: begin.createdAt } }, { createdAt: begin.createdAt, _id: { $gt: begin._id } }],
    }),
  };
}

/** The ids of all deliveries that a payment of ours can have. */
function ofPayment(reference: string) {
  return { $in: ends.map((end) => webhookIdOf(reference, end)) };
}
