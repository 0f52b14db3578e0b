import type { Collection, Db } from 'mongodb';

/** A right that one process at a time holds, for as long as it renews it. */
export interface Lease {
  readonly _id: string;
  readonly owner: string;
  readonly until: Date;
}

/** The leases of a service's database. */
export function leasesOf(db: Db): Collection<Lease> {
  return db.collection<Lease>('leases');
}

const DUPLICATE_KEY = 11_000;

/** Takes or renews a lease by the server's clock; false while another owner's has not run out. */
export async function takeLease(
  leases: Collection<Lease>,
  wish: { readonly name: string; readonly owner: string; readonly durationMs: number },
): Promise<boolean> {
  try {
    const taken = await leases.updateOne(
      { _id: wish.name, $or: [{ owner: wish.owner }, { $expr: { $lt: ['$until', '$$NOW'] } }] },
      [{ $set: { owner: wish.owner, until: { $add: ['$$NOW', wish.durationMs] } } }],
      { upsert: true },
    );
    return taken.matchedCount + taken.upsertedCount > 0;
  } catch (error) {
    // The document exists and is another's: the upsert ran into its _id.
    if (error instanceof Error && 'code' in error && error.code === DUPLICATE_KEY) return false;
    throw error;
  }
}
