import type { PageCursor } from '@pesewa/contracts';
import { afterCursor, countWaiting, nextCursor } from '@pesewa/messaging';
import type { ClientSession, Db } from 'mongodb';
import { DECISIONS_BY_TIME } from '../database-schema.ts';
import type { Decision } from '../domain/decisions.ts';
import type { AppliedDecision } from '../working-set.ts';

/** Which decisions are listed. */
export interface DecisionQuery {
  readonly status?: Decision['status'] | undefined;
  readonly reference?: string | undefined;
  readonly after?: PageCursor | undefined;
  readonly limit: number;
}

/** The decisions of this service's database; each is recorded once, by its id. */
export type DecisionStore = ReturnType<typeof openDecisionStore>;

/** Opens the store. */
export function openDecisionStore(db: Db) {
  const collection = db.collection<Decision>('decisions');
  return {
    find: (
      by: Pick<Decision, '_id'> | Pick<Decision, 'reference'>,
      session?: ClientSession,
    ): Promise<readonly Decision[]> => collection.find(by, { ...(session && { session }) }).toArray(),
    insert: async (decision: Decision, session: ClientSession): Promise<void> => {
      await collection.insertOne(decision, { session });
    },
    /** Writes the decision about a proposal that was read in the same transaction; a conflict aborts it. */
    decide: async ({ _id, ...decided }: Decision, session: ClientSession): Promise<void> => {
      const proposal = { _id, status: 'proposed' } as const;
      const { matchedCount } = await collection.replaceOne(proposal, decided, { session });
      // Read in this transaction's snapshot: a concurrent decision is a conflict, and the transaction reruns.
      if (matchedCount !== 1) throw new Error('a proposal was decided twice at once');
    },
    list: async ({ status, reference, after, limit }: DecisionQuery) => {
      const filter = {
        ...(status !== undefined && { status }),
        ...(reference !== undefined && { reference }),
        ...afterCursor('requestedAt', after),
      };
      const items = await collection.find(filter).sort(DECISIONS_BY_TIME).limit(limit).toArray();
      return { items, next: nextCursor(items, limit, ({ requestedAt }) => requestedAt) };
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
