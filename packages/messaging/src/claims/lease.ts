import type { Collection, Db } from 'mongodb';
import { isDuplicateKey } from '../database/mongo.ts';

/** A right that only one process holds at a time, for as long as it renews it. */
export interface Lease {
  readonly _id: string;
  readonly owner: string;
  readonly until: Date;
}

/** The leases of a service's database. */
export function leasesOf(db: Db): Collection<Lease> {
  return db.collection<Lease>('leases');
}

/** The lock of a database that is being repaired, from the beginning to the end, however often it is begun (ADR 45). */
export const RECOVERY = 'recovery';

/**
 * Takes or renews a lease by the server's clock; false while another owner's lease lasts, or if it is only to be renewed
 * and is gone.
 */
export async function takeLease(
  leases: Collection<Lease>,
  request: {
    readonly name: string;
    readonly owner: string;
    readonly durationMs: number;
    readonly isRenewal?: boolean;
  },
): Promise<boolean> {
  const free = {
    $or: [{ $eq: ['$owner', request.owner] }, { $lt: [{ $ifNull: ['$until', new Date(0)] }, '$$NOW'] }],
  };
  try {
    const lease = await leases.findOneAndUpdate(
      { _id: request.name },
      [
        { $set: { free } },
        {
          $set: {
            owner: { $cond: ['$free', request.owner, '$owner'] },
            until: { $cond: ['$free', { $add: ['$$NOW', request.durationMs] }, '$until'] },
          },
        },
        { $unset: 'free' },
      ],
      { upsert: !request.isRenewal, returnDocument: 'after' },
    );
    return lease?.owner === request.owner;
  } catch (error) {
    // Two inserts of a new lease met, and the other one won.
    if (isDuplicateKey(error)) return false;
    throw error;
  }
}

/** Ends our lease now, so that others can take it; if that fails, the lease runs out. */
export async function endLease(
  leases: Collection<Lease>,
  { name, owner }: { readonly name: string; readonly owner: string },
): Promise<void> {
  const ended = { $set: { until: { $min: ['$until', '$$NOW'] } } };
  await leases.updateOne({ _id: name, owner }, [ended]).catch(() => undefined);
}
