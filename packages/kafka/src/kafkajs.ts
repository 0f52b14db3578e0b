// This import comes first, because it patches kafkajs before kafkajs is loaded. All other code imports kafkajs from
// here.
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

// Node can't detect these names as exports, because kafkajs spreads them into its module.
export const { ConfigResourceTypes, KafkaJSConnectionError, KafkaJSNonRetriableError } = kafkajs;
