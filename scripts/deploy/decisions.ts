import { type Service, serviceNames, services, topics } from '@pesewa/contracts';
import { END_TIMEOUT_MS } from '@pesewa/runtime';
import { allTopics, scaledByLag } from './kafka.ts';
import * as read from './rendered.ts';

const { at, fieldsAt, listAt, mebibytes, named, ofKind, same } = read;

/**
 * What a field of objects must have, by kind, name and path: a number is the least, an expression is for texts, a function
 * judges. A Pod has the kind and name of the object that creates it.
 */
type Decided = Readonly<Record<string, unknown>>;

/** The table of services, for names that may be none. */
export const table = services as Readonly<Record<string, Service>>;

const isThere = (): boolean => true;
const exactly =
  (wanted: number) =>
  (value: unknown): boolean =>
    value === wanted;
const atMost =
  (most: number) =>
  (value: unknown): boolean =>
    Number(value) <= most;

/** What keeps messages and records. Services check their topics and connections themselves before they start. */
const durability: Decided = {
  'Kafka pesewa spec kafka authorization type': 'simple',
  'Kafka pesewa spec kafka config auto.create.topics.enable': false,
  'Kafka pesewa spec kafka config default.replication.factor': 3,
  'Kafka pesewa spec kafka config offsets.topic.replication.factor': 3,
  'Kafka pesewa spec kafka config delete.topic.enable': false,
  'KafkaNodePool broker spec replicas': 3,
  'KafkaNodePool broker spec storage volumes 0 type': 'persistent-claim',
  'KafkaNodePool broker spec storage volumes 0 deleteClaim': false,
  'KafkaNodePool controller spec replicas': 3,
  ...Object.fromEntries(
    allTopics.map(({ name, partitions }) => [`KafkaTopic ${name} spec partitions`, exactly(partitions)]),
  ),
  'MongoDBCommunity pesewa-mongodb spec members': 3,
  'PodDisruptionBudget pesewa-mongodb spec maxUnavailable': exactly(1),
  'PodDisruptionBudget pesewa-mongodb spec selector matchLabels app': 'pesewa-mongodb-svc',
  'CronJob mongodb-backup spec schedule': /^\d+ (?:\d+|\*(?:\/\d+)?) \* \* \*$/,
  'CronJob mongodb-backup spec suspend': undefined,
  'CronJob mongodb-restore-test spec suspend': undefined,
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
function isConfined(container: read.Fields, isDev: boolean): boolean {
  const {
    allowPrivilegeEscalation,
    readOnlyRootFilesystem,
    runAsUser = 1,
    capabilities,
  } = fieldsAt(container, 'securityContext');
  return (
    isLimited(container) &&
    allowPrivilegeEscalation === false &&
    readOnlyRootFilesystem === true &&
    runAsUser !== 0 &&
    same(capabilities, { drop: ['ALL'] }) &&
    (isDev ? /:(?!latest$)[\w.-]+$/ : /@sha256:[0-9a-f]{64}$/).test(String(container['image']))
  );
}

/** The Pods of a service are spread over nodes, or else do not start. */
const isSpread = (constraints: readonly read.Fields[] = []): boolean =>
  constraints.some(
    ({ topologyKey, whenUnsatisfiable }) =>
      topologyKey === 'kubernetes.io/hostname' && whenUnsatisfiable === 'DoNotSchedule',
  );

/** What every installation has; Pods run as `restricted` requires. */
const everywhere = (isDev: boolean): Decided => ({
  'PodMonitor pesewa': isThere,
  'PrometheusRule services': isThere,
  'PrometheusRule reconciler': isThere,
  'Namespace pesewa metadata labels pod-security.kubernetes.io/enforce': 'restricted',
  'Pod * spec securityContext runAsNonRoot': true,
  'Pod * spec securityContext runAsUser': 1,
  'Pod * spec securityContext seccompProfile type': 'RuntimeDefault',
  'Pod * spec automountServiceAccountToken': false,
  'Pod * spec hostNetwork': undefined,
  'Pod * spec hostPID': undefined,
  'Pod * spec hostIPC': undefined,
  'Pod * spec volumes': (volumes: readonly object[] = []) => !volumes.some((one) => 'hostPath' in one),
  'Pod * containers': (containers: read.Fields[]) => containers.every((one) => isConfined(one, isDev)),
  'ExternalSecret * spec refreshPolicy': 'Periodic',
  'ExternalSecret * spec refreshInterval': /^[1-9]/,
});

/**
 * What each service of the table has: replicas that an autoscaler alone sets, two at least and no more than partitions, spread
 * over nodes, none less during a roll-out, a budget that keeps all but one, and time for its pause, its drain (ADR 52) and its end.
 */
function ofService(objects: readonly read.Rendered[], name: (typeof serviceNames)[number]): Decided {
  const isSimulator = name === 'provider-simulator';
  const kind = isSimulator ? 'StatefulSet' : 'Deployment';
  const running = at(named(objects, kind, name), 'spec.template.spec.containers.0');
  const pause = Number(at(running, 'lifecycle.preStop.sleep.seconds'));
  const drainMs = Number(read.configurationOf(objects, running)['DRAIN_DELAY_MS']);
  const lagging = scaledByLag.find((one) => one === name);
  const consumed = lagging ? services[lagging].messaging.consumes.map((topic) => topics[topic]) : [];
  const replicas = lagging
    ? {
        [`ScaledObject ${name} spec minReplicaCount`]: 2,
        [`ScaledObject ${name} spec maxReplicaCount`]: atMost(
          Math.min(...consumed.map(({ partitions }) => partitions)),
        ),
      }
    : {
        [`HorizontalPodAutoscaler ${name} spec minReplicas`]: 2,
        [`HorizontalPodAutoscaler ${name} spec maxReplicas`]: atMost(100),
      };
  return {
    [`Service ${name}`]: isThere,
    // On /readyz all services would be started anew while MongoDB is away.
    [`${kind} ${name} spec template spec containers 0 livenessProbe httpGet path`]: '/livez',
    [`${kind} ${name} spec template spec terminationGracePeriodSeconds`]:
      pause + (END_TIMEOUT_MS + drainMs) / 1_000 + 10,
    ...(isSimulator
      ? {}
      : {
          ...replicas,
          [`PodDisruptionBudget ${name} spec maxUnavailable`]: exactly(1),
          [`${kind} ${name} spec strategy rollingUpdate maxUnavailable`]: exactly(0),
          [`${kind} ${name} spec template spec topologySpreadConstraints`]: isSpread,
          [`${kind} ${name} spec replicas`]: undefined,
        }),
    ...('messaging' in services[name]
      ? {
          [`Job prepare-${name} spec template spec containers 0 image`]: at(running, 'image'),
        }
      : {}),
  };
}

function isAsDecided(decided: unknown, value: unknown): boolean {
  if (typeof decided === 'function') return (decided as (value: unknown) => boolean)(value);
  if (decided instanceof RegExp) return decided.test(String(value));
  return typeof decided === 'number' ? Number(value) >= decided : same(decided, value);
}

/** The objects that are missing, or not as decided. */
export function decisionFaults({ name: installation, objects }: read.Installation): readonly string[] {
  const isDev = installation === 'dev';
  const isOurs = ofKind(objects, 'Kafka', 'MongoDBCommunity').length > 0;
  const installed = serviceNames.filter((name) => isDev || name !== 'provider-simulator');
  const decided = [
    isOurs ? durability : {},
    everywhere(isDev),
    ...installed.map((name) => ofService(objects, name)),
  ].flatMap((part) => Object.entries(part));
  const all = [...objects, ...read.podsOf(objects)];
  const faults = decided.flatMap(([rule, wanted]) => {
    const [kind = '', name = '', ...path] = rule.split(' ');
    const found = ofKind(all, kind).filter(({ metadata }) => name === '*' || metadata.name === name);
    if (found.length === 0) return [`${kind} ${name}`];
    const faulty = found.filter((one) => !isAsDecided(wanted, read.atSteps(one, path)));
    return faulty.map(({ metadata }) => [kind, metadata.name, ...path].join(' '));
  });
  return [...new Set(faults)];
}
