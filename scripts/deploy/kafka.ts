import {
  type MessagingService,
  messagingServices,
  services,
  type Topic,
  type TopicName,
  topics,
} from '@pesewa/contracts';
import { deployed } from './model.ts';
import { type Manifest, manifest } from './objects.ts';
import { operatorsContainerSecurity, spreadOver } from './pods.ts';
import { kafka, site } from './site.ts';
import { priorities } from './workloads.ts';

const API = 'kafka.strimzi.io/v1';
const DAY_MS = 86_400_000;
const MIB = 1_048_576;
const clusterLabel = { 'strimzi.io/cluster': kafka.cluster };
const part = { component: 'platform', of: 'kafka', labels: clusterLabel } as const;

/** Users of Kafka that are no service. */
export const kafkaUsers = { prepare: 'prepare', keda: 'keda' } as const;

/** Every topic of an installation. */
export const allTopics = (): readonly Topic[] => Object.values(topics);

/** A topic as the code declares it, on three brokers; two must have a message before it is acknowledged. */
export const topicManifest = ({ name, partitions, cleanup, retentionDays }: Topic): Manifest =>
  manifest(API, 'KafkaTopic', name, part, {
    spec: {
      topicName: name,
      partitions,
      replicas: kafka.replicas,
      config: {
        'cleanup.policy': cleanup,
        'min.insync.replicas': kafka.inSyncMin,
        'retention.ms': retentionDays * DAY_MS,
      },
    },
  });

/** Users of a topic may read its settings, because services check them before they start. */
const SEES = ['Describe', 'DescribeConfigs'] as const;

/** The operations that a user may do on a resource. */
interface Acl {
  readonly type: 'topic' | 'group';
  readonly name: string;
  readonly operations: readonly string[];
}

/** The rights of a service, by its declaration: each resource by its name, nothing else. */
function aclsOf(name: MessagingService): readonly Acl[] {
  const { produces, consumes, readsOutsideGroup, asksProgressOf } = services[name].messaging;
  const operations = new Map<string, Set<string>>();
  const allow = (topicNames: readonly TopicName[], operation: string) => {
    for (const topic of topicNames) {
      const known = operations.get(topics[topic].name) ?? new Set<string>(SEES);
      operations.set(topics[topic].name, known.add(operation));
    }
  };
  allow(consumes, 'Read');
  allow(readsOutsideGroup, 'Read');
  allow(produces, 'Write');
  const isConsumer = consumes.length > 0;
  return [
    ...[...operations].map(
      ([topic, allowed]): Acl => ({ type: 'topic', name: topic, operations: [...allowed] }),
    ),
    ...(isConsumer ? [{ type: 'group', name, operations: ['Describe', 'Read'] } as const] : []),
    ...asksProgressOf.map((group): Acl => ({ type: 'group', name: group, operations: ['Describe'] })),
  ];
}

/** The job that creates topics may only do that, and list them. */
const prepareAcls = (): readonly Acl[] =>
  allTopics().map(({ name }) => ({ type: 'topic', name, operations: [...SEES, 'Create'] }));

/** The services that are scaled by how far they lag behind. */
export const scaledByLag = (): readonly MessagingService[] =>
  messagingServices.filter((name) => deployed[name].scale.by === 'lag');

/** The autoscaler may only list topics and groups. */
function kedaAcls(): readonly Acl[] {
  const names = scaledByLag();
  const consumed = new Set(
    names.flatMap((name) => services[name].messaging.consumes.map((topic) => topics[topic].name)),
  );
  return [
    ...[...consumed].map((name): Acl => ({ type: 'topic', name, operations: ['Describe'] })),
    ...names.map((name): Acl => ({ type: 'group', name, operations: ['Describe'] })),
  ];
}

/** The most that a user may ask of a broker, so that a runaway one leaves the others their share. */
const quotas = {
  service: {
    producerByteRate: 40 * MIB,
    consumerByteRate: 80 * MIB,
    requestPercentage: 200,
    controllerMutationRate: 1,
  },
  prepare: {
    producerByteRate: MIB,
    consumerByteRate: MIB,
    requestPercentage: 50,
    controllerMutationRate: 10,
  },
  keda: { producerByteRate: 1_024, consumerByteRate: MIB, requestPercentage: 25, controllerMutationRate: 1 },
} as const;

