/** A service of Pesewa as the stack runs it. */
export interface ServiceEntry {
  readonly name: ServiceName;
  /** Its public port on a developer's machine; the operations port is the next one (design 1). */
  readonly port: number;
  /** Whether it stands between MongoDB and Kafka, and so has a consumer group or an outbox. */
  readonly messaging: boolean;
}

/** The names of all services, in the order they are started. */
export const serviceNames = [
  'provider-simulator',
  'ledger',
  'payout-gateway',
  'collection-gateway',
  'webhook-ingress',
  'webhook-dispatcher',
  'reconciler',
] as const;

/** The name of a service. */
export type ServiceName = (typeof serviceNames)[number];

const ports: Readonly<Record<ServiceName, number>> = {
  'payout-gateway': 4010,
  'collection-gateway': 4020,
  'webhook-ingress': 4030,
  reconciler: 4040,
  ledger: 4050,
  'webhook-dispatcher': 4060,
  'provider-simulator': 4070,
};

/** Every service with its ports. */
export const catalog: readonly ServiceEntry[] = serviceNames.map((name) => ({
  name,
  port: ports[name],
  messaging: name !== 'provider-simulator',
}));

/** The consumer groups, each named as its service; their parked topics exist from the start. */
export const consumerGroups: readonly string[] = catalog
  .filter(({ messaging }) => messaging)
  .map(({ name }) => name);
