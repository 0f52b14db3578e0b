import { isSwept, ownerOf } from './bundle.ts';

/** Whose turn it is to send: what a source may put on its way is decided here, right before each try. */
export interface Ownership {
  /** From now on the source is this process's; a partition's for as long as the consumer group is sure of it. */
  readonly take: (source: string) => void;
  readonly lose: (source: string) => void;
  /** Until when, by {@link performance.now}, no other process can have got what this process owns. */
  readonly sureUntil: (untilMs: number) => void;
  /** Until when, by the same clock, nobody takes this process for dead, and sends what it has committed. */
  readonly aliveUntil: (untilMs: number) => void;
  readonly maySend: (source: string) => boolean;
}

/**
 * Builds the {@link Ownership} of a process. One that slept may have been succeeded without knowing it: by its own
 * monotonic clock it is not sure of its partitions, or of what it has committed itself, any more, and sends nothing of
 * them before it has heard that they are still its own. What others left is sent by whoever sweeps.
 */
export function createOwnership(owner: string, nowMs: () => number): Ownership {
  const owned = new Set<string>();
  let sureUntilMs = 0;
  let aliveUntilMs = 0;
  return {
    take: (source) => void owned.add(source),
    lose: (source) => void owned.delete(source),
    sureUntil: (untilMs) => {
      sureUntilMs = Math.max(sureUntilMs, untilMs);
    },
    aliveUntil: (untilMs) => {
      aliveUntilMs = Math.max(aliveUntilMs, untilMs);
    },
    maySend: (source) => {
      if (isSwept(source)) return ownerOf(source) !== owner || nowMs() < aliveUntilMs;
      return owned.has(source) && nowMs() < sureUntilMs;
    },
  };
}
