import type { PageCursor } from '@pesewa/contracts';
import { accept, type Clock, type Ids, type Result, refuse } from '@pesewa/kernel';
import { afterCursor, type Messaging, nextCursor, type Transaction } from '@pesewa/messaging';
import type { ClientSession, Collection, Db, Filter } from 'mongodb';
import { commandEventOf, isApproved } from './command-events.ts';
import { createOutcomes, type Outcome } from './command-outcomes.ts';
import {
  breakIdOf,
  type Decision,
  type DecisionRefusal,
  decideOrder,
  isSameOrder,
  type OperatorRequest,
  type Order,
  type Verdict,
} from './domain/orders.ts';
import { decidedEventOf } from './events.ts';

/** An order and its outcome in the ledger; no outcome while it is neither applied nor refused. */
export interface FollowedOrder {
  readonly order: Order;
  readonly outcome?: Outcome;
}

/** The status of an order: proposed, then rejected or approved, and if approved then applied or refused. */
export type OrderStatus = Order['status'] | Outcome['status'];

/** The orders of operators: proposed by one, approved by another, applied when their event comes back (ADR 17). */
export interface Commands {
  /**
   * Records a proposal once, without moving money. The same proposal again gives the same order; a different one under
   * its id is refused, and so is one for a break for which another was proposed.
   */
  readonly propose: (
    request: OperatorRequest,
    by: string,
    commandId?: string,
  ) => Promise<Result<FollowedOrder, 'command.differs' | 'command.pending'>>;
  /** Approves or rejects; an approval publishes the order to the ledger in the same transaction. */
  readonly decide: (
    commandId: string,
    verdict: Verdict,
    by: string,
  ) => Promise<Result<FollowedOrder, DecisionRefusal | 'order.unknown'>>;
  readonly find: (commandId: string) => Promise<FollowedOrder | undefined>;
  /** The newest first; a page may have fewer than `limit` items and still a next one. */
  readonly list: (query: {
    readonly status?: OrderStatus;
    readonly breakId?: string;
    readonly after?: PageCursor;
    readonly limit: number;
  }) => Promise<{ readonly items: readonly FollowedOrder[]; readonly next: PageCursor | null }>;
}

type Stored<Any> = Any extends Order
  ? Omit<Any, 'commandId'> & {
      readonly _id: string;
      /** Set while an approved order must be published again; see orders-again.ts. */
      readonly again?: true;
    }
  : never;

/** An order as MongoDB holds it; `_id` is its id, so that each is recorded once. */
export type OrderDocument = Stored<Order>;

/** The collection of the ledger's database that holds the orders. */
export const COMMANDS = 'commands';

/** Builds {@link Commands}. */
export function createCommands(deps: {
  readonly db: Db;
  readonly messaging: Pick<Messaging, 'groupCommit'>;
  readonly ids: Ids;
  readonly clock: Clock;
}): Commands {
  const collection = deps.db.collection<OrderDocument>(COMMANDS);
  const outcomes = createOutcomes(deps.db);
  const now = () => new Date(deps.clock.nowMs());
  const proposing = deps.messaging.groupCommit<Order, Order | undefined>(
    'ledger.command',
    (proposals, { session }, isRetry) => record(collection, proposals, session, isRetry),
  );
  const deciding = deps.messaging.groupCommit<
    { readonly commandId: string; readonly decision: Decision },
    Result<Order, DecisionRefusal | 'order.unknown'>
  >('ledger.decision', (wanted, transaction) => decide(collection, wanted, transaction));
  const follow = async (orders: readonly Order[]): Promise<readonly FollowedOrder[]> => {
    const found = await outcomes(orders.filter(({ status }) => status === 'approved'));
    return orders.map((order) => {
      const outcome = found.get(order.commandId);
      return { order, ...(outcome && { outcome }) };
    });
  };
  const followOne = async (order: Order): Promise<FollowedOrder> => (await follow([order]))[0] ?? { order };
  return {
    propose: async (request, by, commandId = deps.ids.next('cm')) => {
      const proposal: Order = { ...request, commandId, requestedBy: by, at: now(), status: 'proposed' };
      const taken = await proposing.submit(proposal);
      if (!taken) return refuse('command.pending');
      return isSameOrder(taken, proposal) ? accept(await followOne(taken)) : refuse('command.differs');
    },
    decide: async (commandId, verdict, by) => {
      const decided = await deciding.submit({ commandId, decision: { verdict, by, at: now() } });
      return decided.ok ? accept(await followOne(decided.value)) : decided;
    },
    find: async (commandId) => {
      const found = await collection.findOne({ _id: commandId });
      return found ? followOne(fromOrderDocument(found)) : undefined;
    },
    list: async ({ status, breakId, after, limit }) => {
      const page = await collection
        .find({
          ...storedStatus(status),
          ...(breakId !== undefined && { breakId }),
          ...afterCursor('at', after),
        })
        .sort({ at: -1, _id: -1 })
        .limit(limit)
        .toArray();
      const followed = await follow(page.map(fromOrderDocument));
      return {
        items: followed.filter((one) => status === undefined || statusOf(one) === status),
        next: nextCursor(page, limit, ({ at }) => at),
      };
    },
  };
}

