import {
  at,
  containersOf,
  type Fields,
  listAt,
  mebibytes,
  named,
  numberAt,
  OPERATOR_TOOLS,
  ofKind,
  podsOf,
  type Rendered,
  type Rule,
  specOf,
  titleOf,
} from './rendered.ts';

const CLUSTER_WIDE = ['Namespace', 'PriorityClass'];
const NAME = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LABEL = /^([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?$/;
/** Kinds whose names are parts of host names. */
const STRICTLY_NAMED = ['Service', 'Namespace'];

const first = (objects: readonly Rendered[], kind: string): Fields => ofKind(objects, kind)[0] as Fields;

const repeats = (items: readonly Fields[], keyOf: (item: Fields) => unknown): boolean =>
  new Set(items.map(keyOf)).size < items.length;

/** The memory of containers together. */
const memoryOf = (containers: readonly Fields[]): number =>
  containers.reduce((total, one) => total + mebibytes(at(one, 'resources.limits.memory')), 0);

/** How many Pods of an object may exist at once: its maximum, plus one for a roll-out. */
function mostOf(objects: readonly Rendered[], { kind, metadata: { name } }: Rendered): number {
  if (kind !== 'Deployment') return 1;
  // People start one, and nothing scales it.
  if (name === OPERATOR_TOOLS) return 1 + 1;
  const most = numberAt(named(objects, 'HorizontalPodAutoscaler', name), 'spec.maxReplicas');
  return 1 + (most > 0 ? most : numberAt(named(objects, 'ScaledObject', name), 'spec.maxReplicaCount'));
}

/** The memory of everything that the manifests request, including the operators' Pods. */
function memoryAtMost(objects: readonly Rendered[]): number {
  const pods = podsOf(objects).map((pod) => memoryOf(containersOf(pod)) * mostOf(objects, pod.owner));
  const pools = ofKind(objects, 'KafkaNodePool').map(
    (pool) => numberAt(pool, 'spec.replicas') * memoryOf([specOf(pool)]),
  );
  const members = ofKind(objects, 'MongoDBCommunity').map(
    (one) =>
      numberAt(one, 'spec.members') * memoryOf(listAt(one, 'spec.statefulSet.spec.template.spec.containers')),
  );
  return [...pods, ...pools, ...members].reduce((total, one) => total + one, 0);
}

const WEEK_SECONDS = 604_800;

/**
 * How many Pods of an object keep their volumes at once: each attempt of a Job, and those of the former Job while that
 * is kept.
 */
function holdersOf(owner: Rendered): number {
  if (owner.kind === 'StatefulSet') return numberAt(owner, 'spec.replicas');
  const job = at(owner, owner.kind === 'CronJob' ? 'spec.jobTemplate.spec' : 'spec');
  const keptSeconds = numberAt(job, 'activeDeadlineSeconds') + numberAt(job, 'ttlSecondsAfterFinished');
  return (1 + numberAt(job, 'backoffLimit')) * (keptSeconds < WEEK_SECONDS ? 1 : 2);
}

const times = (count: number, sizes: readonly unknown[]): readonly number[] =>
  Array.from({ length: count }, () => sizes.map(mebibytes)).flat();

const storageOf = (claim: Fields): unknown => at(claim, 'spec.resources.requests.storage');

/** The sizes of all volumes that exist at once, including the operators'. */
const volumesAtMost = (objects: readonly Rendered[]): readonly number[] => [
  ...ofKind(objects, 'PersistentVolumeClaim').flatMap((claim) => times(1, [storageOf(claim)])),
  ...ofKind(objects, 'StatefulSet').flatMap((set) =>
    times(holdersOf(set), listAt(set, 'spec.volumeClaimTemplates').map(storageOf)),
  ),
  ...podsOf(objects).flatMap(({ owner, spec }) =>
    listAt(spec, 'volumes')
      .map((volume) => at(volume, 'ephemeral.volumeClaimTemplate') as Fields | undefined)
      .flatMap((claim) => (claim ? times(holdersOf(owner), [storageOf(claim)]) : [])),
  ),
  ...ofKind(objects, 'KafkaNodePool').flatMap((pool) =>
    times(
      numberAt(pool, 'spec.replicas'),
      listAt(pool, 'spec.storage.volumes').map(({ size }) => size),
    ),
  ),
  ...ofKind(objects, 'MongoDBCommunity').flatMap((one) =>
    times(
      numberAt(one, 'spec.members'),
      listAt(one, 'spec.statefulSet.spec.volumeClaimTemplates').map(storageOf),
    ),
  ),
];

/** Rules about the namespace, and about what an API server accepts at all. */
export const namespaceRules: readonly Rule[] = [
  {
    name: 'the namespace enforces, audits and warns by the policy restricted',
    check: ({ objects }) => {
      const labels = named(objects, 'Namespace', 'pesewa')?.metadata.labels;
      return ['enforce', 'audit', 'warn'].filter(
        (mode) => labels?.[`pod-security.kubernetes.io/${mode}`] !== 'restricted',
      );
    },
    violations: [
      (objects) =>
        ((at(first(objects, 'Namespace'), 'metadata.labels') as Fields)[
          'pod-security.kubernetes.io/enforce'
        ] = 'baseline'),
      (objects) =>
        void objects.splice(
          objects.findIndex(({ kind }) => kind === 'Namespace'),
          1,
        ),
    ],
  },
  {
    name: 'the namespace has a quota, and limits for what says nothing',
    check: ({ objects }) => {
      const hard = at(first(objects, 'ResourceQuota'), 'spec.hard');
      const wanted = [
        'pods',
        'requests.cpu',
        'requests.memory',
        'limits.memory',
        'requests.ephemeral-storage',
      ];
      const limits = listAt(first(objects, 'LimitRange'), 'spec.limits')[0];
      return [
        ...wanted.filter((what) => typeof hard !== 'object' || hard === null || !(what in hard)),
        ...['default', 'defaultRequest', 'max'].filter((what) => at(limits, `${what}.memory`) === undefined),
      ];
    },
    violations: [
      (objects) => void delete (at(first(objects, 'ResourceQuota'), 'spec.hard') as Fields)['limits.memory'],
      (objects) =>
        void objects.splice(
          objects.findIndex(({ kind }) => kind === 'LimitRange'),
          1,
        ),
    ],
  },
  {
    name: 'the quota has room for everything at its most',
    check: ({ objects }) => {
      const limit = (at(first(objects, 'ResourceQuota'), 'spec.hard') as Fields | undefined)?.[
        'limits.memory'
      ];
      const needed = memoryAtMost(objects);
      return mebibytes(limit) >= needed
        ? []
        : [`${needed} MiB are asked for, and ${String(limit)} are there`];
    },
    violations: [
      (objects) => ((at(first(objects, 'ResourceQuota'), 'spec.hard') as Fields)['limits.memory'] = '80Gi'),
      (objects) => (specOf(named(objects, 'ScaledObject', 'ledger'))['maxReplicaCount'] = 800),
    ],
  },
  {
    name: 'the quota has room for every volume, those of a restored copy and of a second attempt at it included',
    check: ({ objects }) => {
      const hard = at(first(objects, 'ResourceQuota'), 'spec.hard') as Fields | undefined;
      const volumes = volumesAtMost(objects);
      const needed = volumes.reduce((total, one) => total + one, 0);
      return mebibytes(hard?.['requests.storage']) >= needed &&
        Number(hard?.['persistentvolumeclaims']) >= volumes.length
        ? []
        : [`${volumes.length} volumes of ${needed} MiB are asked for`];
    },
    violations: [
      (objects) => ((at(first(objects, 'ResourceQuota'), 'spec.hard') as Fields)['requests.storage'] = '2Ti'),
      (objects) =>
        ((at(first(objects, 'ResourceQuota'), 'spec.hard') as Fields)['persistentvolumeclaims'] = '12'),
      (objects) => {
        const job = at(named(objects, 'CronJob', 'mongodb-restore-test'), 'spec.jobTemplate.spec') as Fields;
        job['ttlSecondsAfterFinished'] = WEEK_SECONDS;
        job['backoffLimit'] = 4;
      },
    ],
  },
  {
    name: 'everything is in the namespace, or is of the whole cluster',
    check: ({ objects }) =>
      objects
        .filter(
          ({ kind, metadata }) => metadata.namespace !== (CLUSTER_WIDE.includes(kind) ? undefined : 'pesewa'),
        )
        .map(titleOf),
    violations: [
      (objects) => void delete (first(objects, 'Deployment')['metadata'] as Fields)['namespace'],
      (objects) => ((first(objects, 'Deployment')['metadata'] as Fields)['namespace'] = 'default'),
    ],
  },
  {
    name: 'names and labels are such as an API server takes, and nothing is there twice',
    check: ({ objects }) => [
      ...objects
        .filter(
          ({ kind, metadata: { name } }) =>
            !(STRICTLY_NAMED.includes(kind) ? NAME : SUBDOMAIN).test(name) || name.length > 253,
        )
        .map(titleOf),
      ...objects
        .filter(({ metadata }) => Object.values(metadata.labels ?? {}).some((value) => !LABEL.test(value)))
        .map((object) => `${titleOf(object)}: a label`),
      ...[...Map.groupBy(objects, titleOf)]
        .filter(([, same]) => same.length > 1)
        .map(([title]) => `${title} twice`),
    ],
    violations: [
      (objects) => ((first(objects, 'Service')['metadata'] as Fields)['name'] = 'under_score'),
      (objects) => ((at(first(objects, 'Service'), 'metadata.labels') as Fields)['x'] = 'a b'),
      (objects) => void objects.push(structuredClone(first(objects, 'Service')) as Rendered),
    ],
  },
  {
    name: 'lists that are merged by a key have each key once',
    check: ({ objects }) =>
      podsOf(objects)
        .filter(
          (pod) =>
            repeats(containersOf(pod), ({ name }) => name) ||
            repeats(listAt(pod.spec, 'volumes'), ({ name }) => name) ||
            repeats(listAt(pod.spec, 'topologySpreadConstraints'), ({ topologyKey }) => topologyKey) ||
            containersOf(pod).some(
              (container) =>
                repeats(listAt(container, 'env'), ({ name }) => name) ||
                repeats(listAt(container, 'volumeMounts'), ({ mountPath }) => mountPath) ||
                repeats(listAt(container, 'ports'), ({ containerPort }) => containerPort),
            ),
        )
        .map(({ owner }) => titleOf(owner)),
    violations: [
      (objects) => {
        const [container] = listAt(podsOf(objects)[0]?.spec, 'containers');
        if (container) container['env'] = [{ name: 'A' }, { name: 'A' }];
      },
    ],
  },
];
