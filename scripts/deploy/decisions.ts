import { messagingServices, type Service, serviceNames, services, topics } from '@pesewa/contracts';
import { END_TIMEOUT_MS } from '@pesewa/runtime';
import { allTopics, scaledByLag } from './kafka.ts';
import * as read from './rendered.ts';

const { at, fieldsAt, listAt, mebibytes, named, ofKind, same } = read;

type Judge = (value: unknown) => boolean;
/**
 * What objects must have, by kind and name: a number is the least, an expression is for texts, a function judges, `{}` is only
 * that it is there. A Pod has the kind and name of the object that creates it.
 */
type Decided = Readonly<Record<string, object>>;

/** The table of services, for names that may be none. */
export const table = services as Readonly<Record<string, Service>>;

/** The same for each of some names. */
const forEach = <Name>(
  names: readonly Name[],
  entry: (name: Name) => readonly [title: string, object],
): Decided => Object.fromEntries<object>(names.map(entry));
const exactly =
  (wanted: unknown): Judge =>
  (value) =>
    same(value, wanted);

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
  ...forEach(allTopics, ({ name, partitions }) => [
    `KafkaTopic ${name}`,
    { spec: { partitions: exactly(partitions) } },
  ]),
  ...forEach([...messagingServices, 'prepare', 'keda'], (name) => [`KafkaUser ${name}`, {}]),
  'MongoDBCommunity pesewa-mongodb': {
    spec: { members: 3, security: { authentication: { modes: ['SCRAM'] }, tls: { enabled: true } } },
  },
  'PodDisruptionBudget pesewa-mongodb': {
    spec: { maxUnavailable: exactly(1), selector: { matchLabels: { app: 'pesewa-mongodb-svc' } } },
  },
  'CronJob mongodb-backup': { spec: { schedule: /^\d+ \d+ \* \* \*$/, suspend: undefined } },
  'CronJob mongodb-restore-test': { spec: { suspend: undefined } },
  'PersistentVolumeClaim mongodb-backup': {},
  ...forEach([...messagingServices, 'prepare', 'operators', 'backup'], (name) => [
    `ExternalSecret mongodb-password-${name}`,
    {},
  ]),
};

/** Memory is requested whole, CPU has no limit, and the old space of Node is some three quarters of the memory. */
function isLimited(container: read.Fields): boolean {
  const limits = fieldsAt(container, 'resources.limits');
  const requests = fieldsAt(container, 'resources.requests');
  const memory = mebibytes(limits['memory']);
  const options = listAt(container, 'env').find(({ name }) => name === 'NODE_OPTIONS')?.['value'];
  const share = Number(/--max-old-space-size=(\d+)/.exec(String(options))?.[1]) / memory;
  const isSized = at(container, 'command.0') !== 'node' || (share >= 0.7 && share <= 0.8);
  const isWhole = memory === mebibytes(requests['memory']) && 'cpu' in requests && !('cpu' in limits);
  return isSized && isWhole && mebibytes(limits['ephemeral-storage']) > 0;
}

/** A container keeps its limits, has no rights and a read-only root; its image is exact: by digest, for developers by tag. */
const container = (isDev: boolean) => ({
  securityContext: {
    allowPrivilegeEscalation: false,
    readOnlyRootFilesystem: true,
    runAsUser: (user: unknown) => user !== 0,
    capabilities: exactly({ drop: ['ALL'] }),
  },
  image: isDev ? /:(?!latest$)[\w.-]+$/ : /@sha256:[0-9a-f]{64}$/,
});

/** What every installation has; Pods run as `restricted` requires. */
const everywhere = (isDev: boolean): Decided => ({
  'Namespace pesewa': { metadata: { labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } } },
  'Pod *': {
    spec: {
      securityContext: { runAsNonRoot: true, runAsUser: 1, seccompProfile: { type: 'RuntimeDefault' } },
      automountServiceAccountToken: false,
      hostNetwork: undefined,
      hostPID: undefined,
      hostIPC: undefined,
      volumes: (volumes: unknown) => !((volumes ?? []) as object[]).some((volume) => 'hostPath' in volume),
    },
    containers: (containers: unknown) =>
      (containers as read.Fields[]).every(
        (one) => isLimited(one) && differences(container(isDev), one, '').length === 0,
      ),
  },
  'Job prepare': {},
  'ExternalSecret prepare-settings': {},
  'ExternalSecret operator-tools-settings': {},
  'ExternalSecret *': { spec: { refreshPolicy: 'Periodic', refreshInterval: /^[1-9]/ } },
  'PodMonitor pesewa': { spec: { podMetricsEndpoints: [{ port: 'operations', path: '/metrics' }] } },
  'PrometheusRule services': {},
  'PrometheusRule reconciler': {},
  'Gateway pesewa': {},
});

