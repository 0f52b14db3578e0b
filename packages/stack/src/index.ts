export { exchange, postJson, ServerError } from './clients/http.ts';
export {
  batchBody,
  type CollectionRequest,
  collectionBody,
  createMerchantClient,
  type MerchantClient,
  type PayoutRequest,
  payinHeaders,
  payoutBody,
} from './clients/merchant.ts';
export type { OperatorClient } from './clients/operator.ts';
export type { SimulatorClient } from './clients/simulator.ts';
export { runDemo } from './demo/demo.ts';
export { runDemoOnRunning } from './demo/running.ts';
export { type CertificateAuthority, createCertificateAuthority } from './infrastructure/certificates.ts';
export {
  type Child,
  type ChildExit,
  type ChildOptions,
  createSupervisor,
  type Supervisor,
} from './infrastructure/children.ts';
export { type Cluster, openCluster } from './infrastructure/cluster.ts';
export type { Node } from './infrastructure/daemon.ts';
export { imageName } from './infrastructure/docker.ts';
export type { Addresses } from './infrastructure/environment.ts';
export { messageOf, StackError } from './infrastructure/errors.ts';
export { kafkaEnvironment, kafkaSettings } from './infrastructure/kafka.ts';
export { type HeldPort, holdPort, holdPorts } from './infrastructure/ports.ts';
export {
  type Infrastructure,
  type InfrastructureOptions,
  openInfrastructure,
  type Provider,
} from './infrastructure/resolve.ts';
export { openSecuredKafka, type SecuredKafka } from './infrastructure/secured-kafka.ts';
export { waitForDaemon, waitUntil } from './infrastructure/wait.ts';
export { plainSettings } from './services/plain-settings.ts';
export { createRunFileWriter, type RunFile } from './services/run-file.ts';
export type { SeededMerchant } from './services/seed.ts';
export { serviceEnvironment } from './services/settings.ts';
export { openService, type SingleService } from './services/single.ts';
export { openStack, type Replica, type Stack, type StackOptions } from './services/stack.ts';
