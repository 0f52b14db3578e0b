export { eventually } from './eventually.ts';
export {
  createTestKafka,
  openTestScope,
  prepareTestNames,
  type TestConfig,
  type TestScope,
} from './scope.ts';
export { specify } from './specification.ts';
export { openStallableWay } from './stallable-way.ts';
export { createTopicReader, type ReadMessage, type TopicReader, topicNameOf } from './topics.ts';
