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
 * Takes or renews a lease by the server's clock; undefined while another owner's lease lasts. A lease that was given until
 * `renewedUntil` is only renewed, and never shortened, even if the clock was set back: undefined if it is gone, or as short
 * as an older database has it.
 */
export async function takeLease(
  leases: Collection<Lease>,
  request: {
    readonly name: string;
    readonly owner: string;
    readonly durationMs: number;
    readonly renewedUntil?: Date | undefined;
  },
): Promise<Lease | undefined> {
  const { name, owner, durationMs, renewedUntil } = request;
  const until = { $add: ['$$NOW', durationMs] };
  const free = {
    $or: [{ $eq: ['$owner', owner] }, { $lt: [{ $ifNull: ['$until', new Date(0)] }, '$$NOW'] }],
  };
  try {
    const lease = await leases.findOneAndUpdate(
      { _id: name, ...(renewedUntil && { until: { $gte: renewedUntil } }) },
      [
        { $set: { free } },
        {
          $set: {
            owner: { $cond: ['$free', owner, '$owner'] },
            until: { $cond: ['$free', renewedUntil ? { $max: ['$until', until] } : until, '$until'] },
          },
        },
        { $unset: 'free' },
      ],
      { upsert: renewedUntil === undefined, returnDocument: 'after' },
    );
    return lease?.owner === owner ? lease : undefined;
  } catch (error) {
    // Two inserts of a new lease met, and the other one won.
    if (isDuplicateKey(error)) return undefined;
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
