export { createSupervisor, reservePorts } from '@pesewa/infrastructure';
export { asOperator } from './as-operator.ts';
export { createAutoAdvancingClock } from './auto-advancing-clock.ts';
export { createCertificateAuthority } from './certificates.ts';
export { openBreakableDaemons, openTestSecuredKafka } from './daemons.ts';
export { eventually, waitAsLongAs } from './eventually.ts';
export { ignoreAllEvents } from './ignore-all-events.ts';
export { createIssuerKey, openIssuer } from './issuer.ts';
export { payoutsOnly } from './payouts-only.ts';
export { openPayoutsOnlyRail } from './payouts-only-rail.ts';
export { encodeRecordBody } from './record-encoder.ts';
export {
  createTestKafka,
  openTestScope,
  prepareTestEnvironment,
  type TestConfig,
  type TestScope,
} from './scope.ts';
export { specify } from './specification.ts';
export { openStallableProxy } from './stallable-proxy.ts';
export { createTopicReader, type ReadMessage, type TopicReader, topicNameOf } from './topics.ts';
