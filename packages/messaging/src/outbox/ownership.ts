import { isGroupCommit, ownerOf } from './outbox.ts';

/** Decides, right before each attempt to send, whether this process may send events of a source. */
export interface Ownership {
  /**
   * Makes the source this process's own; a partition only for as long as its place in the consumer group is certain.
   */
  readonly take: (source: string) => void;
  readonly lose: (source: string) => void;
  /** The clock of the times below. */
  readonly nowMs: () => number;
  /** Until when no other process can have got a partition of this process. */
  readonly partitionsSafeUntil: (untilMs: number) => void;
  /** Until when no other process can take this one for dead and send the outbox records it has committed. */
  readonly heartbeatSafeUntil: (untilMs: number) => void;
  /** Whether that time has not come yet. Before a repair of the database goes on, it has come (ADR 45). */
  readonly isAlive: () => boolean;
  readonly maySend: (source: string) => boolean;
}

/**
 * Builds the {@link Ownership} of a process. A process that was suspended may have lost its partitions without knowing
 * it. By its own clock, which goes on while the machine sleeps and is never set back, it then stops trusting in them and
 * in its own group commits, and sends nothing of either until it has heard that they are still its own. Outbox records that
 * other processes left are the sweeper's to send.
 */
export function createOwnership(owner: string, nowMs: () => number): Ownership {
  const owned = new Set<string>();
  let partitionsSafeUntilMs = 0;
  let heartbeatSafeUntilMs = 0;
  const isAlive = () => nowMs() < heartbeatSafeUntilMs;
  return {
    nowMs,
    isAlive,
    take: (source) => void owned.add(source),
    lose: (source) => void owned.delete(source),
    partitionsSafeUntil: (untilMs) => {
      partitionsSafeUntilMs = Math.max(partitionsSafeUntilMs, untilMs);
    },
    heartbeatSafeUntil: (untilMs) => {
      heartbeatSafeUntilMs = Math.max(heartbeatSafeUntilMs, untilMs);
    },
    maySend: (source) => {
      if (isGroupCommit(source)) return ownerOf(source) !== owner || isAlive();
      return owned.has(source) && nowMs() < partitionsSafeUntilMs;
    },
  };
}
