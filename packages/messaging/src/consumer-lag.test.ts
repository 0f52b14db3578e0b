import type { PartitionBounds } from '@pesewa/kafka';
import { systemClock } from '@pesewa/kernel';
import { Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { gaugeLag } from './consumer-lag.ts';

const bounds = (partition: number, changes: Partial<PartitionBounds> = {}): PartitionBounds => ({
  topic: 'ledger.events.v1',
  partition,
  topicId: 't-1',
  low: 10n,
  high: 100n,
  committed: undefined,
  ...changes,
});

function openGauge(read: (places: readonly unknown[]) => Promise<readonly PartitionBounds[]>) {
  const registry = new Registry();
  const positions = { bounds: (_group: string, places: readonly unknown[]) => read(places) };
  const followed = gaugeLag({ positions, group: 'books', registry, clock: systemClock });
  return { registry, followed };
}

it('adds up what waits in the partitions of this process: from where it goes on, or else from what the group has committed', async () => {
  const all = [
    bounds(0),
    bounds(1, { committed: 95n }),
    bounds(2, { committed: 50n }),
    bounds(3, { committed: 5n }),
  ];
  const { registry, followed } = openGauge(async (places) => all.slice(0, places.length));
  const nexts = [98n, undefined, 100n, undefined];
  for (const [index, place] of all.entries()) followed.follow(place, () => nexts[index]);
  expect(await registry.metrics()).toContain('consumer_lag_messages{topic="ledger.events.v1"} 97');
  for (const place of all) followed.release(place);
  expect(await registry.metrics()).not.toContain('consumer_lag_messages{');
});

it('has no value if Kafka does not answer', async () => {
  const { registry, followed } = openGauge(() => Promise.reject(new Error('away')));
  followed.follow(bounds(0), () => 1n);
  const text = await registry.metrics();
  expect(text).toContain('# TYPE consumer_lag_messages gauge');
  expect(text).not.toContain('consumer_lag_messages{');
});
