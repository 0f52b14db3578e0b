import { type MessagingService, services } from '@pesewa/contracts';
import {
  checkKafkaAccess,
  checkTopics,
  createKafka,
  createTopics,
  describeTopics,
  type KafkaSettings,
  kafkaConnection,
  REPLICAS_MIN,
} from '@pesewa/kafka';
import { systemClock } from '@pesewa/kernel';
import type { RecoverOptions, ServiceScope } from '@pesewa/runtime';
import { openDatabase } from './database/mongo.ts';
import { type CollectionSchema, databaseSchemaOf, ensureDatabaseSchema } from './database/schema.ts';
import type { MessagingConfig } from './messaging.ts';
import { type Recovery, recoverDatabase } from './operators/recovery.ts';
import { registerSchemas } from './schemas/codec.ts';
import { type RegistrySettings, registryConnection } from './schemas/registry.ts';

/**
 * Builds what a service does instead of running, by the argument: `prepare` creates the declared collections in its
 * database; `recover` repairs the database after a restore, then lets its partitions go on. Each gives a line that
 * reports it.
 */
export function databaseTasks(
  service: MessagingService,
  own: readonly CollectionSchema[],
  repair: (recovery: Recovery) => Promise<void> = async () => undefined,
) {
  return {
    prepare: async (config: {
      readonly MONGODB_URL: string;
      readonly DATABASE_PREFIX: string;
    }): Promise<string> => {
      const declared = databaseSchemaOf(own);
      const database = `${config.DATABASE_PREFIX}${services[service].messaging.database}`;
      await using opened = await openDatabase({
        url: config.MONGODB_URL,
        database,
        appName: 'pesewa-prepare',
      });
      await ensureDatabaseSchema(opened.db, declared);
      const indexes = declared.flatMap((one) => one.indexes ?? []);
      return `the database ${database} is prepared: ${declared.length} collections, ${indexes.length} indexes`;
    },
    recover: (scope: ServiceScope<MessagingConfig>, options: RecoverOptions) =>
      recoverDatabase(scope, { service, databaseSchema: own, ...options }, repair),
  };
}

/**
 * Creates the topics and registers the schemas that services look up when they start. For production it also checks the
 * topics as the services do: rejects with all problems found, one line each.
 */
export async function prepareTopics(options: {
  /** The settings to reach Kafka and the schema registry. */
  readonly settings: KafkaSettings & RegistrySettings;
  readonly topicPrefix: string;
  readonly isProduction?: boolean;
  readonly log: (line: string) => void;
}): Promise<void> {
  const { settings, topicPrefix, isProduction = false, log } = options;
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
    createTopics({
      kafka,
      brokers: settings.KAFKA_BROKERS.length,
      topicPrefix,
      replicasMin: isProduction ? REPLICAS_MIN : 1,
    }),
    registerSchemas({ ...registryConnection(settings), topicPrefix }),
  ]);
  log(`${topics.created.length} topics created, ${schemas} schemas registered`);
  if (!isProduction) return;
  const { problems, unchecked } = checkTopics(topics.all, await describeTopics(kafka, topics.all));
  for (const line of unchecked) log(line);
  if (problems.length > 0)
    throw new Error(problems.map(({ message, remedy }) => `${message}: ${remedy}`).join('\n'));
}
