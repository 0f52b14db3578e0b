import type { Db } from 'mongodb';
import type { Batch } from './page-stream.ts';
import { type CheckDeps, RECORDS_PER_READ, recheckAll, type Suspects } from './recheck.ts';
import { collections, type EntryRecord, type OrderRecord, type PostingRecord } from './records.ts';

/** The kinds of postings that only an order can lead to; an order leads to one entry of its own kind (ADR 17). */
const orderKinds: ReadonlySet<string> = new Set([
  'fund',
  'withdraw',
  'fundFloat',
  'withdrawFloat',
  'adjust',
  'suspense',
]);

type OrderedEntry = Partial<EntryRecord> & Pick<PostingRecord, 'kind' | 'currency'>;

/** Why an order's entry does not match its order; undefined if it does (L12). */
function checkOrder(entry: OrderedEntry, order: OrderRecord | undefined): string | undefined {
  if (!order) return 'has no order';
  const { status, requestedBy, decidedBy, target, currency } = order;
  if (status !== 'approved') return `was applied, but its order is ${status}`;
  if (!requestedBy || !decidedBy) return 'was ordered, but not by two who are named';
  if (requestedBy === decidedBy) return 'was approved by the one who had proposed it';
  for (const field of ['kind', 'currency', 'amount'] as const) {
    if (entry[field] !== order[field]) return `has the ${field} ${entry[field]}; ${order[field]} was ordered`;
  }
  const wallet = `wallet:${target}:${currency}:available`;
  const float = `float:${target}:${currency}`;
  const isDebit = entry.debit === wallet || entry.debit === float;
  const isCredit = entry.credit === wallet || entry.credit === float;
  if (isDebit === isCredit) return `moves ${entry.debit} to ${entry.credit}; ${target} was ordered`;
  const direction = directionOf(entry.kind, isCredit);
  return direction === order.direction
    ? undefined
    : `has the direction ${direction ?? 'none'}; ${order.direction ?? 'none'} was ordered`;
}

/** A credit of a wallet is a gain; a debit of a float is money that the records do not explain. */
function directionOf(kind: string, isCredit: boolean): string | undefined {
  if (kind === 'adjust') return isCredit ? 'credit' : 'debit';
  if (kind === 'suspense') return isCredit ? 'shortage' : 'surplus';
  return undefined;
}

/** Compares the operators' orders with the books, in both directions (L12). */
export function createOrderCheck(deps: CheckDeps & { readonly ledger: Db }) {
  const { ledger, session, findings } = deps;
  const orders = ledger.collection<OrderRecord>(collections.orders);

  async function idsThere(collection: string, ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await ledger
      .collection<{ readonly _id: string }>(collection)
      .find({ _id: { $in: ids } }, { session, projection: { _id: 1 }, batchSize: ids.length + 1 })
      .toArray();
    return new Set(found.map(({ _id }) => _id));
  }

  async function suspectsOf(approved: readonly OrderRecord[]): Promise<Suspects> {
    const ids = approved.map(({ _id, kind }) => `${_id}/${kind}`);
    const applied = await idsThere(collections.postings, ids);
    const refused = await idsThere(collections.refusals, ids);
    return new Map(
      approved.flatMap(({ _id, kind }) => {
        const id = `${_id}/${kind}`;
        if (applied.has(id) !== refused.has(id)) return [];
        const both = applied.has(id)
          ? 'was both applied and refused'
          : 'was approved, but neither applied nor refused';
        return [[_id, [['L12', both]]] as const];
      }),
    );
  }

  const again = async (references: readonly string[]): Promise<Suspects> =>
    suspectsOf(await orders.find({ _id: { $in: references }, status: 'approved' }, { session }).toArray());

  return {
    /** Checks that these postings were ordered and approved. */
    postings: async ({ pages }: Batch) => {
      const ordered = pages.flatMap(({ postings }) =>
        postings.filter((posting) => posting !== undefined && orderKinds.has(posting.kind)),
      );
      if (ordered.length === 0) return;
      const ids = ordered.flatMap((posting) => (posting ? [posting.reference] : []));
      const found = await orders
        .find({ _id: { $in: ids } }, { session, batchSize: ids.length + 1 })
        .toArray();
      const byId = new Map(found.map((order) => [order._id, order]));
      for (const posting of ordered) {
        if (!posting) continue;
        const message = checkOrder({ ...posting.entries[0], ...posting }, byId.get(posting.reference));
        if (message !== undefined) findings.report('L12', posting._id, message);
      }
    },
    /** Checks that every approved order was applied or refused. */
    orders: async () => {
      const approved = orders.find({ status: 'approved' }, { session, batchSize: RECORDS_PER_READ });
      await recheckAll(approved, suspectsOf, again, deps);
    },
  };
}
