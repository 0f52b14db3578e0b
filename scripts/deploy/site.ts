/**
 * What the hub expects of a cluster and does not install itself. A platform with other names changes them here, or
 * patches them in an overlay.
 */
export const site = {
  /** Where images are pulled from; each overlay sets it. */
  imageRegistry: 'ghcr.io/pesewa',
  /**
   * The Secret in the namespace by which our images are pulled, provided by the platform; undefined if anybody may pull
   * them.
   */
  imagePullSecret: undefined as string | undefined,
  /** The image with `mongodump`, `mongorestore`, `mongosh` and `mongod`. */
  mongodbToolsImage: 'docker.io/library/mongo',
  /** The store that secrets are read from, and our folder in it. */
  secretStore: 'pesewa',
  secretFolder: 'pesewa',
  /** The issuer of the certificates that merchants and rails see. */
  publicIssuer: 'letsencrypt',
  gatewayClass: 'pesewa',
  /** The class of the console's Gateway: its load balancer has no public address. */
  internalGatewayClass: 'pesewa-internal',
  /** The namespaces of components that connect to ours. */
  gatewayNamespace: 'gateway-system',
  internalGatewayNamespace: 'gateway-internal',
  monitoringNamespace: 'monitoring',
  kedaNamespace: 'keda',
  /** The registry has the Confluent API, TLS and users; the hub does not run it (ADR 47). */
  schemaRegistry: {
    url: 'https://schema-registry.schema-registry.svc.cluster.local:8081',
    namespace: 'schema-registry',
    port: 8081,
  },
  storageClass: 'pesewa-ssd',
} as const;

/** The hub's Kafka, with the names that Strimzi gives its parts. */
export const kafka = {
  cluster: 'pesewa',
  bootstrap: 'pesewa-kafka-bootstrap',
  port: 9093,
  caSecret: 'pesewa-cluster-ca-cert',
  /** The user operator's prefix for the Secret of a user. */
  userSecretPrefix: 'kafka-user-',
  replicas: 3,
  inSyncMin: 2,
} as const;

/** The hub's MongoDB, with the names that its operator gives its parts. */
export const mongodb = {
  /** The version of the servers, and of the image with the tools. */
  version: '8.0.12',
  name: 'pesewa-mongodb',
  replicaSet: 'pesewa-mongodb',
  service: 'pesewa-mongodb-svc',
  members: 3,
  port: 27_017,
  tlsSecret: 'mongodb-tls',
} as const;

/** Where a container finds its secrets, one file for each setting. */
export const SECRETS_DIRECTORY = '/etc/pesewa';
/** The file of the authority that signs MongoDB's certificates; the driver needs a path. */
export const MONGODB_CA_FILE = 'mongodb-ca.crt';

/** The addresses of MongoDB's members. */
export const mongodbHosts = (namespace: string): readonly string[] =>
  Array.from(
    { length: mongodb.members },
    (_, index) => `${mongodb.name}-${index}.${mongodb.service}.${namespace}.svc.cluster.local`,
  );