/** One autoscaler sets the replicas, two at least and no more than partitions, and a budget keeps all but one. */
function staysAvailable(name: (typeof serviceNames)[number], selector: unknown): Decided {
  const scaleTargetRef = { name };
  const budget = { spec: { maxUnavailable: exactly(1), selector: exactly(selector) } };
  const lagging = scaledByLag.find((one) => one === name);
  const consumed = lagging ? services[lagging].messaging.consumes.map((topic) => topics[topic]) : [];
  const isAtMost =
    (most: number): Judge =>
    (value) =>
      Number(value) <= most;
  const maxReplicaCount = isAtMost(Math.min(...consumed.map(({ partitions }) => partitions)));
  const triggers: Judge = (value) =>
    same(
      (value as read.Fields[])
        .map(({ metadata }) => `${String(at(metadata, 'consumerGroup'))} ${String(at(metadata, 'topic'))}`)
        .toSorted(),
      consumed.map((topic) => `${name} ${topic.name}`).toSorted(),
    );
  return {
    [`PodDisruptionBudget ${name}`]: budget,
    ...(lagging
      ? {
          [`ScaledObject ${name}`]: {
            spec: { scaleTargetRef, minReplicaCount: 2, maxReplicaCount, triggers },
          },
        }
      : {
          [`HorizontalPodAutoscaler ${name}`]: {
            spec: { scaleTargetRef, minReplicas: 2, maxReplicas: isAtMost(100) },
          },
        }),
  };
}

const probe = (path: string) => ({ httpGet: { path, port: 'operations' } });

/** What each service of the table has: its ports, and time for its pause, its drain (ADR 52) and its end. */
function ofService(objects: readonly read.Rendered[], name: (typeof serviceNames)[number]): Decided {
  const { port, operationsPort, isPublic } = services[name];
  const ports =
    (field: string): Judge =>
    (value) =>
      same(
        ((value ?? []) as read.Fields[]).map((one) => one[field]),
        isPublic ? [port, operationsPort] : [operationsPort],
      );
  const labels = { 'app.kubernetes.io/name': name, 'app.kubernetes.io/component': 'service' };
  const deployment = named(objects, 'Deployment', name) ?? named(objects, 'StatefulSet', name);
  const running = at(deployment, 'spec.template.spec.containers.0');
  const pause = Number(at(running, 'lifecycle.preStop.sleep.seconds'));
  const drainMs = Number(read.configurationOf(objects, running)['DRAIN_DELAY_MS']);
  const spec = {
    containers: [
      {
        startupProbe: probe('/livez'),
        readinessProbe: probe('/readyz'),
        livenessProbe: probe('/livez'),
        ports: ports('containerPort'),
      },
    ],
    terminationGracePeriodSeconds: pause + (END_TIMEOUT_MS + drainMs) / 1_000 + 10,
  };
  const settings = {
    [`ExternalSecret ${name}-settings`]: {},
    [`Service ${name}`]: { spec: { selector: labels, ports: ports('port') } },
  };
  if (name === 'provider-simulator')
    return { ...settings, [`StatefulSet ${name}`]: { spec: { template: { metadata: { labels }, spec } } } };
  const spread = { whenUnsatisfiable: 'DoNotSchedule', labelSelector: { matchLabels: labels } };
  const topologySpreadConstraints = [{}, { topologyKey: 'kubernetes.io/hostname', ...spread }];
  const prepares = {
    image: at(running, 'image'),
    env: [{}, { name: 'MONGODB_URL_FILE', value: '/etc/pesewa/PREPARE_MONGODB_URL' }],
  };
  return {
    ...settings,
    ...staysAvailable(name, at(deployment, 'spec.selector')),
    [`Deployment ${name}`]: {
      spec: {
        replicas: undefined,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } },
        template: { metadata: { labels }, spec: { ...spec, topologySpreadConstraints } },
      },
    },
    ...('messaging' in services[name]
      ? { [`Job prepare-${name}`]: { spec: { template: { spec: { containers: [prepares] } } } } }
      : {}),
  };
}

/** The paths at which a value is not as decided. */
function differences(decided: unknown, value: unknown, path: string): readonly string[] {
  if (typeof decided === 'function') return (decided as Judge)(value) ? [] : [path];
  if (decided instanceof RegExp) return decided.test(String(value)) ? [] : [path];
  if (typeof decided === 'number') return Number(value) >= decided ? [] : [path];
  if (typeof decided !== 'object' || decided === null) return decided === value ? [] : [path];
  return Object.entries(decided).flatMap(([name, inner]) =>
    differences(inner, (value as read.Fields | undefined)?.[name], `${path} ${name}`),
  );
}

/** The objects that are missing, or not as decided. */
export function decisionFaults({ name: installation, objects }: read.Installation): readonly string[] {
  const isDev = installation === 'dev';
  const isOurs = ofKind(objects, 'Kafka', 'MongoDBCommunity').length > 0;
  const installed = serviceNames.filter((name) => name !== 'provider-simulator' || isDev);
  const decided: Decided = {
    ...everywhere(isDev),
    ...(isOurs ? durability : {}),
    ...Object.fromEntries<object>(installed.flatMap((name) => Object.entries(ofService(objects, name)))),
  };
  const all = [...objects, ...read.podsOf(objects)];
  return Object.entries(decided).flatMap(([title, fields]) => {
    const [kind = '', name] = title.split(' ');
    const found = ofKind(all, kind).filter(({ metadata }) => name === '*' || metadata.name === name);
    return found.length > 0
      ? found.flatMap((one) => differences(fields, one, `${kind} ${one.metadata.name}`))
      : [title];
  });
}
