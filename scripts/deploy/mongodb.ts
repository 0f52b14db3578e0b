import {
  type DeclaredMessaging,
  type MessagingService,
  messagingServices,
  services,
} from '@pesewa/contracts';
import { type Manifest, manifest, NAMESPACE } from './objects.ts';
import { containerSecurity, podSecurity, spreadOver } from './pods.ts';
import { mongodb, mongodbHosts, site } from './site.ts';
import { priorities } from './workloads.ts';

const part = { component: 'platform', of: 'mongodb' } as const;
/** The user and the account that the operator's images expect. */
const MONGODB_USER = 2_000;
const DATABASE_ACCOUNT = 'mongodb-database';
/** The right to what services read from a server at their start, in addition to their data. */
const START_CHECKS = 'startChecks';
/**
 * The lifetime of transactions, after which those of a killed process end; they may live ten seconds at most.
 */
const TRANSACTION_SECONDS = 10;

interface Role {
  readonly name: string;
  readonly db: string;
}

/** Users of MongoDB that are no services: for preparing, for backups, and for people at the command line. */
export const mongodbUsers = { prepare: 'prepare', backup: 'backup', operators: 'operators' } as const;

/**
 * The roles of a service: it writes to its own database and to the one that is declared, reads those that it is declared
 * to read, and reads a server setting.
 */
function rolesOf(name: MessagingService): readonly Role[] {
  const { database, alsoWrites, readsDatabases }: DeclaredMessaging = services[name].messaging;
  return [
    { name: 'readWrite', db: database },
    ...(alsoWrites ? [{ name: 'readWrite', db: alsoWrites }] : []),
    ...readsDatabases.map((db) => ({ name: 'read', db })),
    { name: START_CHECKS, db: 'admin' },
  ];
}

/** The roles of preparing: it creates collections and indexes in every database, and reads no records. */
const prepareRoles = (): readonly Role[] => [
  { name: 'readWrite', db: 'directory' },
  ...messagingServices.map((name) => ({ name: 'dbAdmin', db: services[name].messaging.database })),
];

/** The roles of people: they read what services have written, to audit it, and write nothing. */
const operatorRoles = (): readonly Role[] => [
  { name: 'read', db: 'directory' },
  ...messagingServices.map((name) => ({ name: 'read', db: services[name].messaging.database })),
];

/** The right to read settings of the server, which is not part of any database's roles. */
const startChecks = {
  role: START_CHECKS,
  db: 'admin',
  privileges: [{ resource: { cluster: true }, actions: ['getParameter'] }],
  roles: [],
};

const user = (name: string, roles: readonly Role[]) => ({
  name,
  db: 'admin',
  passwordSecretRef: { name: `mongodb-password-${name}`, key: 'password' },
  scramCredentialsSecretName: `mongodb-${name}`,
  roles,
});

const users = () => [
  ...messagingServices.map((name) => user(name, rolesOf(name))),
  user(mongodbUsers.prepare, prepareRoles()),
  user(mongodbUsers.operators, operatorRoles()),
  user(mongodbUsers.backup, [{ name: 'backup', db: 'admin' }]),
];

const container = (name: string, cpu: string, memory: string) => ({
  name,
  resources: {
    requests: { cpu, memory, 'ephemeral-storage': '64Mi' },
    limits: { memory, 'ephemeral-storage': '512Mi' },
  },
  securityContext: containerSecurity,
});

const volume = (name: string, storage: string) => ({
  metadata: { name },
  spec: {
    accessModes: ['ReadWriteOnce'],
    storageClassName: site.storageClass,
    resources: { requests: { storage } },
  },
});

const selector = { app: mongodb.service };

