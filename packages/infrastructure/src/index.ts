export {
  type Child,
  type ChildExit,
  type ChildOptions,
  createSupervisor,
  type Supervisor,
} from './children.ts';
export { openClassArchive } from './class-archive.ts';
export type { Node } from './daemon.ts';
export { imageName } from './docker.ts';
export type { Cache } from './download.ts';
export { type Addresses, plainSettings } from './environment.ts';
export { messageOf, StartError } from './errors.ts';
export type { Infrastructure, InfrastructureOptions, Provider } from './infrastructure.ts';
export { ensureJava, type Java } from './java.ts';
export { ensureKafka, kafkaEnvironment, kafkaSettings } from './kafka.ts';
export { type Cluster, openCluster } from './local.ts';
export {
  type ReservedPort,
  reservePort,
  reservePorts,
} from './ports.ts';
export { probeKafka } from './probes.ts';
export { openInfrastructure } from './resolve.ts';
export { errorLine, runTool } from './tools.ts';
export { lastFault, startProbeTimeoutMs, waitForDaemon, waitUntil } from './wait.ts';
