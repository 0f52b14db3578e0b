import { type Clock, withDeadline } from '@pesewa/kernel';
import { Gauge, type Registry } from 'prom-client';
import type { Outbox } from './outbox-record.ts';

const READ_TIMEOUT_MS = 1_000;

/**
 * Registers the gauge `outbox_oldest_record_age_seconds`: how long the service's oldest outbox record has waited for Kafka,
 * read at each scrape; 0 if none waits, NaN if the database does not answer.
 */
export function gaugeOldestOutboxRecord(options: {
  readonly outbox: Outbox;
  readonly registry: Registry;
  readonly clock: Clock;
}): void {
  const { outbox, registry, clock } = options;
  const gauge: Gauge = new Gauge({
    name: 'outbox_oldest_record_age_seconds',
    help: 'Age of the oldest outbox record of events that waits for Kafka.',
    registers: [registry],
    collect: async () => {
      gauge.set(
        await withDeadline(ageSeconds(outbox, clock), READ_TIMEOUT_MS, clock).catch(() => Number.NaN),
      );
    },
  });
}

async function ageSeconds(outbox: Outbox, clock: Pick<Clock, 'nowMs'>): Promise<number> {
  // The natural order is nearly that of insertion. An index for this one number would slow down every commit.
  const oldest = await outbox.findOne(
    {},
    { sort: { $natural: 1 }, projection: { createdAt: 1 }, maxTimeMS: READ_TIMEOUT_MS },
  );
  return oldest === null ? 0 : Math.max(0, clock.nowMs() - oldest.createdAt.getTime()) / 1_000;
}
