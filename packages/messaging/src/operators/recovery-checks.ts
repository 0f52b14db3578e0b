import type { PartitionPosition, ServicePositions } from './service-positions.ts';

/**
 * Whether a service's database has everything that the service has done, as far as Kafka shows.
 * - `older`: it was restored or lost, and a partition is stopped until people realign it
 * - `behind`: it was older once, or Kafka has forgotten the group, so it may not know yet how its records went on
 * - `current`: there is no sign that it is an older one
 */
export type Recovery = 'older' | 'behind' | 'current';

/** Judges a database by all the partitions that its service consumes. */
export function recoveryOf(partitions: readonly PartitionPosition[]): Recovery {
  if (partitions.some(isOlder)) return 'older';
  return partitions.some(isBehind) ? 'behind' : 'current';
}

/**
 * Whether there is a sign that the database is older than what was committed to Kafka: now, or when operators realigned
 * a partition that has not moved since. Also true if Kafka knows nothing of the whole group, because then nothing rules
 * it out.
 */
export function mayBeRestored(partitions: readonly PartitionPosition[]): boolean {
  return partitions.some(showsRestore) || partitions.every(({ bounds }) => bounds.committed === undefined);
}

function showsRestore(one: PartitionPosition): boolean {
  const { stored } = one;
  return isOlder(one) || (stored !== null && (stored.acceptedCommitted ?? 0n) > stored.next);
}

function isOlder({ position }: PartitionPosition): boolean {
  return position.kind === 'stopped' && (position.mismatch === 'restored' || position.mismatch === 'lost');
}

function isBehind({ position, bounds, realignment }: PartitionPosition): boolean {
  if (position.kind === 'stopped') return false;
  // A position alone does not prove that the database has caught up: the outcomes of older records may not have been
  // published yet.
  const isRealigned = realignment?.status === 'done' || realignment?.status === 'approved';
  if (isRealigned && realignment.topicId === bounds.topicId) return true;
  return bounds.committed === undefined && position.next < bounds.high;
}

/** What a service asks about the recovery of its own database. */
export interface RecoveryChecks {
  /**
   * Whether the database was restored, as far as Kafka shows; call it after `consume`. Rejects while Kafka or the
   * database does not answer.
   */
  readonly recovery: () => Promise<Recovery>;
  /**
   * Whether there is a sign that the database is an older one, or no way to rule it out; call it as {@link
   * RecoverySigns.recovery}.
   */
  readonly mayBeRestored: () => Promise<boolean>;
}

/** Builds {@link RecoveryChecks}, to be asked once the service consumes. */
export function createRecoveryChecks(currentPositions: () => ServicePositions | undefined): RecoveryChecks {
  const list = async () => {
    const positions = currentPositions();
    if (!positions) throw new Error('nothing is consumed yet');
    return positions.list();
  };
  return {
    recovery: async () => recoveryOf(await list()),
    mayBeRestored: async () => mayBeRestored(await list()),
  };
}
