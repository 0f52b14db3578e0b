import { messagingServices } from '@pesewa/contracts';
import { deployed, deployedServices, smallSize } from './model.ts';
import { type Manifest, manifest, NAMESPACE } from './objects.ts';
import { operatorToolsSize } from './operator-tools.ts';
import { priorities } from './workloads.ts';

const part = { component: 'platform', of: 'pesewa' } as const;

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

const milli = (cpu: string): number => (cpu.endsWith('m') ? Number.parseInt(cpu, 10) : 1_000 * Number(cpu));

/** The resources of Kafka, MongoDB, their operators' helpers and the Jobs, in addition to the services. */
const others = { cpu: 16_000, memoryMi: 81_920, pods: 30, ephemeralMi: 30_720 };

/** The resources of all services at their maximum, plus one Pod each for a roll-out. */
function most(): {
  readonly cpu: number;
  readonly memoryMi: number;
  readonly pods: number;
  readonly ephemeralMi: number;
} {
  const all = deployedServices.map((name) => ({
    ...deployed[name].size,
    pods: deployed[name].scale.max + 1,
  }));
  const jobs = { ...smallSize, pods: messagingServices.length + 1 };
  const tools = { ...operatorToolsSize, pods: 1 + 1 };
  const parts = [...all, jobs, tools];
  return {
    cpu: others.cpu + sum(parts.map(({ cpu, pods }) => milli(cpu) * pods)),
    memoryMi: others.memoryMi + sum(parts.map(({ memoryMi, pods }) => memoryMi * pods)),
    pods: others.pods + sum(parts.map(({ pods }) => pods)),
    ephemeralMi: others.ephemeralMi + sum(parts.map(({ ephemeralMi, pods }) => ephemeralMi * pods)),
  };
}

const quota = (): Manifest => {
  const { cpu, memoryMi, pods, ephemeralMi } = most();
  const memory = `${Math.ceil(memoryMi / 1_024)}Gi`;
  const ephemeral = `${Math.ceil(ephemeralMi / 1_024)}Gi`;
  return manifest('v1', 'ResourceQuota', 'pesewa', part, {
    spec: {
      hard: {
        pods: String(pods),
        'requests.cpu': String(Math.ceil(cpu / 1_000)),
        'requests.memory': memory,
        'limits.memory': memory,
        'requests.ephemeral-storage': ephemeral,
        'limits.ephemeral-storage': ephemeral,
        'requests.storage': '3Ti',
        persistentvolumeclaims: '20',
        // Traffic comes in only through the Gateway.
        'services.loadbalancers': '0',
        'services.nodeports': '0',
      },
    },
  });
};

/** The resources of a container that declares none. */
const limits = (): Manifest =>
  manifest('v1', 'LimitRange', 'pesewa', part, {
    spec: {
      limits: [
        {
          type: 'Container',
          default: { memory: '512Mi', 'ephemeral-storage': '512Mi' },
          defaultRequest: { cpu: '100m', memory: '512Mi', 'ephemeral-storage': '128Mi' },
          max: { memory: '16Gi', 'ephemeral-storage': '8Gi' },
        },
      ],
    },
  });

const priorityClass = (name: string, value: number, description: string): Manifest =>
  manifest(
    'scheduling.k8s.io/v1',
    'PriorityClass',
    name,
    { ...part, isClusterWide: true },
    {
      value,
      globalDefault: false,
      preemptionPolicy: 'PreemptLowerPriority',
      description,
    },
  );

const policy = Object.fromEntries(
  ['enforce', 'audit', 'warn'].flatMap((mode) => [
    [`pod-security.kubernetes.io/${mode}`, 'restricted'],
    [`pod-security.kubernetes.io/${mode}-version`, 'latest'],
  ]),
);

/** The namespace, and everything that applies to all of it. */
export const platform = (): readonly Manifest[] => [
  manifest('v1', 'Namespace', NAMESPACE, { ...part, isClusterWide: true, labels: policy }, {}),
  quota(),
  limits(),
  priorityClass(priorities.payments, 1_000_000, 'What accepts, moves and books money.'),
  priorityClass(priorities.support, 500_000, 'What prepares, keeps and shows what the payments need.'),
];
