import { messagingServices, serviceNames, services } from '@pesewa/contracts';
import { allTopics } from './kafka.ts';
import { at, type Fields, type Installation, named, ofKind, type Rendered } from './rendered.ts';

/** What an object must have: a number is the least, an expression is for texts, `{}` only that it is there. */
type Decided = Readonly<Record<string, object>>;

const scram = { authentication: { type: 'scram-sha-512' } };

/** What keeps messages and records: two of three have each before it is acknowledged. */
const durability: Decided = {
  'Kafka pesewa': {
    spec: {
      kafka: {
        listeners: [{ tls: true, ...scram }],
        authorization: { type: 'simple' },
        config: {
          'auto.create.topics.enable': false,
          'default.replication.factor': 3,
          'min.insync.replicas': 2,
          'offsets.topic.replication.factor': 3,
          'transaction.state.log.replication.factor': 3,
          'transaction.state.log.min.isr': 2,
          'unclean.leader.election.enable': false,
          'delete.topic.enable': false,
        },
      },
    },
  },
  'KafkaNodePool broker': {
    spec: { replicas: 3, storage: { volumes: [{ type: 'persistent-claim', deleteClaim: false }] } },
  },
  'KafkaNodePool controller': { spec: { replicas: 3 } },
  'KafkaTopic *': { spec: { replicas: 3, config: { 'min.insync.replicas': 2 } } },
  'KafkaUser *': { spec: scram },
  ...Object.fromEntries<object>(
    allTopics.map(({ name, partitions }) => [
      `KafkaTopic ${name}`,
      { spec: { partitions: new RegExp(`^${partitions}$`) } },
    ]),
  ),
  ...Object.fromEntries<object>(
    [...messagingServices, 'prepare', 'keda'].map((name) => [`KafkaUser ${name}`, {}]),
  ),
  'MongoDBCommunity pesewa-mongodb': {
    spec: { members: 3, security: { authentication: { modes: ['SCRAM'] }, tls: { enabled: true } } },
  },
  'PodDisruptionBudget pesewa-mongodb': {
    spec: { maxUnavailable: 1, selector: { matchLabels: { app: 'pesewa-mongodb-svc' } } },
  },
  'CronJob mongodb-backup': { spec: { schedule: /^\d+ \d+ \* \* \*$/, suspend: undefined } },
  'CronJob mongodb-restore-test': { spec: { suspend: undefined } },
  'PersistentVolumeClaim mongodb-backup': {},
  ...Object.fromEntries<object>(
    [...messagingServices, 'prepare', 'operators', 'backup'].map((name) => [
      `ExternalSecret mongodb-password-${name}`,
      {},
    ]),
  ),
};

const probe = (path: string) => ({ httpGet: { path, port: 'operations' } });

/** What each service of the table has. */
function ofService(objects: readonly Rendered[], name: (typeof serviceNames)[number]): Decided {
  const labels = { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': 'service' };
  const container = {
    startupProbe: probe('/livez'),
    readinessProbe: probe('/readyz'),
    livenessProbe: probe('/livez'),
  };
  const settings = {
    [`ExternalSecret ${name}-settings`]: {},
    [`Service ${name}`]: { spec: { selector: labels } },
  };
  const template = { metadata: { labels }, spec: { containers: [container] } };
  if (name === 'provider-simulator') return { ...settings, [`StatefulSet ${name}`]: { spec: { template } } };
  const spread = { whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } };
  const prepares = {
    image: at(named(objects, 'Deployment', name), 'spec.template.spec.containers.0.image'),
    env: [{}, { name: 'MONGODB_URL_FILE', value: '/etc/pesewa/PREPARE_MONGODB_URL' }],
  };
  return {
    ...settings,
    [`Deployment ${name}`]: {
      spec: {
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } },
        template: {
          ...template,
          spec: {
            ...template.spec,
            topologySpreadConstraints: [{}, { topologyKey: 'kubernetes.io/hostname', ...spread }],
          },
        },
      },
    },
    ...('messaging' in services[name]
      ? { [`Job prepare-${name}`]: { spec: { template: { spec: { containers: [prepares] } } } } }
      : {}),
  };
}

/** What every installation has. */
const everywhere: Decided = {
  'Job prepare': {},
  'ExternalSecret prepare-settings': {},
  'ExternalSecret operator-tools-settings': {},
  'ExternalSecret *': { spec: { refreshPolicy: 'Periodic', refreshInterval: /^[1-9]/ } },
  'PodMonitor pesewa': { spec: { podMetricsEndpoints: [{ port: 'operations', path: '/metrics' }] } },
  'PrometheusRule services': {},
  'PrometheusRule reconciler': {},
  'Gateway pesewa': {},
};

/** The paths at which a value is not as decided. */
function differences(decided: unknown, value: unknown, path: string): readonly string[] {
  if (decided instanceof RegExp) return decided.test(String(value)) ? [] : [path];
  if (typeof decided === 'number') return Number(value) >= decided ? [] : [path];
  if (typeof decided !== 'object' || decided === null) return decided === value ? [] : [path];
  return Object.entries(decided).flatMap(([name, inner]) =>
    differences(inner, (value as Fields | undefined)?.[name], `${path} ${name}`),
  );
}

/** The objects of the table of services, of Kafka, MongoDB and monitoring that are missing or not as decided. */
export function decisionFaults({ name: installation, objects }: Installation): readonly string[] {
  const isOurs = ofKind(objects, 'Kafka', 'MongoDBCommunity').length > 0;
  const installed = serviceNames.filter((name) => name !== 'provider-simulator' || installation === 'dev');
  const decided: Decided = {
    ...everywhere,
    ...(isOurs ? durability : {}),
    ...Object.fromEntries<object>(installed.flatMap((name) => Object.entries(ofService(objects, name)))),
  };
  const publicClass = at(named(objects, 'Gateway', 'pesewa'), 'spec.gatewayClassName');
  const faults = Object.entries(decided).flatMap(([title, fields]) => {
    const [kind = '', name] = title.split(' ');
    const found = ofKind(objects, kind).filter(({ metadata }) => name === '*' || metadata.name === name);
    return found.length > 0
      ? found.flatMap((one) => differences(fields, one, `${kind} ${one.metadata.name}`))
      : [title];
  });
  const isInside = at(named(objects, 'Gateway', 'console'), 'spec.gatewayClassName') !== publicClass;
  return [...faults, ...(isInside ? [] : ['Gateway console spec gatewayClassName'])];
}