const user = (name: string, acls: readonly Acl[], quota: keyof typeof quotas): Manifest =>
  manifest(API, 'KafkaUser', name, part, {
    spec: {
      authentication: { type: 'scram-sha-512' },
      authorization: {
        type: 'simple',
        acls: acls.map(({ type, name: resource, operations }) => ({
          type: 'allow',
          resource: { type, name: resource, patternType: 'literal' },
          operations: operations.toSorted(),
        })),
      },
      quotas: quotas[quota],
    },
  });

/** A user for each service, one that prepares topics and one that scales. */
export const users = (): readonly Manifest[] => [
  ...messagingServices.map((name) => user(name, aclsOf(name), 'service')),
  user(kafkaUsers.prepare, prepareAcls(), 'prepare'),
  user(kafkaUsers.keda, kedaAcls(), 'keda'),
];

const podOf = (selector: Readonly<Record<string, string>>) => ({
  priorityClassName: priorities.payments,
  enableServiceLinks: false,
  securityContext: { runAsNonRoot: true, fsGroup: 0, seccompProfile: { type: 'RuntimeDefault' } },
  topologySpreadConstraints: spreadOver(selector),
});

const secured = { securityContext: operatorsContainerSecurity };

const memoryOf = (cpu: string, memory: string) => ({ requests: { cpu, memory }, limits: { memory } });

/** Nodes of one kind: brokers keep messages, controllers keep the cluster's metadata. */
const nodePool = (
  name: string,
  role: 'broker' | 'controller',
  size: { readonly cpu: string; readonly memory: string; readonly heap: string; readonly disk: string },
): Manifest =>
  manifest(API, 'KafkaNodePool', name, part, {
    spec: {
      replicas: kafka.replicas,
      roles: [role],
      resources: memoryOf(size.cpu, size.memory),
      jvmOptions: { '-Xms': size.heap, '-Xmx': size.heap },
      storage: {
        type: 'jbod',
        volumes: [
          {
            id: 0,
            type: 'persistent-claim',
            size: size.disk,
            class: site.storageClass,
            kraftMetadata: 'shared',
            deleteClaim: false,
          },
        ],
      },
      template: {
        pod: podOf({ ...clusterLabel, 'strimzi.io/pool-name': name }),
        kafkaContainer: secured,
        initContainer: secured,
      },
    },
  });

/** Who may reach the brokers: our Pods with a user, and the autoscaler. */
const peers = () => [
  {
    podSelector: {
      matchExpressions: [
        { key: 'app.kubernetes.io/name', operator: 'In', values: [...messagingServices, kafkaUsers.prepare] },
      ],
    },
  },
  { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': site.kedaNamespace } } },
];

/** The cluster: users are known by name and password over TLS, may do what is allowed, and create nothing by accident. */
const cluster = (): Manifest =>
  manifest(
    API,
    'Kafka',
    kafka.cluster,
    { component: 'platform', of: 'kafka' },
    {
      spec: {
        kafka: {
          listeners: [
            {
              name: 'scram',
              port: kafka.port,
              type: 'internal',
              tls: true,
              authentication: { type: 'scram-sha-512' },
              networkPolicyPeers: peers(),
            },
          ],
          authorization: { type: 'simple' },
          rack: { type: 'topology-label', topologyKey: 'topology.kubernetes.io/zone' },
          config: {
            'auto.create.topics.enable': false,
            'default.replication.factor': kafka.replicas,
            'min.insync.replicas': kafka.inSyncMin,
            'offsets.topic.replication.factor': kafka.replicas,
            'transaction.state.log.replication.factor': kafka.replicas,
            'transaction.state.log.min.isr': kafka.inSyncMin,
            'unclean.leader.election.enable': false,
            'delete.topic.enable': false,
          },
          template: { podDisruptionBudget: { maxUnavailable: 1 } },
        },
        entityOperator: {
          topicOperator: { resources: memoryOf('100m', '512Mi') },
          userOperator: { resources: memoryOf('100m', '512Mi'), secretPrefix: kafka.userSecretPrefix },
          template: {
            pod: {
              priorityClassName: priorities.support,
              enableServiceLinks: false,
              securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
            },
            topicOperatorContainer: secured,
            userOperatorContainer: secured,
          },
        },
      },
    },
  );

/** The cluster and its nodes. */
export const kafkaCluster = (): readonly Manifest[] => [
  cluster(),
  nodePool('controller', 'controller', { cpu: '250m', memory: '2Gi', heap: '1024m', disk: '20Gi' }),
  nodePool('broker', 'broker', { cpu: '1', memory: '8Gi', heap: '4096m', disk: '200Gi' }),
];
