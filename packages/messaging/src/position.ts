import type { PartitionBounds } from '@pesewa/kafka';
import type { ConsumerOffset } from './offsets.ts';

/**
 * What of a partition does not fit, so that only people can say how it goes on.
 *
 * - `added`: the topic has more partitions than this version gives it
 * - `lost`: our database has no position, but Kafka knows that there was one
 * - `unknown start`: nobody has a position, and Kafka no longer keeps the first messages
 * - `recreated`: the topic was deleted and created again
 * - `start gone`: Kafka has removed messages that were to come next
 * - `end gone`: Kafka has lost messages that we have applied
 * - `restored`: our database is an older one than the one that Kafka was told about
 */
export type Misfit =
  | 'added'
  | 'lost'
  | 'unknown start'
  | 'recreated'
  | 'start gone'
  | 'end gone'
  | 'restored';

/** Where a partition goes on, or why it must not. */
export type Position =
  | { readonly kind: 'begins'; readonly next: bigint }
  | { readonly kind: 'continues'; readonly next: bigint }
  | {
      readonly kind: 'stopped';
      readonly misfit: Misfit;
      /** The same for as long as it is stopped, whatever Kafka writes or removes meanwhile. */
      readonly reason: string;
      /** What people are to do, with the command that does it. */
      readonly remedy: string;
    };

/** What a position is judged by. */
export interface Standing {
  readonly group: string;
  readonly stored: Pick<ConsumerOffset, 'next' | 'topicId' | 'acceptedCommitted' | 'cutAt'> | null;
  readonly bounds: PartitionBounds;
  /** How many partitions the topic has by this version. */
  readonly partitions: number;
}

/**
 * Holds our position of a partition against Kafka's (ADR 43).
 *
 * What does not fit is never guessed at: a position taken for a repetition, or for a new beginning, loses messages. The
 * position must have been read so that nobody has advanced it since Kafka was asked.
 */
export function judgePosition(standing: Standing): Position {
  const { stored, bounds, partitions } = standing;
  const { topicId, low, high, partition, committed = 0n } = bounds;
  const stopped = (misfit: Misfit, reason: string): Position => ({
    kind: 'stopped',
    misfit,
    reason,
    remedy: remedyOf(misfit, standing),
  });
  if (partition >= partitions)
    return stopped(
      'added',
      `the topic has more than the ${partitions} partitions that this version gives it`,
    );
  if (stored === null) {
    // A group commits where it begins before it has applied anything: 0 is no progress.
    if (committed > 0n)
      return stopped(
        'lost',
        `our database has no position, but Kafka knows that we had come to ${committed}`,
      );
    if (low > 0n)
      return stopped(
        'unknown start',
        'Kafka no longer keeps the first messages, and nobody knows whether they were applied',
      );
    return { kind: 'begins', next: low };
  }
  const { next } = stored;
  if (stored.topicId !== topicId)
    return stopped('recreated', 'the topic was deleted and created again since we read it');
  if (next < low)
    return stopped('start gone', `Kafka no longer keeps ${next}, which is to come next: messages are lost`);
  if (next > high || stored.cutAt !== undefined)
    return stopped(
      'end gone',
      `Kafka ended at ${stored.cutAt ?? high}, but ${next} is to come next: its log was cut`,
    );
  if (committed > next && committed !== stored.acceptedCommitted)
    return stopped(
      'restored',
      `Kafka knows that we had come to ${committed}, but our database is at ${next}: it is an older one`,
    );
  return { kind: 'continues', next };
}

const RUNBOOK = 'docs/runbooks/partition-stopped.md';

function remedyOf(misfit: Misfit, { group, bounds, partitions }: Standing): string {
  const realign = (to: string) => `pesewa realign ${group} ${bounds.topic} ${bounds.partition} --to ${to}`;
  switch (misfit) {
    case 'added':
      return `deploy the version that gives the topic more partitions; this one writes to the first ${partitions} alone (${RUNBOOK})`;
    case 'restored':
      return `${realign('stored')}, once the other databases were looked at (${RUNBOOK})`;
    case 'lost':
    case 'recreated':
    case 'end gone':
      return `${realign('start')} applies again what Kafka has, once what happened is known (${RUNBOOK})`;
    case 'start gone':
    case 'unknown start':
      return `${realign('start')}, once what is missing was made good or is known not to matter (${RUNBOOK})`;
  }
}
