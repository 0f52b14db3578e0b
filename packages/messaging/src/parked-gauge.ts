import { type Clock, withDeadline } from '@pesewa/kernel';
import { Gauge, type Registry } from 'prom-client';
import type { ParkedStore } from './parked-store.ts';

const READ_TIMEOUT_MS = 1_000;

/**
 * Registers the gauge `messages_parked`: how many parked messages of each topic wait for an operator, read at each
 * scrape; no value if the database does not answer.
 */
export function gaugeParked(options: {
  readonly store: Pick<ParkedStore, 'countWaiting'>;
  readonly topicNames: readonly string[];
  readonly registry: Registry;
  readonly clock: Clock;
}): void {
  const { store, topicNames, registry, clock } = options;
  const gauge: Gauge<'topic'> = new Gauge({
    name: 'messages_parked',
    help: 'Messages that could not be applied and wait for an operator, by topic.',
    labelNames: ['topic'],
    registers: [registry],
    collect: async () => {
      gauge.reset();
      const counted = withDeadline(store.countWaiting(READ_TIMEOUT_MS), READ_TIMEOUT_MS, clock);
      const counts = await counted.catch(() => undefined);
      if (counts) for (const topic of topicNames) gauge.set({ topic }, counts.get(topic) ?? 0);
    },
  });
}
