import { Partitioners, type PartitionMetadata } from './kafkajs.ts';

const KEYS_REMEMBERED_MAX = 50_000;

/** Assigns a key to one of a topic's partitions. */
export type Partitioner = (topic: string, key: string, partitions: number) => number;

/** Kafka's own key partitioning with a cache by key, so that a wallet's key is hashed once and not per event. */
export function createPartitioner(): Partitioner {
  const choose = Partitioners.DefaultPartitioner();
  const remembered = new Map<number, Map<string, number>>();
  return (topic, key, partitions) => {
    const byKey = remembered.get(partitions) ?? new Map<string, number>();
    if (byKey.size === 0 || byKey.size > KEYS_REMEMBERED_MAX) {
      byKey.clear();
      remembered.set(partitions, byKey);
    }
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const chosen = choose({
      topic,
      partitionMetadata: metadataOf(partitions),
      message: { key, value: null },
    });
    byKey.set(key, chosen);
    return chosen;
  };
}

/** Metadata with this number of partitions, of which the partitioner needs nothing else. */
function metadataOf(partitions: number): PartitionMetadata[] {
  return Array.from({ length: partitions }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: 0,
    replicas: [],
    isr: [],
  }));
}
