import { type Service, services, topics } from '@pesewa/contracts';
import { END_TIMEOUT_MS } from '@pesewa/runtime';
import { scaledByLag } from './kafka.ts';
import {
  at,
  configurationOf,
  type Fields,
  fieldsAt,
  listAt,
  mebibytes,
  named,
  ofKind,
  type Pod,
  type Rendered,
} from './rendered.ts';

type Objects = readonly Rendered[];

/** The table of services, for names that may be none. */
export const table = services as Readonly<Record<string, Service>>;

/** Whether two values are equal, fields in the same order. */
export const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other);

/** The autoscalers of a Deployment. */
export const scalersOf = (objects: Objects, name: string): readonly Rendered[] =>
  ofKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject').filter(
    (scaler) => at(scaler, 'spec.scaleTargetRef.name') === name,
  );
/** The least or the most replicas of an autoscaler of either kind. */
export const replicas = (scaler: unknown, end: 'min' | 'max'): number =>
  Number(at(scaler, `spec.${end}Replicas`) ?? at(scaler, `spec.${end}ReplicaCount`));

/** Memory is requested whole, CPU has no limit, and the old space of Node is some three quarters of the memory. */
export function isLimited(container: Fields): boolean {
  const [requests, most] = [
    fieldsAt(container, 'resources.requests'),
    fieldsAt(container, 'resources.limits'),
  ];
  const memory = mebibytes(most['memory']);
  const options = listAt(container, 'env').find(({ name }) => name === 'NODE_OPTIONS')?.['value'];
  const share = Number(/--max-old-space-size=(\d+)/.exec(String(options))?.[1]) / memory;
  const isSized = at(container, 'command.0') !== 'node' || (share >= 0.7 && share <= 0.8);
  const hasStorage = mebibytes(most['ephemeral-storage']) > 0;
  return (
    isSized && hasStorage && memory === mebibytes(requests['memory']) && 'cpu' in requests && !('cpu' in most)
  );
}

/** A service has its ports of the table, and time for its pause, its drain (ADR 52) and its end. */
export function isServing(objects: Objects, { owner, spec, containers: [container = {}] }: Pod): boolean {
  const { port, operationsPort, isPublic } = table[owner.metadata.name] ?? {};
  const configuration = configurationOf(objects, container);
  const pause = Number(at(container, 'lifecycle.preStop.sleep.seconds'));
  const neededSeconds = pause + (END_TIMEOUT_MS + Number(configuration['DRAIN_DELAY_MS'])) / 1_000 + 10;
  const opened = listAt(container, 'ports').map((one) => one['containerPort']);
  const served = listAt(named(objects, 'Service', owner.metadata.name), 'spec.ports').map(
    (one) => one['port'],
  );
  return (
    [opened, served].every((ports) => same(ports, isPublic ? [port, operationsPort] : [operationsPort])) &&
    Number(spec['terminationGracePeriodSeconds']) >= neededSeconds
  );
}

/** A Pod runs as `restricted` requires, with a read-only root. */
export const isRestricted = ({ spec, containers }: Pod): boolean =>
  at(spec, 'securityContext.runAsNonRoot') === true &&
  Number(at(spec, 'securityContext.runAsUser')) > 0 &&
  at(spec, 'securityContext.seccompProfile.type') === 'RuntimeDefault' &&
  spec['automountServiceAccountToken'] === false &&
  !['hostNetwork', 'hostPID', 'hostIPC'].some((field) => field in spec) &&
  !listAt(spec, 'volumes').some((volume) => 'hostPath' in volume) &&
  containers.every(
    ({ securityContext }) =>
      at(securityContext, 'allowPrivilegeEscalation') === false &&
      at(securityContext, 'readOnlyRootFilesystem') === true &&
      at(securityContext, 'runAsUser') !== 0 &&
      same(at(securityContext, 'capabilities'), { drop: ['ALL'] }),
  );

/** One autoscaler sets the replicas, two at least and no more than partitions, and a budget keeps all but one. */
export function isAvailable(objects: Objects, { owner }: Pod): boolean {
  const name = owner.metadata.name;
  const [scaler, ...others] = scalersOf(objects, name);
  const lagging = scaledByLag.find((one) => one === name);
  const consumed = lagging ? services[lagging].messaging.consumes.map((topic) => topics[topic]) : [];
  const asked = listAt(scaler, 'spec.triggers').map(
    ({ metadata }) => `${String(at(metadata, 'consumerGroup'))} ${String(at(metadata, 'topic'))}`,
  );
  const budget = named(objects, 'PodDisruptionBudget', name);
  return (
    others.length === 0 &&
    at(owner, 'spec.replicas') === undefined &&
    replicas(scaler, 'min') >= 2 &&
    replicas(scaler, 'max') <= Math.min(...consumed.map(({ partitions }) => partitions), 100) &&
    same(asked.toSorted(), consumed.map((topic) => `${name} ${topic.name}`).toSorted()) &&
    at(budget, 'spec.maxUnavailable') === 1 &&
    same(at(budget, 'spec.selector'), at(owner, 'spec.selector'))
  );
}
