import type { TopicPartition } from '@pesewa/kafka';
import type { Health, Logger } from '@pesewa/runtime';
import { Gauge, type Registry } from 'prom-client';

/** The partitions that are stopped until people let them go on. */
export type StoppedPartitions = ReturnType<typeof showStoppedPartitions>;

/** Shows the stopped partitions of a group: by a log line for each, a detail of readiness, and a metric. */
export function showStoppedPartitions(options: {
  readonly group: string;
  readonly health: Health;
  readonly metrics: Registry;
  readonly logger: Logger;
}) {
  const stopped = new Map<string, PartitionStoppedError>();
  // A stopped partition is checked at intervals and after each rebalance; the same reason is logged once.
  const loggedReasons = new Map<string, string>();
  const gauge = new Gauge({
    name: 'consumer_partitions_stopped',
    help: 'Partitions that are stopped until an operator realigns them, by topic.',
    labelNames: ['topic'],
    registers: [options.metrics],
  });
  options.health.addDetail(`partitions of ${options.group}`, () =>
    stopped.size === 0
      ? undefined
      : [...stopped].map(([id, { reason, remedy }]) => `${id}: ${reason}; ${remedy}`).join(' · '),
  );
  const count = (topic: string) =>
    gauge.set({ topic }, [...stopped.keys()].filter((id) => id.startsWith(`${topic}/`)).length);
  return {
    add: ({ topic, partition }: TopicPartition, error: PartitionStoppedError) => {
      const id = `${topic}/${partition}`;
      const { reason, remedy } = error;
      stopped.set(id, error);
      count(topic);
      if (loggedReasons.get(id) === reason) return;
      loggedReasons.set(id, reason);
      options.logger.error({ topic, partition, reason, remedy }, 'a partition is stopped');
    },
    /** Reports that it goes on, if it was stopped. */
    delete: ({ topic, partition }: TopicPartition) => {
      const id = `${topic}/${partition}`;
      if (stopped.delete(id)) count(topic);
      if (loggedReasons.delete(id))
        options.logger.info({ topic, partition }, 'a stopped partition continues');
    },
    /** The partition may have another owner now, and is still stopped there: nothing is reported. */
    release: ({ topic, partition }: TopicPartition) => {
      if (stopped.delete(`${topic}/${partition}`)) count(topic);
    },
  };
}

/** A partition stopped until people act: its position does not move, and nothing from this offset on is applied. */
export class PartitionStoppedError extends Error {
  override readonly name = 'PartitionStoppedError';
  /** What is wrong, with the names needed to find it. */
  readonly reason: string;
  /** What to do about it. */
  readonly remedy: string;

  constructor(reason: string, remedy: string) {
    super(`${reason}; ${remedy}`);
    this.reason = reason;
    this.remedy = remedy;
  }
}
