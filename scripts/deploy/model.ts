import {
  type MessagingService,
  messagingServices,
  type Service,
  type ServiceName,
  serviceNames,
  services,
  topics,
} from '@pesewa/contracts';
import { END_TIMEOUT_MS } from '@pesewa/runtime';

/** The resources of one container of a service. */
export interface Size {
  readonly cpu: string;
  readonly memoryMi: number;
  readonly ephemeralMi: number;
}

/** How many replicas a service has, and what they are scaled by. */
export interface Scale {
  readonly by: 'cpu' | 'lag';
  readonly min: number;
  readonly max: number;
  /** The number of waiting messages per replica that adds another one. */
  readonly lagThreshold?: number;
}

/** A service that every installation runs; only developers have the simulator. */
export type DeployedService = Exclude<ServiceName, 'provider-simulator'>;

/** The services that every installation runs, in the order in which they are started. */
export const deployedServices = serviceNames.filter(
  (name): name is DeployedService => name !== 'provider-simulator',
);

/** How a service is run. */
export interface Deployed {
  readonly size: Size;
  readonly scale: Scale;
}

/** A topic has no more consumers than partitions. */
const partitionsOf = (name: MessagingService): number =>
  Math.min(...services[name].messaging.consumes.map((topic) => topics[topic].partitions));

const byLag = (name: MessagingService, lagThreshold: number): Scale => ({
  by: 'lag',
  min: 2,
  max: partitionsOf(name),
  lagThreshold,
});

/** How each service is run; scaled by lag if it works on messages, by CPU if it serves requests. */
export const deployed: Readonly<Record<DeployedService, Deployed>> = {
  ledger: {
    size: { cpu: '500m', memoryMi: 1_024, ephemeralMi: 256 },
    scale: byLag('ledger', 2_000),
  },
  'payout-gateway': {
    size: { cpu: '500m', memoryMi: 1_024, ephemeralMi: 256 },
    scale: { by: 'cpu', min: 3, max: 8 },
  },
  'collection-gateway': {
    size: { cpu: '500m', memoryMi: 1_024, ephemeralMi: 256 },
    scale: { by: 'cpu', min: 3, max: 8 },
  },
  'webhook-ingress': {
    size: { cpu: '250m', memoryMi: 768, ephemeralMi: 256 },
    scale: { by: 'cpu', min: 3, max: 8 },
  },
  'webhook-dispatcher': {
    size: { cpu: '250m', memoryMi: 768, ephemeralMi: 256 },
    scale: byLag('webhook-dispatcher', 500),
  },
  reconciler: {
    size: { cpu: '500m', memoryMi: 1_024, ephemeralMi: 256 },
    scale: byLag('reconciler', 1_000),
  },
  console: {
    size: { cpu: '100m', memoryMi: 512, ephemeralMi: 128 },
    scale: { by: 'cpu', min: 2, max: 4 },
  },
};

/** The size of what prepares an installation, and of the simulator. */
export const smallSize: Size = { cpu: '100m', memoryMi: 512, ephemeralMi: 128 };

/** How long before its process closes a Pod is removed from its Services. */
const PRE_STOP_SECONDS = 8;
/** The reserve at the end of a Pod's grace period. */
const SPARE_SECONDS = 12;

/** The seconds of a Pod's end: Services stop routing to it first, then the process closes, and a reserve remains. */
export const ending = {
  preStopSeconds: PRE_STOP_SECONDS,
  graceSeconds: PRE_STOP_SECONDS + END_TIMEOUT_MS / 1_000 + SPARE_SECONDS,
} as const;

/** The part of the memory limit that old space gets; the rest is for young space, code and buffers. */
const OLD_SPACE_SHARE = 0.75;

/** The options of Node for a memory limit. */
export const nodeOptions = ({ memoryMi }: Size): string =>
  `--max-semi-space-size=32 --max-old-space-size=${Math.floor(memoryMi * OLD_SPACE_SHARE)}`;

/** The variables with the addresses of the operator APIs. */
export const operatorApis = (): Readonly<Record<string, string>> =>
  Object.fromEntries(
    messagingServices.map((name) => [
      `${name.toUpperCase().replaceAll('-', '_')}_URL`,
      `http://${name}:${services[name].operationsPort}`,
    ]),
  );

/** A service by its declaration. */
export const serviceOf = (name: string): Service => {
  const service = Object.entries(services).find(([known]) => known === name)?.[1];
  if (!service) throw new Error(`no service ${name}`);
  return service;
};
