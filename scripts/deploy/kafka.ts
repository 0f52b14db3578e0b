import {
  type MessagingService,
  messagingServices,
  services,
  type Topic,
  type TopicName,
  topics,
} from '@pesewa/contracts';

const API = { apiVersion: 'kafka.strimzi.io/v1' } as const;
const DAY_MS = 86_400_000;
/** Users of a topic may read its settings, because services check them before they start. */
const SEES = ['Describe', 'DescribeConfigs'] as const;

/** The operations that a user may do on a resource. */
interface Acl {
  readonly type: 'topic' | 'group';
  readonly name: string;
  readonly operations: readonly string[];
}

/** Every topic of an installation. */
export const allTopics: readonly Topic[] = Object.values(topics);

/** The topics as the code declares them. */
export const kafkaTopics = (): readonly object[] =>
  allTopics.map(({ name, partitions, cleanup, retentionDays }) => ({
    ...API,
    kind: 'KafkaTopic',
    metadata: { name },
    spec: {
      topicName: name,
      partitions,
      config: { 'cleanup.policy': cleanup, 'retention.ms': retentionDays * DAY_MS },
    },
  }));

/** The rights of a service, by its declaration: each resource by its name, nothing else. */
function aclsOf(name: MessagingService): readonly Acl[] {
  const { produces, consumes, readsOutsideGroup, asksProgressOf } = services[name].messaging;
  const uses = [
    ...[...consumes, ...readsOutsideGroup].map((topic) => ({ topic, operation: 'Read' })),
    ...produces.map((topic) => ({ topic, operation: 'Write' })),
  ];
  return [
    ...[...Map.groupBy(uses, ({ topic }) => topics[topic].name)].map(([topic, own]): Acl => {
      const operations = [...SEES, ...new Set(own.map(({ operation }) => operation))];
      return { type: 'topic', name: topic, operations };
    }),
    ...(consumes.length > 0 ? [{ type: 'group', name, operations: ['Describe', 'Read'] } as const] : []),
    ...asksProgressOf.map((group): Acl => ({ type: 'group', name: group, operations: ['Describe'] })),
  ];
}

/** The services that scale by how far they lag behind; the others scale by CPU. */
export const scaledByLag = messagingServices.filter((name) => !services[name].isPublic);

/** The autoscaler sees the groups that it scales, and the topics that they consume. */
const autoscalerAcls = (): readonly Acl[] => {
  const consumed = new Set<TopicName>(scaledByLag.flatMap((name) => services[name].messaging.consumes));
  return [
    ...[...consumed].map(
      (topic): Acl => ({ type: 'topic', name: topics[topic].name, operations: ['Describe'] }),
    ),
    ...scaledByLag.map((name): Acl => ({ type: 'group', name, operations: ['Describe'] })),
  ];
};

const user = (name: string, acls: readonly Acl[]): object => ({
  ...API,
  kind: 'KafkaUser',
  metadata: { name },
  spec: {
    authorization: {
      type: 'simple',
      acls: acls.map(({ type, name: resource, operations }) => ({
        type: 'allow',
        resource: { type, name: resource, patternType: 'literal' },
        operations: operations.toSorted(),
      })),
    },
  },
});

/** A user for each service, one that creates topics and reads none, and one that scales. */
export const kafkaUsers = (): readonly object[] => [
  ...messagingServices.map((name) => user(name, aclsOf(name))),
  user(
    'prepare',
    allTopics.map(({ name }) => ({ type: 'topic', name, operations: [...SEES, 'Create'] })),
  ),
  user('keda', autoscalerAcls()),
];
