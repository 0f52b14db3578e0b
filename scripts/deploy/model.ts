import { type MessagingService, type Service, services, topics } from '@pesewa/contracts';

/** What one container of a service takes. */
export interface Size {
  readonly cpu: string;
  readonly memoryMi: number;
  readonly ephemeralMi: number;
}

/** How many replicas a service has, and what it follows. */
export interface Scale {
  readonly by: 'cpu' | 'lag';
  readonly min: number;
  readonly max: number;
  /** How many waiting messages ask for another replica. */
  readonly lagThreshold?: number;
}

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

/** How each service is run; by lag where messages are its work, by CPU where requests are. */
export const deployed: Readonly<Record<MessagingService, Deployed>> = {
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
};

/** The size of what prepares an installation, and of the simulator. */
export const smallSize: Size = { cpu: '100m', memoryMi: 512, ephemeralMi: 128 };

/** Seconds of a Pod's end: Services forget it first, then the process closes, and something is left over. */
export const ending = {
  preStopSeconds: 8,
  /** What the process itself takes at most: `CLOSE_TIMEOUT_MS` of the runtime. */
  closeSeconds: 25,
  graceSeconds: 60,
} as const;

/** Kept out of old space, as a share of the memory limit: young space, code, buffers. */
const OLD_SPACE_SHARE = 0.75;

/** The options of Node for a memory limit. */
export const nodeOptions = ({ memoryMi }: Size): string =>
  `--max-semi-space-size=32 --max-old-space-size=${Math.floor(memoryMi * OLD_SPACE_SHARE)}`;

/** A service by its declaration. */
export const serviceOf = (name: string): Service => {
  const service = Object.entries(services).find(([known]) => known === name)?.[1];
  if (!service) throw new Error(`no service ${name}`);
  return service;
};
