import { isGroupCommit, ownerOf } from './outbox.ts';

/** Decides, right before each attempt to send, whether this process may send events of a source. */
export type Ownership = ReturnType<typeof createOwnership>;

/**
 * Builds the {@link Ownership} of a process. A process that was suspended may have lost its partitions without knowing
 * it. By its own clock, which goes on while the machine sleeps and is never set back, it then stops trusting in them and
 * in its own group commits, and sends nothing of either until it has heard that they are still its own. Outbox records that
 * other processes left are the sweeper's to send.
 */
export function createOwnership(owner: string, nowMs: () => number) {
  const owned = new Set<string>();
  let partitionsSafeUntilMs = 0;
  let heartbeatSafeUntilMs = 0;
  const isAlive = () => nowMs() < heartbeatSafeUntilMs;
  return {
    /** The clock of the times below. */
    nowMs,
    /**
     * Makes the source this process's own; a partition only for as long as its place in the consumer group is certain.
     */
    take: (source: string) => void owned.add(source),
    lose: (source: string) => void owned.delete(source),
    /** Until when no other process can have got a partition of this process. */
    partitionsSafeUntil: (untilMs: number) => {
      partitionsSafeUntilMs = Math.max(partitionsSafeUntilMs, untilMs);
    },
    /** Until when no other process can take this one for dead and send the outbox records it has committed. */
    heartbeatSafeUntil: (untilMs: number) => {
      heartbeatSafeUntilMs = Math.max(heartbeatSafeUntilMs, untilMs);
    },
    /** Whether that time has not come yet. Before a repair of the database goes on, it has come (ADR 45). */
    isAlive,
    maySend: (source: string) => {
      if (isGroupCommit(source)) return ownerOf(source) !== owner || isAlive();
      return owned.has(source) && nowMs() < partitionsSafeUntilMs;
    },
  };
}
