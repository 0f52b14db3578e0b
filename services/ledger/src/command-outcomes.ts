import type { Db } from 'mongodb';
import { collectionNames, type PostingDocument, type RefusalDocument } from './documents.ts';
import { postingId } from './domain/instructions.ts';
import type { Order } from './domain/orders.ts';

/** What the ledger did with an approved order. */
export type Outcome =
  | { readonly status: 'applied'; readonly at: Date }
  | { readonly status: 'refused'; readonly reason: string };

/**
 * Finds the outcomes of orders from what the ledger wrote: their posting or their refusal. Keyed by command id; an order that
 * the ledger has not reached yet is left out.
 */
export type Outcomes = (
  orders: readonly Pick<Order, 'commandId' | 'kind'>[],
) => Promise<ReadonlyMap<string, Outcome>>;

/** Builds {@link Outcomes}. */
export function createOutcomes(db: Db): Outcomes {
  const postings = db.collection<PostingDocument>(collectionNames.postings);
  const refusals = db.collection<RefusalDocument>(collectionNames.refusals);
  return async (orders) => {
    if (orders.length === 0) return new Map();
    // Both are stored under the id of the only posting that an order can have.
    const commandIds = new Map(
      orders.map(({ commandId, kind }) => [postingId({ reference: commandId, kind }), commandId]),
    );
    const wanted = { _id: { $in: [...commandIds.keys()] } };
    const [applied, refused] = await Promise.all([
      postings.find(wanted, { projection: { at: 1 } }).toArray(),
      refusals.find(wanted, { projection: { reason: 1 } }).toArray(),
    ]);
    const outcomes: (readonly [string, Outcome])[] = [
      ...applied.map(({ _id, at }) => [_id, { status: 'applied', at }] as const),
      ...refused.map(({ _id, reason }) => [_id, { status: 'refused', reason }] as const),
    ];
    return new Map(outcomes.map(([id, outcome]) => [commandIds.get(id) ?? id, outcome]));
  };
}
