export { type CertificateAuthority, createCertificateAuthority } from './certificates.ts';
export {
  type Child,
  type ChildExit,
  type ChildOptions,
  createSupervisor,
  type Supervisor,
} from './children.ts';
export { type Cluster, openCluster } from './cluster.ts';
export type { Node } from './daemon.ts';
export { imageName } from './docker.ts';
export { type Addresses, plainSettings } from './environment.ts';
export { messageOf, StartError } from './errors.ts';
export { kafkaEnvironment, kafkaSettings } from './kafka.ts';
export { type HeldPort, holdPort, holdPorts } from './ports.ts';
export {
  type Infrastructure,
  type InfrastructureOptions,
  openInfrastructure,
  type Provider,
} from './resolve.ts';
export { openSecuredKafka, type SecuredKafka } from './secured-kafka.ts';
export { waitForDaemon, waitUntil } from './wait.ts';
