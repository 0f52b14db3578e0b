import type { PageCursor } from '@pesewa/contracts';
import { afterCursor, countWaiting, nextCursor } from '@pesewa/messaging';
import type { ClientSession, Db, Filter } from 'mongodb';
import type { Decision } from '../domain/decisions.ts';
import type { AppliedDecision } from '../working-set.ts';

/** Which decisions are listed. */
export interface DecisionQuery {
  readonly status?: Decision['status'] | undefined;
  readonly reference?: string | undefined;
  readonly after?: PageCursor | undefined;
  readonly limit: number;
}

/** The decisions of this service's database. */
export type DecisionStore = ReturnType<typeof openDecisionStore>;

type Stored<Any> = Any extends Decision ? Omit<Any, 'id'> & { readonly _id: string } : never;

/** A decision as MongoDB holds it; `_id` is its id, so that each is recorded once. */
type DecisionDocument = Stored<Decision>;

/** Opens the store. */
export function openDecisionStore(db: Db) {
  const collection = db.collection<DecisionDocument>('decisions');
  return {
    find: async (
      by: { readonly id: string } | { readonly reference: string },
      session?: ClientSession,
    ): Promise<readonly Decision[]> => {
      const filter = 'id' in by ? { _id: by.id } : by;
      return (await collection.find(filter, { ...(session && { session }) }).toArray()).map(toDecision);
    },
    insert: async (decision: Decision, session: ClientSession): Promise<void> => {
      await collection.insertOne(toDocument(decision), { session });
    },
    /** Writes the decision about a proposal that was read in the same transaction; a conflict aborts it. */
    decide: async (decided: Decision, session: ClientSession): Promise<void> => {
      const proposal = { _id: decided.id, status: 'proposed' as const };
      const { matchedCount } = await collection.replaceOne(proposal, toDocument(decided), { session });
      // Read in this transaction's snapshot: a concurrent decision is a conflict, and the transaction reruns.
      if (matchedCount !== 1) throw new Error('a proposal was decided twice at once');
    },
    list: async ({ status, reference, after, limit }: DecisionQuery) => {
      const filter: Filter<DecisionDocument> = {
        ...(status !== undefined && { status }),
        ...(reference !== undefined && { reference }),
        ...afterCursor('at', after),
      };
      const found = await collection.find(filter).sort({ at: -1, _id: -1 }).limit(limit).toArray();
      return { items: found.map(toDecision), next: nextCursor(found, limit, ({ at }) => at) };
    },
    /** How many wait for another operator. */
    countProposed: () => countWaiting(collection, { status: 'proposed' }),
    /** Marks approved decisions as applied once their payments have ended by them. */
    applied: async (
      applied: readonly AppliedDecision[],
      appliedAt: Date,
      session: ClientSession,
    ): Promise<void> => {
      const writes = applied.map((one) => ({
        updateMany: {
          filter: { ...one, status: 'approved' as const },
          update: { $set: { status: 'applied' as const, appliedAt } },
        },
      }));
      await collection.bulkWrite(writes, { session });
    },
  };
}

function toDecision({ _id, ...decision }: DecisionDocument): Decision {
  return { id: _id, ...decision };
}

function toDocument({ id, ...decision }: Decision): DecisionDocument {
  return { _id: id, ...decision };
}
