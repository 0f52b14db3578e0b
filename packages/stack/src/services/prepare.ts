import { consumerGroups } from '@pesewa/contracts';
import {
  checkKafkaAccess,
  createKafka,
  createTopics,
  type KafkaSettings,
  kafkaConnection,
} from '@pesewa/kafka';
import { systemClock } from '@pesewa/kernel';
import { type RegistrySettings, registerSchemas, registryConnection } from '@pesewa/messaging';
import type { Addresses } from '../infrastructure/environment.ts';

/** How Kafka and the schema registry are reached. */
export type PrepareSettings = KafkaSettings & RegistrySettings;

/** The settings of infrastructure that knows neither TLS nor credentials. */
export function plainSettings({ KAFKA_BROKERS, SCHEMA_REGISTRY_URL }: Addresses): PrepareSettings {
  return { KAFKA_BROKERS: KAFKA_BROKERS.split(','), SCHEMA_REGISTRY_URL };
}

/** Creates the topics and registers the schemas that the services look up when they start. */
export async function prepareTopics(options: {
  readonly settings: PrepareSettings;
  readonly topicPrefix: string;
  readonly log: (line: string) => void;
}): Promise<void> {
  const { settings, topicPrefix, log } = options;
  const connection = kafkaConnection(settings, systemClock);
  await checkKafkaAccess(connection);
  const kafka = createKafka({
    ...connection,
    clientId: 'pesewa-prepare',
    log: (level, message) => {
      if (level === 'error') log(`kafka: ${message}`);
    },
  });
  const [topics, schemas] = await Promise.all([
    createTopics({ kafka, brokers: settings.KAFKA_BROKERS.length, topicPrefix, consumerGroups }),
    registerSchemas({ ...registryConnection(settings), topicPrefix, consumerGroups }),
  ]);
  log(`${topics.length} topics created, ${schemas} schemas registered`);
}
