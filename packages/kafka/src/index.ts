export {
  checkKafkaAccess,
  createGroupMember,
  createKafka,
  createTopics,
  type KafkaOptions,
} from './client.ts';
export { describeTopics } from './describe-topics.ts';
export {
  type Consumer,
  type EachBatchPayload,
  type Kafka,
  type KafkaMessage,
  Partitioners,
} from './kafkajs.ts';
export {
  openPositions,
  type PartitionBounds,
  type Positions,
  type TopicEnd,
  type TopicPartition,
} from './positions.ts';
export { openProducer, type Producer } from './producer.ts';
export { varIntReader, varIntSize, writeText, writeVarInt } from './record-bytes.ts';
export { type KafkaSettings, kafkaConnection } from './security.ts';
export { checkTopics, REPLICAS_MIN, type StartCheckResult, type StartProblem } from './topic-checks.ts';
