import type { Messaging } from './messaging.ts';
import type { PartitionPosition, ServicePositions } from './service-positions.ts';

/**
 * How a service's database stands to what the service has done, as far as Kafka knows.
 *
 * - `older`: it was restored, or lost, and a partition is stopped until people realign it
 * - `behind`: it was older once, or Kafka has forgotten the group, so it may not know yet what became of what it holds
 * - `current`: nothing speaks for its being an older one
 */
export type Recovery = 'older' | 'behind' | 'current';

/** Judges a database by all the partitions that its service consumes. */
export function judgeRecovery(partitions: readonly PartitionPosition[]): Recovery {
  if (partitions.some(isOlder)) return 'older';
  return partitions.some(isBehind) ? 'behind' : 'current';
}

/**
 * Whether anything says that the database is an older one than Kafka was told about: now, or when operators realigned a
 * partition that has not gone on since. Where Kafka knows nothing of the whole group any more, nothing says that it is not.
 */
export function mayHaveGoneBack(partitions: readonly PartitionPosition[]): boolean {
  return partitions.some(wentBack) || partitions.every(({ bounds }) => bounds.committed === undefined);
}

function wentBack(one: PartitionPosition): boolean {
  const { stored } = one;
  return isOlder(one) || (stored !== null && (stored.acceptedCommitted ?? 0n) > stored.next);
}

function isOlder({ position }: PartitionPosition): boolean {
  return position.kind === 'stopped' && (position.misfit === 'restored' || position.misfit === 'lost');
}

function isBehind({ position, bounds, realignment }: PartitionPosition): boolean {
  if (position.kind === 'stopped') return false;
  // A position alone can't say that it has caught up: what became of older records may not have been published yet.
  const isRealigned = realignment?.status === 'done' || realignment?.status === 'approved';
  if (isRealigned && realignment.topicId === bounds.topicId) return true;
  return bounds.committed === undefined && position.next < bounds.high;
}

/** What a service asks of its own database's recovery, once it consumes. */
export function openRecovery(
  standing: () => ServicePositions | undefined,
): Pick<Messaging, 'recovery' | 'mayHaveGoneBack'> {
  const list = async () => {
    const positions = standing();
    if (!positions) throw new Error('nothing is consumed yet');
    return positions.list();
  };
  return {
    recovery: async () => judgeRecovery(await list()),
    mayHaveGoneBack: async () => mayHaveGoneBack(await list()),
  };
}
