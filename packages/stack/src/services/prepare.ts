import { createKafka, createTopics, registerSchemas } from '@pesewa/messaging';
import type { Addresses } from '../infrastructure/environment.ts';
import { consumerGroups } from './catalog.ts';

/** Creates the topics and registers the schemas that the services look up when they start. */
export async function prepareTopics(options: {
  readonly addresses: Addresses;
  readonly topicPrefix: string;
  readonly log: (line: string) => void;
}): Promise<void> {
  const { addresses, topicPrefix, log } = options;
  const kafka = createKafka({
    brokers: addresses.KAFKA_BROKERS.split(','),
    clientId: 'pesewa-prepare',
    log: (level, message) => {
      if (level === 'error') log(`kafka: ${message}`);
    },
  });
  const [topics, schemas] = await Promise.all([
    createTopics({ kafka, topicPrefix, consumerGroups }),
    registerSchemas({ registryUrl: addresses.SCHEMA_REGISTRY_URL, topicPrefix, consumerGroups }),
  ]);
  log(`${topics.length} topics created, ${schemas} schemas registered`);
}
