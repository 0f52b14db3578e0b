export { createSupervisor, holdPorts } from '@pesewa/infrastructure';
export { createCertificateAuthority } from './certificates.ts';
export { openBreakableDaemons, openTestSecuredKafka } from './daemons.ts';
export { eventually } from './eventually.ts';
export { ignoringAll } from './ignoring-all.ts';
export { payoutsOnly } from './payouts-only.ts';
export { openPayoutsOnlyRail } from './payouts-only-rail.ts';
export { createQuickClock } from './quick-clock.ts';
export { encodeRecordBody } from './record-encoder.ts';
export {
  createTestKafka,
  openTestScope,
  prepareTestNames,
  type TestConfig,
  type TestScope,
} from './scope.ts';
export { specify } from './specification.ts';
export { openStallableProxy } from './stallable-proxy.ts';
export { createTopicReader, type ReadMessage, type TopicReader, topicNameOf } from './topics.ts';
