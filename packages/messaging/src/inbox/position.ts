import type { PartitionBounds } from '@pesewa/kafka';
import type { ConsumerOffset } from './offsets.ts';

/**
 * Why a partition's position does not fit, so that only people can decide how it goes on.
 * - `added`: the topic has more partitions than this version expects
 * - `lost`: our database has no position, but Kafka knows that there was one
 * - `unknown start`: there is no position anywhere, and Kafka no longer keeps the first messages
 * - `recreated`: the topic was deleted and created again
 * - `messages removed`: Kafka has removed messages that we had not applied yet
 * - `log truncated`: Kafka has lost messages that we have applied
 * - `restored`: our database is older than what we have committed to Kafka
 */
export type PositionMismatch =
  | 'added'
  | 'lost'
  | 'unknown start'
  | 'recreated'
  | 'messages removed'
  | 'log truncated'
  | 'restored';

/** Where a partition goes on, or why it must not. */
export type Position =
  | { readonly kind: 'begins'; readonly next: bigint }
  | { readonly kind: 'continues'; readonly next: bigint }
  | {
      readonly kind: 'stopped';
      readonly mismatch: PositionMismatch;
      /** Does not change for as long as it is stopped, whatever Kafka writes or removes meanwhile. */
      readonly reason: string;
      /** What people must do, with the command for it. */
      readonly remedy: string;
    };

/** The facts that a position is judged by. */
export interface PositionFacts {
  readonly group: string;
  readonly stored: Pick<ConsumerOffset, 'next' | 'topicId' | 'acceptedCommitted' | 'truncatedAt'> | null;
  readonly bounds: PartitionBounds;
  /** How many partitions this version expects of the topic. */
  readonly partitions: number;
}

/**
 * Compares our position of a partition with Kafka's (ADR 43).
 *
 * A position that does not fit is never corrected by guessing: mistaken for a repetition, or for a new beginning, it
 * would lose messages. The caller must make sure that the stored position has not moved since Kafka was asked.
 */
export function checkPosition(facts: PositionFacts): Position {
  const { stored, bounds, partitions } = facts;
  const { topicId, low, high, partition, committed = 0n } = bounds;
  const stopped = (mismatch: PositionMismatch, reason: string): Position => ({
    kind: 'stopped',
    mismatch,
    reason,
    remedy: remedyOf(mismatch, facts),
  });
  if (partition >= partitions)
    return stopped(
      'added',
      `the topic has more than the ${partitions} partitions that this version gives it`,
    );
  if (stored === null) {
    // A group commits its first offset before it has applied anything, so 0 proves no progress.
    if (committed > 0n)
      return stopped(
        'lost',
        `our database has no position, but Kafka knows that we had come to ${committed}`,
      );
    if (low > 0n)
      return stopped(
        'unknown start',
        'Kafka no longer keeps the first messages, and it is unknown whether they were applied',
      );
    return { kind: 'begins', next: low };
  }
  const { next } = stored;
  if (stored.topicId !== topicId)
    return stopped('recreated', 'the topic was deleted and created again since we read it');
  const isAhead = committed > next && committed !== stored.acceptedCommitted;
  if (next < low && !isAhead)
    return stopped(
      'messages removed',
      `Kafka no longer keeps ${next}, which is to come next: messages are lost`,
    );
  if (next > high || stored.truncatedAt !== undefined)
    return stopped(
      'log truncated',
      `Kafka ended at ${stored.truncatedAt ?? high}, but ${next} is to come next: its log was truncated`,
    );
  if (isAhead)
    return stopped(
      'restored',
      `Kafka knows that we had come to ${committed}, but our database is at ${next}: it is an older one`,
    );
  return { kind: 'continues', next };
}

/** What people do about an older database (ADR 45). */
export const RECOVER =
  'stop the service and run its program once with the argument recover, and with --restored if it was restored (docs/database-restored.md)';

const RUNBOOK = 'docs/runbooks/partition-stopped.md';

function remedyOf(mismatch: PositionMismatch, { group, bounds, partitions }: PositionFacts): string {
  const realign = `pesewa realign ${group} ${bounds.topic} ${bounds.partition} --reason "${mismatch}"`;
  switch (mismatch) {
    case 'added':
      return `deploy the version that gives the topic more partitions; this one writes to the first ${partitions} alone (${RUNBOOK})`;
    case 'restored':
    case 'lost':
      return RECOVER;
    case 'recreated':
    case 'log truncated':
      return `${realign}, once what happened is known: it applies again what Kafka has (${RUNBOOK})`;
    case 'messages removed':
    case 'unknown start':
      return `${realign}, once what is missing was made good or is known not to matter (${RUNBOOK})`;
  }
}
