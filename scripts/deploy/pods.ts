import { ending, nodeOptions, type Size } from './model.ts';
import { type Component, type Labels, labelsOf } from './objects.ts';
import { kafka, MONGODB_CA_FILE, mongodb, SECRETS_DIRECTORY } from './site.ts';

/** The user of our images. */
const NODE_USER = 1_000;
/** Readable only by the group of the Pod: octal 0440. */
const SECRET_MODE = 0o440;
/** Space for files that a process writes, all of them under `/tmp`. */
const TMP_MI = 64;

/** The security settings of a Pod, as the namespace's policy `restricted` requires; its group is the image's. */
export const podSecurity = (user = NODE_USER) => ({
  runAsNonRoot: true,
  runAsUser: user,
  fsGroup: user,
  fsGroupChangePolicy: 'OnRootMismatch',
  seccompProfile: { type: 'RuntimeDefault' },
});

/** The security settings of a container, as `restricted` requires, with a read-only root. */
export const containerSecurity = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  privileged: false,
  readOnlyRootFilesystem: true,
  runAsNonRoot: true,
} as const;

/** The same for the operators' images, for which we can't decide whether they work with a read-only root. */
export const operatorsContainerSecurity = {
  allowPrivilegeEscalation: false,
  capabilities: { drop: ['ALL'] },
  privileged: false,
  runAsNonRoot: true,
} as const;

/** Spreads Pods over zones where that is possible, and over nodes always. */
export const spreadOver = (matchLabels: Labels, matchLabelKeys?: readonly string[]) =>
  (
    [
      ['topology.kubernetes.io/zone', 'ScheduleAnyway'],
      ['kubernetes.io/hostname', 'DoNotSchedule'],
    ] as const
  ).map(([topologyKey, whenUnsatisfiable]) => ({
    maxSkew: 1,
    topologyKey,
    whenUnsatisfiable,
    labelSelector: { matchLabels },
    ...(matchLabelKeys && { matchLabelKeys }),
  }));

/**
 * Memory is requested in full, so that other Pods can't take it; CPU is not limited, because throttling looks like a
 * fault.
 */
export const resourcesOf = ({ cpu, memoryMi, ephemeralMi }: Size) => ({
  requests: { cpu, memory: `${memoryMi}Mi`, 'ephemeral-storage': `${Math.ceil(ephemeralMi / 4)}Mi` },
  limits: { memory: `${memoryMi}Mi`, 'ephemeral-storage': `${ephemeralMi}Mi` },
});

/** The sources of a container's secret files. */
export interface SecretFiles {
  readonly stored: boolean;
  /** The Kafka user whose password is mounted. */
  readonly kafkaUser?: string;
  readonly mongodb: boolean;
  /** Whether it connects to MongoDB as the user that prepares databases. */
  readonly prepares?: boolean;
}

/** The file with the connection string of the user that prepares. */
const PREPARE_FILE = 'PREPARE_MONGODB_URL';

const item = (secret: string, key: string, file: string) => ({
  secret: { name: secret, items: [{ key, path: file }] },
});

/** One directory with a file for each secret, from any source. */
const secretsVolume = (name: string, { stored, kafkaUser, mongodb: hasMongodb, prepares }: SecretFiles) => ({
  name: 'secrets',
  projected: {
    defaultMode: SECRET_MODE,
    sources: [
      ...(stored ? [{ secret: { name: `${name}-settings` } }] : []),
      ...(kafkaUser === undefined
        ? []
        : [
            item(`${kafka.userSecretPrefix}${kafkaUser}`, 'password', 'KAFKA_SASL_PASSWORD'),
            item(kafka.caSecret, 'ca.crt', 'KAFKA_TLS_CA'),
          ]),
      ...(prepares ? [item('prepare-settings', 'MONGODB_URL', PREPARE_FILE)] : []),
      ...(hasMongodb ? [item(mongodb.tlsSecret, 'ca.crt', MONGODB_CA_FILE)] : []),
    ],
  },
});

/** The parts of a Pod of ours. */
export interface PodOptions {
  /** The name of its account, configuration and secrets. */
  readonly name: string;
  readonly component: Component;
  readonly image: string;
  readonly command: readonly string[];
  readonly size: Size;
  readonly secrets: SecretFiles;
  readonly priority: string;
  /** Further fields of its container: ports, probes, a lifecycle. */
  readonly container?: Readonly<Record<string, unknown>>;
  readonly mounts?: readonly Readonly<Record<string, unknown>>[];
  readonly pod?: Readonly<Record<string, unknown>>;
  readonly labels?: Labels;
}

/** A Pod with one container of ours. */
export function podTemplate(options: PodOptions) {
  const { name, component, image, command, size, secrets, priority, container, mounts = [], pod } = options;
  return {
    metadata: {
      labels: { ...labelsOf(name, component), ...options.labels },
      annotations: { 'kubectl.kubernetes.io/default-container': name },
    },
    spec: {
      serviceAccountName: name,
      automountServiceAccountToken: false,
      enableServiceLinks: false,
      priorityClassName: priority,
      securityContext: podSecurity(),
      terminationGracePeriodSeconds: ending.graceSeconds,
      ...pod,
      containers: [
        {
          name,
          image,
          command,
          envFrom: [{ configMapRef: { name: `${name}-config` } }],
          env: [
            { name: 'NODE_OPTIONS', value: nodeOptions(size) },
            ...(secrets.prepares
              ? [{ name: 'MONGODB_URL_FILE', value: `${SECRETS_DIRECTORY}/${PREPARE_FILE}` }]
              : []),
          ],
          ...container,
          resources: resourcesOf(size),
          securityContext: containerSecurity,
          volumeMounts: [
            { name: 'secrets', mountPath: SECRETS_DIRECTORY, readOnly: true },
            { name: 'tmp', mountPath: '/tmp' },
            ...mounts,
          ],
        },
      ],
      volumes: [secretsVolume(name, secrets), { name: 'tmp', emptyDir: { sizeLimit: `${TMP_MI}Mi` } }],
    },
  };
}