/** Three data-bearing members on three nodes; committed data is on two of them. */
const replicaSet = (): Manifest =>
  manifest('mongodbcommunity.mongodb.com/v1', 'MongoDBCommunity', mongodb.name, part, {
    spec: {
      type: 'ReplicaSet',
      members: mongodb.members,
      version: mongodb.version,
      featureCompatibilityVersion: '8.0',
      security: {
        authentication: { modes: ['SCRAM'], ignoreUnknownUsers: true },
        roles: [startChecks],
        tls: {
          enabled: true,
          certificateKeySecretRef: { name: mongodb.tlsSecret },
          caCertificateSecretRef: { name: mongodb.tlsSecret },
        },
      },
      users: users(),
      additionalMongodConfig: {
        'setParameter.transactionLifetimeLimitSeconds': TRANSACTION_SECONDS,
        'storage.wiredTiger.engineConfig.cacheSizeGB': 3,
      },
      statefulSet: {
        spec: {
          template: {
            spec: {
              serviceAccountName: DATABASE_ACCOUNT,
              priorityClassName: priorities.payments,
              enableServiceLinks: false,
              terminationGracePeriodSeconds: 120,
              securityContext: podSecurity(MONGODB_USER),
              topologySpreadConstraints: spreadOver(selector),
              containers: [container('mongod', '1', '8Gi'), container('mongodb-agent', '200m', '512Mi')],
              initContainers: [
                container('mongod-posthook', '50m', '128Mi'),
                container('mongodb-agent-readinessprobe', '50m', '128Mi'),
              ],
            },
          },
          volumeClaimTemplates: [volume('data-volume', '200Gi'), volume('logs-volume', '5Gi')],
        },
      },
    },
  });

/** The rights of the operator's agent in each Pod: to read its own configuration, and to mark its Pod. */
const agentRights = (): readonly Manifest[] => [
  manifest('v1', 'ServiceAccount', DATABASE_ACCOUNT, part, {}),
  manifest('rbac.authorization.k8s.io/v1', 'Role', DATABASE_ACCOUNT, part, {
    rules: [
      { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['patch', 'delete', 'get'] },
    ],
  }),
  manifest('rbac.authorization.k8s.io/v1', 'RoleBinding', DATABASE_ACCOUNT, part, {
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: DATABASE_ACCOUNT },
    subjects: [{ kind: 'ServiceAccount', name: DATABASE_ACCOUNT, namespace: NAMESPACE }],
  }),
];

const issuer = (name: string, spec: Readonly<Record<string, unknown>>): Manifest =>
  manifest('cert-manager.io/v1', 'Issuer', name, part, { spec });

const certificate = (name: string, spec: Readonly<Record<string, unknown>>): Manifest =>
  manifest('cert-manager.io/v1', 'Certificate', name, part, { spec });

/** An authority of our own that signs the members' certificates. */
const certificates = (): readonly Manifest[] => [
  issuer('mongodb-self-signed', { selfSigned: {} }),
  certificate('mongodb-authority', {
    secretName: 'mongodb-authority',
    commonName: 'Pesewa MongoDB authority',
    isCA: true,
    duration: '87600h0m0s',
    privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Never' },
    issuerRef: { name: 'mongodb-self-signed', kind: 'Issuer', group: 'cert-manager.io' },
  }),
  issuer('mongodb-authority', { ca: { secretName: 'mongodb-authority' } }),
  certificate(mongodb.tlsSecret, {
    secretName: mongodb.tlsSecret,
    commonName: mongodb.service,
    dnsNames: mongodbHosts(NAMESPACE),
    duration: '2160h0m0s',
    renewBefore: '720h0m0s',
    usages: ['digital signature', 'key encipherment', 'server auth', 'client auth'],
    privateKey: { algorithm: 'ECDSA', size: 256, rotationPolicy: 'Always' },
    issuerRef: { name: 'mongodb-authority', kind: 'Issuer', group: 'cert-manager.io' },
  }),
];

/** MongoDB with everything that it needs. */
export const mongodbCluster = (): readonly Manifest[] => [
  ...certificates(),
  ...agentRights(),
  replicaSet(),
  manifest('policy/v1', 'PodDisruptionBudget', mongodb.name, part, {
    spec: {
      maxUnavailable: 1,
      unhealthyPodEvictionPolicy: 'AlwaysAllow',
      selector: { matchLabels: selector },
    },
  }),
];
