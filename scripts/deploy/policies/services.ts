import { messagingServices, type ServiceName, serviceNames, services } from '@pesewa/contracts';
import { deployedServices } from '../model.ts';
import {
  at,
  type Fields,
  isSame,
  listAt,
  named,
  numberAt,
  ofKind,
  podsOf,
  type Rendered,
  type Rule,
  remove,
  servicesOf,
  specOf,
  textAt,
  titleOf,
} from './rendered.ts';

const deploymentOf = (objects: readonly Rendered[], name: string): Fields =>
  named(objects, 'Deployment', name) as Fields;
const containerOf = (objects: readonly Rendered[], name: string): Fields =>
  listAt(deploymentOf(objects, name), 'spec.template.spec.containers')[0] ?? {};
/** The services of an installation; only developers have the simulator. */
const present = (installation: string): readonly ServiceName[] =>
  installation === 'dev' ? serviceNames : deployedServices;

const workloadOf = (objects: readonly Rendered[], name: string): Rendered | undefined =>
  ofKind(objects, 'Deployment', 'StatefulSet').find(({ metadata }) => metadata.name === name);

const podOf = (objects: readonly Rendered[], name: string): Fields | undefined =>
  podsOf(objects).find(({ owner }) => owner === workloadOf(objects, name))?.spec;

/** The configuration of a Pod. */
export const configurationOf = (
  objects: readonly Rendered[],
  container: Fields,
): Readonly<Record<string, string>> =>
  Object.assign(
    {},
    ...listAt(container, 'envFrom').map((source) =>
      at(named(objects, 'ConfigMap', textAt(source, 'configMapRef.name')), 'data'),
    ),
  ) as Readonly<Record<string, string>>;

const selectorMatches = (selector: unknown, labels: Readonly<Record<string, string>>): boolean =>
  typeof selector === 'object' &&
  selector !== null &&
  Object.entries(selector).every(([label, value]) => labels[label] === value);

