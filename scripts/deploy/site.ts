/**
 * What the hub meets in a cluster and does not bring along. A platform that has other names changes them here, or patches
 * them in an overlay.
 */
export const site = {
  /** Where images are pulled from; each overlay says which. */
  imageRegistry: 'ghcr.io/pesewa',
  /** The Secret of the namespace with which images of ours are pulled, put there by the platform; none where all may pull them. */
  imagePullSecret: undefined as string | undefined,
  /** The image with `mongodump`, `mongorestore`, `mongosh` and `mongod`. */
  mongodbToolsImage: 'docker.io/library/mongo',
  /** The store that secrets are read from, and the folder of them that is ours. */
  secretStore: 'pesewa',
  secretFolder: 'pesewa',
  /** Who signs the certificates that merchants and rails see. */
  publicIssuer: 'letsencrypt',
  gatewayClass: 'pesewa',
  /** The namespaces of what reaches into ours. */
  gatewayNamespace: 'gateway-system',
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

/** The Kafka of the hub, as Strimzi names its parts. */
export const kafka = {
  cluster: 'pesewa',
  bootstrap: 'pesewa-kafka-bootstrap',
  port: 9093,
  caSecret: 'pesewa-cluster-ca-cert',
  /** What the user operator puts before the name of a user's Secret. */
  userSecretPrefix: 'kafka-user-',
  replicas: 3,
  inSyncMin: 2,
} as const;

/** The MongoDB of the hub, as its operator names its parts. */
export const mongodb = {
  /** Of the servers, and of the image with the tools. */
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
/** The file of the authority that signs MongoDB's certificates: the driver wants a path. */
export const MONGODB_CA_FILE = 'mongodb-ca.crt';

/** The addresses of MongoDB's members. */
export const mongodbHosts = (namespace: string): readonly string[] =>
  Array.from(
    { length: mongodb.members },
    (_, index) => `${mongodb.name}-${index}.${mongodb.service}.${namespace}.svc.cluster.local`,
  );
