import {
  type MessagingService,
  messagingServices,
  services,
  type TopicName,
  topics,
} from '@pesewa/contracts';
import {
  at,
  type Fields,
  isSame,
  listAt,
  named,
  numberAt,
  ofKind,
  type Rendered,
  type Rule,
  remove,
  specOf,
  textAt,
  titleOf,
} from './rendered.ts';

const DAY_MS = 86_400_000;
const declaredTopics = Object.values(topics);

/** A right in one line, as `Read topic payouts.events.v1`. */
const rightsOf = (user: Rendered | undefined): readonly string[] =>
  listAt(user, 'spec.authorization.acls')
    .flatMap((acl) =>
      (at(acl, 'operations') as readonly string[]).map(
        (operation) => `${operation} ${textAt(acl, 'resource.type')} ${textAt(acl, 'resource.name')}`,
      ),
    )
    .toSorted();

/** The rights that a service needs, by its declaration. */
function neededBy(name: MessagingService): readonly string[] {
  const { produces, consumes, readsOutsideGroup, asksProgressOf } = services[name].messaging;
  const rights = (operation: string, names: readonly TopicName[]) =>
    names.flatMap((topic) => [
      `${operation} topic ${topics[topic].name}`,
      `Describe topic ${topics[topic].name}`,
      `DescribeConfigs topic ${topics[topic].name}`,
    ]);
  const own = consumes.length === 0 ? [] : [`Read group ${name}`, `Describe group ${name}`];
  return [
    ...new Set([
      ...rights('Write', produces),
      ...rights('Read', [...consumes, ...readsOutsideGroup]),
      ...own,
      ...asksProgressOf.map((group) => `Describe group ${group}`),
    ]),
  ].toSorted();
}

const aclsOf = (objects: readonly Rendered[], name: string): Fields[] =>
  listAt(named(objects, 'KafkaUser', name), 'spec.authorization.acls') as Fields[];

