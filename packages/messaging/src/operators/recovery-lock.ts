import type { Collection } from 'mongodb';
import type { Lease } from '../claims/lease.ts';

/** Exists from the beginning of a repair to its end, however often it is begun. */
const RECOVERY = 'recovery';

/** Refuses to start while a repair of the database is not finished; call it once this process counts as alive. */
export async function refuseDuringRecovery(leases: Collection<Lease>): Promise<void> {
  if (await leases.findOne({ _id: RECOVERY }))
    throw new Error(
      'a repair of this database is in progress or was interrupted: run the program with the argument recover until it reports that it is done (docs/database-restored.md)',
    );
}

/**
 * Locks the database for a repair; gives whether an earlier one was interrupted. Whoever starts meanwhile counts as
 * alive before it looks for the lock, and the lock is written before others are looked for, so one sees the other.
 */
export async function lockForRecovery(leases: Collection<Lease>, owner: string): Promise<boolean> {
  const lock = { $setOnInsert: { owner }, $currentDate: { until: true } } as const;
  const { upsertedCount } = await leases.updateOne({ _id: RECOVERY }, lock, { upsert: true });
  const others = { _id: /^alive\//, owner: { $ne: owner }, $expr: { $gt: ['$until', '$$NOW'] } };
  const alive = await leases.findOne(others);
  if (!alive) return upsertedCount === 0;
  if (upsertedCount > 0) await unlockAfterRecovery(leases);
  throw new Error(`${alive.owner} is running: stop the service, wait some seconds, and run this again`);
}

/** Lets the service start again. */
export async function unlockAfterRecovery(leases: Collection<Lease>): Promise<void> {
  await leases.deleteOne({ _id: RECOVERY });
}