/** Rules about how each service of the table is run. */
export const serviceRules: readonly Rule[] = [
  {
    name: 'each service is run, the simulator with developers alone',
    check: ({ name, objects }) => {
      const run = servicesOf(objects).map(({ metadata }) => metadata.name);
      return isSame(run.toSorted(), present(name).toSorted()) ? [] : [`runs ${run.join(', ')}`];
    },
    violations: [
      (objects) => remove(objects, 'Deployment', 'ledger'),
      (objects) => {
        const one = structuredClone(deploymentOf(objects, 'ledger'));
        (one['metadata'] as Fields)['name'] = 'another';
        objects.push(one as Rendered);
      },
    ],
  },
  {
    name: 'ports are those of the table, in the container, its Service and its settings',
    check: ({ name: installation, objects }) =>
      present(installation).filter((name) => {
        const { port, operationsPort, isPublic } = services[name];
        const wanted = isPublic ? { http: port, operations: operationsPort } : { operations: operationsPort };
        const [container = {}] = listAt(podOf(objects, name), 'containers');
        const opened: unknown = Object.fromEntries(
          listAt(container, 'ports').map((one) => [one['name'], one['containerPort']]),
        );
        const served: unknown = Object.fromEntries(
          listAt(named(objects, 'Service', name), 'spec.ports').map((one) => [one['name'], one['port']]),
        );
        const { PORT, OPERATIONS_PORT } = configurationOf(objects, container);
        return !(
          isSame(opened, wanted) &&
          isSame(served, wanted) &&
          PORT === String(port) &&
          OPERATIONS_PORT === String(operationsPort)
        );
      }),
    violations: [
      (objects) => (containerOf(objects, 'ledger')['ports'] = [{ name: 'operations', containerPort: 1 }]),
      (objects) => (specOf(named(objects, 'Service', 'payout-gateway'))['ports'] = []),
    ],
  },
  {
    name: 'a Service finds the Pods of its service, and those alone',
    check: ({ objects }) =>
      ofKind(objects, 'Service')
        .filter(({ metadata, ...object }) => {
          const found = podsOf(objects).filter(({ labels }) =>
            selectorMatches(at(object, 'spec.selector'), labels),
          );
          return found.length !== 1 || found[0]?.owner.metadata.name !== metadata.name;
        })
        .map(titleOf),
    violations: [
      (objects) =>
        (specOf(named(objects, 'Service', 'ledger'))['selector'] = { 'app.kubernetes.io/name': 'ledger' }),
    ],
  },
  {
    name: 'services are reached from outside their Pod, and probed at the operations port',
    check: ({ name: installation, objects }) =>
      present(installation).filter((name) => {
        const [container = {}] = listAt(podOf(objects, name), 'containers');
        const probes = { startupProbe: '/livez', readinessProbe: '/readyz', livenessProbe: '/livez' };
        return (
          configurationOf(objects, container)['HOST'] !== '0.0.0.0' ||
          Object.entries(probes).some(
            ([probe, path]) =>
              textAt(container, `${probe}.httpGet.path`) !== path ||
              textAt(container, `${probe}.httpGet.port`) !== 'operations',
          ) ||
          numberAt(container, 'startupProbe.periodSeconds') *
            numberAt(container, 'startupProbe.failureThreshold') <
            120
        );
      }),
    violations: [
      (objects) => void delete containerOf(objects, 'ledger')['readinessProbe'],
      (objects) =>
        ((at(containerOf(objects, 'ledger'), 'livenessProbe.httpGet') as Fields)['path'] = '/readyz'),
      (objects) => (containerOf(objects, 'ledger')['envFrom'] = []),
    ],
  },
  {
    name: 'a roll-out takes no replica away before another serves',
    check: ({ objects }) =>
      ofKind(objects, 'Deployment')
        .filter(
          (deployment) =>
            !isSame(at(deployment, 'spec.strategy'), {
              type: 'RollingUpdate',
              rollingUpdate: { maxUnavailable: 0, maxSurge: 1 },
            }) ||
            numberAt(deployment, 'spec.minReadySeconds') !== 10 ||
            !(numberAt(deployment, 'spec.progressDeadlineSeconds') > 0) ||
            !(numberAt(deployment, 'spec.revisionHistoryLimit') > 0),
        )
        .map(titleOf),
    violations: [
      (objects) => (specOf(deploymentOf(objects, 'ledger'))['strategy'] = { type: 'Recreate' }),
      (objects) => void delete specOf(deploymentOf(objects, 'ledger'))['minReadySeconds'],
    ],
  },
  {
    name: 'every Deployment of a service has a budget for disruptions',
    check: ({ objects }) =>
      ofKind(servicesOf(objects), 'Deployment')
        .filter(({ metadata, ...deployment }) => {
          const budget = named(objects, 'PodDisruptionBudget', metadata.name);
          return (
            at(budget, 'spec.maxUnavailable') !== 1 ||
            at(budget, 'spec.unhealthyPodEvictionPolicy') !== 'AlwaysAllow' ||
            !isSame(at(budget, 'spec.selector'), at(deployment, 'spec.selector'))
          );
        })
        .map(titleOf),
    violations: [
      (objects) => remove(objects, 'PodDisruptionBudget', 'ledger'),
      (objects) =>
        void delete specOf(named(objects, 'PodDisruptionBudget', 'ledger'))['unhealthyPodEvictionPolicy'],
    ],
  },
  {
    name: 'replicas are spread over zones and nodes, each version by itself',
    check: ({ objects }) =>
      ofKind(servicesOf(objects), 'Deployment')
        .filter((deployment) => {
          const spread = listAt(deployment, 'spec.template.spec.topologySpreadConstraints');
          const by = new Map(spread.map((one) => [one['topologyKey'], one['whenUnsatisfiable']]));
          return (
            by.get('topology.kubernetes.io/zone') !== 'ScheduleAnyway' ||
            by.get('kubernetes.io/hostname') !== 'DoNotSchedule' ||
            spread.some((one) => !isSame(one['matchLabelKeys'], ['pod-template-hash'])) ||
            spread.some((one) => !isSame(one['labelSelector'], at(deployment, 'spec.selector')))
          );
        })
        .map(titleOf),
    violations: [
      (objects) =>
        void delete (at(deploymentOf(objects, 'ledger'), 'spec.template.spec') as Fields)[
          'topologySpreadConstraints'
        ],
      (objects) => {
        for (const one of listAt(
          deploymentOf(objects, 'ledger'),
          'spec.template.spec.topologySpreadConstraints',
        ))
          delete one['matchLabelKeys'];
      },
    ],
  },
  {
    name: 'each service prepares its database before it is rolled out, by its own image, and topics are prepared',
    check: ({ objects }) =>
      [...messagingServices, 'prepare'].filter((name) => {
        const job = named(objects, 'Job', name === 'prepare' ? name : `prepare-${name}`);
        const [container] = listAt(job, 'spec.template.spec.containers');
        const image = textAt(containerOf(objects, name), 'image');
        return (
          !isSame(at(container, 'command'), ['node', 'src/main.ts', 'prepare']) ||
          (name !== 'prepare' && textAt(container, 'image') !== image)
        );
      }),
    violations: [
      (objects) => remove(objects, 'Job', 'prepare-ledger'),
      (objects) => remove(objects, 'Job', 'prepare'),
    ],
  },
];
