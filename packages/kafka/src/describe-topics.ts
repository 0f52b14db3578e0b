import { ConfigResourceTypes, type Kafka } from './kafkajs.ts';
import type { FoundTopic } from './topic-checks.ts';

/** The existing topics among these full names; without their settings if the brokers don't let us read them. */
export async function describeTopics(kafka: Kafka, names: readonly string[]): Promise<readonly FoundTopic[]> {
  const admin = kafka.admin();
  await admin.connect();
  try {
    // Asking for metadata of a missing topic by name would create it.
    const existing = new Set(await admin.listTopics());
    const found = names.filter((name) => existing.has(name));
    if (found.length === 0) return [];
    const [{ topics }, settings] = await Promise.all([
      admin.fetchTopicMetadata({ topics: found }),
      readSettings(admin, found),
    ]);
    return topics.map(({ name, partitions }) => ({
      name,
      replicas: Math.min(...partitions.map(({ replicas }) => replicas.length)),
      settings: settings.get(name),
    }));
  } finally {
    await admin.disconnect();
  }
}

const MIN_IN_SYNC = 'min.insync.replicas';
const UNCLEAN = 'unclean.leader.election.enable';

async function readSettings(
  admin: ReturnType<Kafka['admin']>,
  names: readonly string[],
): Promise<ReadonlyMap<string, NonNullable<FoundTopic['settings']>>> {
  try {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: names.map((name) => ({
        type: ConfigResourceTypes.TOPIC,
        name,
        configNames: [MIN_IN_SYNC, UNCLEAN],
      })),
    });
    return new Map(
      resources.map(({ resourceName, configEntries }) => {
        const values = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]));
        const settings = {
          minInSync: Number(values.get(MIN_IN_SYNC)),
          electsUnclean: values.get(UNCLEAN) === 'true',
        };
        return [resourceName, settings] as const;
      }),
    );
  } catch (error) {
    if (isForbidden(error)) return new Map();
    throw error;
  }
}

const forbidden = ['TOPIC_AUTHORIZATION_FAILED', 'CLUSTER_AUTHORIZATION_FAILED'];

function isForbidden(error: unknown): boolean {
  return error instanceof Error && 'type' in error && forbidden.includes(String(error.type));
}
