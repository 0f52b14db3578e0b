import type { ClientSession, Db } from 'mongodb';
import { COMMANDS, findOrders, type OrderDocument } from './commands.ts';
import { collectionNames } from './documents.ts';
import { type FloatOrder, postingId, type WalletOrder } from './domain/instructions.ts';
import { whyUnapproved } from './domain/orders.ts';

/** An order as an event requests it, with the operators that the event names. */
export interface NamedOrder {
  readonly order: WalletOrder | FloatOrder;
  readonly requestedBy: string;
  readonly approvedBy: string | null;
}

/**
 * Compares the orders on a topic with those that operators proposed and approved (ADR 17); gives the reasons, by index, why
 * orders must not be applied. An order that was applied or refused before is not judged again.
 */
export type Approvals = (
  orders: readonly NamedOrder[],
  session: ClientSession,
) => Promise<ReadonlyMap<number, string>>;

/** Builds {@link Approvals}; it reads within the transaction that applies the orders. */
export function createApprovals(db: Db): Approvals {
  const commands = db.collection<OrderDocument>(COMMANDS);
  const decided = [collectionNames.postings, collectionNames.refusals].map((name) =>
    db.collection<{ readonly _id: string }>(name),
  );
  return async (orders, session) => {
    const ids = [...new Set(orders.map(({ order }) => order.reference))];
    const stored = new Map(
      (await findOrders(commands, ids, session)).map((order) => [order.commandId, order]),
    );
    const reasons = new Map<number, string>();
    for (const [index, { order, ...names }] of orders.entries()) {
      const target = 'merchantId' in order ? order.merchantId : order.rail;
      const direction = 'direction' in order ? order.direction : undefined;
      const claim = { ...order, ...names, target, direction };
      const reason = whyUnapproved(claim, stored.get(order.reference));
      if (reason !== undefined) reasons.set(index, reason);
    }
    if (reasons.size === 0) return reasons;
    // Rare: a replay of orders from before approvals existed, or an order that was never proposed.
    const postingIds = new Map(
      [...reasons.keys()].flatMap((index) => {
        const named = orders[index];
        return named ? [[index, postingId(named.order)] as const] : [];
      }),
    );
    for (const collection of decided) {
      const known = await collection
        .find({ _id: { $in: [...postingIds.values()] } }, { session, projection: { _id: 1 } })
        .toArray();
      const knownIds = new Set(known.map(({ _id }) => _id));
      for (const [index, id] of postingIds) if (knownIds.has(id)) reasons.delete(index);
    }
    return reasons;
  };
}