/** The status of the order. */
export function statusOf({ order, outcome }: FollowedOrder): OrderStatus {
  return outcome?.status ?? order.status;
}

/** Inserts new proposals; gives for each proposal the order that has its id, and none if another waits for its break. */
async function record(
  collection: Collection<OrderDocument>,
  proposals: readonly Order[],
  session: ClientSession,
  isRetry: boolean,
): Promise<readonly (Order | undefined)[]> {
  const taken = new Map<string, Order>();
  const correcting = new Set<string>();
  if (isRetry) {
    const ids = proposals.map(({ commandId }) => commandId);
    for (const order of await findOrders(collection, ids, session)) taken.set(order.commandId, order);
    const breakIds = proposals.flatMap((proposal) => breakIdOf(proposal) ?? []);
    const waiting = { status: 'proposed', breakId: { $in: breakIds } } as const;
    for (const order of await collection.find(waiting, { session }).toArray())
      if ('breakId' in order && order.breakId !== undefined) correcting.add(order.breakId);
  }
  const fresh: Order[] = [];
  for (const proposal of proposals) {
    const breakId = breakIdOf(proposal);
    if (taken.has(proposal.commandId) || (breakId !== null && correcting.has(breakId))) continue;
    taken.set(proposal.commandId, proposal);
    if (breakId !== null) correcting.add(breakId);
    fresh.push(proposal);
  }
  if (fresh.length > 0) await collection.insertMany(fresh.map(toOrderDocument), { session });
  return proposals.map(({ commandId }) => taken.get(commandId));
}

/** Decides in the order of the requests; approved orders are published if and only if the transaction commits. */
async function decide(
  collection: Collection<OrderDocument>,
  wanted: readonly { readonly commandId: string; readonly decision: Decision }[],
  transaction: Transaction,
): Promise<readonly Result<Order, DecisionRefusal | 'order.unknown'>[]> {
  const ids = [...new Set(wanted.map(({ commandId }) => commandId))];
  const found = await findOrders(collection, ids, transaction.session);
  const orders = new Map(found.map((order) => [order.commandId, order]));
  const changed = new Map<string, Order>();
  const answers = wanted.map(({ commandId, decision }) => {
    const order = orders.get(commandId);
    if (!order) return refuse('order.unknown' as const);
    const decided = decideOrder(order, decision);
    if (decided.ok && decided.value !== order) {
      orders.set(commandId, decided.value);
      changed.set(commandId, decided.value);
    }
    return decided;
  });
  if (changed.size > 0) await write(collection, [...changed.values()], transaction);
  return answers;
}

async function write(
  collection: Collection<OrderDocument>,
  changed: readonly Order[],
  { session, emit }: Transaction,
): Promise<void> {
  const { matchedCount } = await collection.bulkWrite(
    changed.map((order) => ({
      replaceOne: {
        filter: { _id: order.commandId, status: 'proposed' },
        replacement: { ...toOrderDocument(order), ...(isApproved(order) && { again: true as const }) },
      },
    })),
    { session },
  );
  // Read in this transaction's snapshot: a concurrent decision is a conflict, and the transaction reruns.
  if (matchedCount !== changed.length) throw new Error('an order was decided twice at once');
  for (const order of changed) {
    if (order.status !== 'proposed') emit(decidedEventOf(order));
    if (isApproved(order)) emit(commandEventOf(order));
  }
}

/** The orders of these ids that exist, as the session sees them. */
export async function findOrders(
  collection: Collection<OrderDocument>,
  ids: readonly string[],
  session: ClientSession,
): Promise<readonly Order[]> {
  return (await collection.find({ _id: { $in: ids } }, { session }).toArray()).map(fromOrderDocument);
}

/** The stored form of a status filter: whether an approved order is applied only shows in the entries. */
function storedStatus(status: OrderStatus | undefined): Filter<OrderDocument> {
  if (status === undefined) return {};
  return { status: status === 'applied' || status === 'refused' ? 'approved' : status };
}

/** An order as it was stored. */
export function fromOrderDocument({ _id, again: _again, ...order }: OrderDocument): Order {
  return { commandId: _id, ...order };
}

/** An order to be stored. */
export function toOrderDocument({ commandId, ...order }: Order): OrderDocument {
  return { _id: commandId, ...order };
}
