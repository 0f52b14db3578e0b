// First: what it patches must be patched before kafkajs is loaded. Everything else takes kafkajs from here.
import './kafkajs-patches.ts';
import kafkajs from 'kafkajs';

export {
  type Admin,
  type AuthenticationProviderArgs,
  type Authenticator,
  type Consumer,
  type EachBatchPayload,
  Kafka,
  type KafkaConfig,
  type KafkaMessage,
  logLevel,
  PartitionAssigners,
  Partitioners,
  type PartitionMetadata,
} from 'kafkajs';

// Node sees no names of these: kafkajs spreads them into what it exports.
export const { ConfigResourceTypes, KafkaJSConnectionError, KafkaJSNonRetriableError } = kafkajs;
