import type { TopicName } from './events/topics.ts';

/** A database by its name, without the prefix of an installation. */
export type DatabaseName =
  | 'payouts'
  | 'collections'
  | 'ingress'
  | 'reconciler'
  | 'ledger'
  | 'webhooks'
  | 'directory';

/** What a service stores, and which topics and consumer groups it uses. */
export interface DeclaredMessaging {
  /** Its own database; no other service writes to it. */
  readonly database: DatabaseName;
  /** A database beside its own that it alone writes to. */
  readonly alsoWrites?: DatabaseName;
  /** Other services' databases that it reads. */
  readonly readsDatabases: readonly DatabaseName[];
  readonly produces: readonly TopicName[];
  /** The topics that its consumer group consumes; the group has the service's name. */
  readonly consumes: readonly TopicName[];
  /** Topics that it reads without consuming them, or whose ends it asks for. */
  readonly readsOutsideGroup: readonly TopicName[];
  /** Other services' consumer groups whose progress it asks Kafka for. */
  readonly asksProgressOf: readonly string[];
}

/** What the rest of the installation must know about a service. */
export interface Service {
  /** The default port of its public API, even if that is not open; the operations port is the next one. */
  readonly port: number;
  readonly operationsPort: number;
  /** Whether it opens its public port; the others only serve operators. */
  readonly isPublic: boolean;
  /** Absent if it uses neither MongoDB nor Kafka. */
  readonly messaging?: DeclaredMessaging;
  /** What it calls outside the installation. */
  readonly callsOutside: 'rails' | 'webhooks' | 'nothing';
  /** The services whose public API it calls. */
  readonly calls: readonly string[];
}

/** Every service, in the order in which they are started; code, manifests and documents are derived from this. */
export const services = {
  'provider-simulator': {
    port: 4070,
    operationsPort: 4071,
    isPublic: true,
    callsOutside: 'nothing',
    calls: ['webhook-ingress'],
  },
  ledger: {
    port: 4050,
    operationsPort: 4051,
    isPublic: false,
    messaging: {
      database: 'ledger',
      alsoWrites: 'directory',
      readsDatabases: [],
      produces: ['ledger', 'wallets', 'ledgerCommands'],
      consumes: ['payouts', 'collections', 'ledgerCommands'],
      readsOutsideGroup: ['ledger'],
      asksProgressOf: [],
    },
    callsOutside: 'nothing',
    calls: [],
  },
  'payout-gateway': {
    port: 4010,
    operationsPort: 4011,
    isPublic: true,
    messaging: {
      database: 'payouts',
      readsDatabases: ['directory', 'ledger', 'collections'],
      produces: ['payouts', 'railAvailability'],
      consumes: ['ledger', 'payoutFacts', 'wallets'],
      readsOutsideGroup: ['payouts'],
      asksProgressOf: [],
    },
    callsOutside: 'rails',
    calls: [],
  },
  'collection-gateway': {
    port: 4020,
    operationsPort: 4021,
    isPublic: true,
    messaging: {
      database: 'collections',
      readsDatabases: ['directory'],
      produces: ['collections', 'railAvailability'],
      consumes: ['collectionFacts'],
      readsOutsideGroup: [],
      asksProgressOf: [],
    },
    callsOutside: 'rails',
    calls: [],
  },
  'webhook-ingress': {
    port: 4030,
    operationsPort: 4031,
    isPublic: true,
    messaging: {
      database: 'ingress',
      readsDatabases: [],
      produces: ['railCallbacks'],
      consumes: [],
      readsOutsideGroup: [],
      asksProgressOf: [],
    },
    callsOutside: 'nothing',
    calls: [],
  },
  'webhook-dispatcher': {
    port: 4060,
    operationsPort: 4061,
    isPublic: false,
    messaging: {
      database: 'webhooks',
      readsDatabases: ['directory'],
      produces: ['webhooks'],
      consumes: ['payouts', 'collections'],
      readsOutsideGroup: [],
      asksProgressOf: [],
    },
    callsOutside: 'webhooks',
    calls: [],
  },
  reconciler: {
    port: 4040,
    operationsPort: 4041,
    isPublic: false,
    messaging: {
      database: 'reconciler',
      readsDatabases: ['payouts', 'collections', 'ingress', 'ledger', 'webhooks'],
      produces: ['payoutFacts', 'collectionFacts', 'reconciliation'],
      consumes: ['payouts', 'collections', 'ledger', 'railCallbacks'],
      readsOutsideGroup: [],
      asksProgressOf: ['ledger', 'payout-gateway', 'collection-gateway', 'webhook-dispatcher'],
    },
    callsOutside: 'rails',
    calls: [],
  },
  console: {
    port: 4080,
    operationsPort: 4081,
    isPublic: true,
    callsOutside: 'nothing',
    calls: [],
  },
} as const satisfies Readonly<Record<string, Service>>;

/** The name of a service. */
export type ServiceName = keyof typeof services;

/** A service that stands between MongoDB and Kafka. */
export type MessagingService = {
  [Name in ServiceName]: (typeof services)[Name] extends { readonly messaging: DeclaredMessaging }
    ? Name
    : never;
}[ServiceName];

/** The names of all services, in the order in which they are started. */
export const serviceNames = Object.keys(services) as readonly ServiceName[];

const messagingOf = (name: ServiceName): DeclaredMessaging | undefined =>
  (services[name] as Service).messaging;

/** The services that use MongoDB and Kafka, in the order in which they are started. */
export const messagingServices = serviceNames.filter(
  (name): name is MessagingService => messagingOf(name) !== undefined,
);

/** A service that consumes topics: its consumer group, which has its name. */
export type ConsumerGroup = {
  [Name in MessagingService]: (typeof services)[Name]['messaging']['consumes'] extends readonly []
    ? never
    : Name;
}[MessagingService];

/** The consumer groups, in the order in which their services are started. */
export const consumerGroups = messagingServices.filter(
  (name): name is ConsumerGroup => services[name].messaging.consumes.length > 0,
);