/** Rules over Kafka. */
export const kafkaRules: readonly Rule[] = [
  {
    name: 'there is a KafkaTopic for each topic of the code, as the code has it, and no other',
    check: ({ objects }) => {
      const found = ofKind(objects, 'KafkaTopic').map((topic) => specOf(topic));
      const wanted = declaredTopics.map(({ name, partitions, cleanup, retentionDays }) => ({
        topicName: name,
        partitions,
        replicas: 3,
        config: {
          'cleanup.policy': cleanup,
          'min.insync.replicas': 2,
          'retention.ms': retentionDays * DAY_MS,
        },
      }));
      const names = (list: readonly Fields[]) => list.map((one) => textAt(one, 'topicName'));
      return [
        ...wanted
          .filter((one) => !found.some((other) => isSame(one, other)))
          .map(({ topicName }) => topicName),
        ...names(found).filter((name) => !names(wanted).includes(name)),
      ];
    },
    violations: [
      (objects) => remove(objects, 'KafkaTopic', 'ledger.events.v1'),
      (objects) => (specOf(named(objects, 'KafkaTopic', 'ledger.events.v1'))['replicas'] = 1),
      (objects) => (specOf(named(objects, 'KafkaTopic', 'payouts.events.v1'))['partitions'] = 12),
      (objects) =>
        (specOf(named(objects, 'KafkaTopic', 'payouts.events.v1'))['topicName'] = 'unknown.topic.v1'),
    ],
  },
  {
    name: 'a service has exactly the rights in Kafka that it is declared to use',
    check: ({ objects }) =>
      messagingServices.filter(
        (name) => !isSame(rightsOf(named(objects, 'KafkaUser', name)), neededBy(name)),
      ),
    violations: [
      (objects) => void aclsOf(objects, 'ledger').pop(),
      (objects) => ((aclsOf(objects, 'webhook-ingress')[0] as Fields)['operations'] = ['All']),
      (objects) => remove(objects, 'KafkaUser', 'reconciler'),
    ],
  },
  {
    name: 'what prepares creates topics and reads none; what scales sees the groups that it scales',
    check: ({ objects }) => {
      const prepare = declaredTopics
        .flatMap(({ name }) => [
          `Create topic ${name}`,
          `Describe topic ${name}`,
          `DescribeConfigs topic ${name}`,
        ])
        .toSorted();
      const scaled = messagingServices.filter((name) => named(objects, 'ScaledObject', name));
      const keda = [
        ...new Set(
          scaled.flatMap((name) =>
            services[name].messaging.consumes.map((topic) => `Describe topic ${topics[topic].name}`),
          ),
        ),
        ...scaled.map((name) => `Describe group ${name}`),
      ].toSorted();
      return [
        ...(isSame(rightsOf(named(objects, 'KafkaUser', 'prepare')), prepare) ? [] : ['prepare']),
        ...(isSame(rightsOf(named(objects, 'KafkaUser', 'keda')), keda) ? [] : ['keda']),
      ];
    },
    violations: [
      (objects) => ((aclsOf(objects, 'prepare')[0] as Fields)['operations'] = ['All']),
      (objects) => void aclsOf(objects, 'keda').pop(),
    ],
  },
  {
    name: 'a right in Kafka is to one thing by its name, a user proves who it is, and has its share',
    check: ({ objects }) =>
      ofKind(objects, 'KafkaUser')
        .filter(
          (user) =>
            textAt(user, 'spec.authentication.type') !== 'scram-sha-512' ||
            textAt(user, 'spec.authorization.type') !== 'simple' ||
            Number.isNaN(numberAt(user, 'spec.quotas.producerByteRate')) ||
            Number.isNaN(numberAt(user, 'spec.quotas.requestPercentage')) ||
            listAt(user, 'spec.authorization.acls').some(
              (acl) =>
                textAt(acl, 'resource.patternType') !== 'literal' ||
                textAt(acl, 'resource.name').includes('*') ||
                !['topic', 'group'].includes(textAt(acl, 'resource.type')) ||
                !Array.isArray(acl['operations']),
            ),
        )
        .map(titleOf),
    violations: [
      (objects) => ((at(aclsOf(objects, 'ledger'), '0.resource') as Fields)['name'] = '*'),
      (objects) => ((at(aclsOf(objects, 'ledger'), '0.resource') as Fields)['patternType'] = 'prefix'),
      (objects) => void delete specOf(named(objects, 'KafkaUser', 'ledger'))['quotas'],
    ],
  },
  {
    name: 'Kafka has three brokers and controllers, knows racks, speaks TLS alone, and creates no topic by accident',
    check: ({ objects }) => {
      const kafka = specOf(named(objects, 'Kafka', 'pesewa'));
      const config = at(kafka, 'kafka.config') as Fields | undefined;
      const pools = ofKind(objects, 'KafkaNodePool').map(
        (pool) => `${textAt(pool, 'spec.roles.0')} ${numberAt(pool, 'spec.replicas')}`,
      );
      const isGood =
        config?.['auto.create.topics.enable'] === false &&
        config['min.insync.replicas'] === 2 &&
        config['unclean.leader.election.enable'] === false &&
        textAt(kafka, 'kafka.rack.topologyKey') !== '' &&
        textAt(kafka, 'kafka.authorization.type') === 'simple' &&
        listAt(kafka, 'kafka.listeners').every(
          (one) => one['tls'] === true && 'authentication' in one && 'networkPolicyPeers' in one,
        ) &&
        isSame(pools.toSorted(), ['broker 3', 'controller 3']);
      return isGood ? [] : ['Kafka pesewa'];
    },
    violations: [
      (objects) =>
        ((at(named(objects, 'Kafka', 'pesewa'), 'spec.kafka.config') as Fields)['auto.create.topics.enable'] =
          true),
      (objects) =>
        ((listAt(named(objects, 'Kafka', 'pesewa'), 'spec.kafka.listeners')[0] as Fields)['tls'] = false),
      (objects) => (specOf(named(objects, 'KafkaNodePool', 'broker'))['replicas'] = 1),
    ],
  },
];
