import { type MessagingService, messagingServices, type ServiceName, serviceNames } from '@pesewa/contracts';
import { connectionSettings } from '@pesewa/runtime';
import { stringify } from 'yaml';
import type { Settings } from '../docs/configuration.ts';
import { loadSettings } from '../docs/services.ts';
import { backupManifests, backupSecret } from './backup.ts';
import { type Environment, environmentFile, environmentOf, own } from './environment.ts';
import { gatewayManifests } from './gateway.ts';
import { allTopics, kafkaCluster, kafkaUsers, topicManifest, users } from './kafka.ts';
import { keda } from './keda.ts';
import { type DeployedService, deployed, deployedServices, smallSize } from './model.ts';
import { mongodbCluster, mongodbUsers } from './mongodb.ts';
import { monitoring } from './monitoring.ts';
import { networkPolicies } from './network-policies.ts';
import { labelsOf, type Manifest, NAMESPACE } from './objects.ts';
import { operatorTools, operatorToolsEnvironment, operatorToolsSecret } from './operator-tools.ts';
import { overlays } from './overlays.ts';
import { platform } from './platform.ts';
import { mongodbPassword, settingsSecret } from './secrets.ts';
import { simulator } from './simulator.ts';
import {
  cpuAutoscaler,
  deployment,
  disruptionBudget,
  imageOf,
  messagingSecrets,
  prepareJob,
  serviceAccount,
  serviceManifest,
} from './workloads.ts';

/** Generated files by their path below `deploy/kubernetes`. */
export type Tree = Readonly<Record<string, string>>;

const HEADER = '# Written by npm run manifests: change scripts/deploy, not this file.\n';

/** YAML that readers of versions 1.1 and 1.2 understand in the same way. */
const toYaml = (...documents: readonly object[]): string =>
  HEADER +
  documents
    .map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false, version: '1.1' }))
    .join('---\n');

const kustomization = (kind: 'Kustomization' | 'Component', fields: object): string =>
  toYaml({
    apiVersion: `kustomize.config.k8s.io/${kind === 'Component' ? 'v1alpha1' : 'v1beta1'}`,
    kind,
    ...fields,
  });

type Files = Readonly<Record<string, readonly Manifest[]>>;

/** A folder of manifests with its kustomization. */
function folder(
  path: string,
  files: Files,
  options: {
    readonly kind?: 'Component';
    readonly environment?: { readonly name: string; readonly text: string };
  } = {},
): Tree {
  const { kind = 'Kustomization', environment } = options;
  const present = Object.entries(files).filter(([, manifests]) => manifests.length > 0);
  return {
    [`${path}/kustomization.yaml`]: kustomization(kind, {
      resources: present.map(([name]) => name),
      ...(environment && {
        configMapGenerator: [
          {
            name: `${environment.name}-config`,
            namespace: NAMESPACE,
            envs: ['config.env'],
            options: { immutable: true, labels: labelsOf(environment.name, 'platform') },
          },
        ],
      }),
    }),
    ...Object.fromEntries(present.map(([name, manifests]) => [`${path}/${name}`, toYaml(...manifests)])),
    ...(environment && { [`${path}/config.env`]: HEADER + environment.text }),
  };
}

const settingsOf = async (name: string): Promise<Settings> => {
  const settings = await loadSettings(name);
  if (!settings) throw new Error(`services/${name}/src/config.ts exports no settings`);
  return settings;
};

/** The environments of all services, and of what prepares an installation. */
async function environments(): Promise<Readonly<Record<ServiceName | 'prepare', Environment>>> {
  const of = async (name: ServiceName) =>
    [name, environmentOf(name, await settingsOf(name), own[name] ?? {})] as const;
  const services = await Promise.all(serviceNames.map(of));
  const prepare = environmentOf('prepare', connectionSettings.shape as unknown as Settings, {});
  return Object.fromEntries([...services, ['prepare', prepare]]) as Record<
    ServiceName | 'prepare',
    Environment
  >;
}

type Environments = Awaited<ReturnType<typeof environments>>;

const configured = (all: Environments, name: ServiceName | 'prepare') => ({
  environment: { name, text: environmentFile(all[name]) },
});

const serviceFolder = (name: DeployedService, all: Environments): Tree =>
  folder(
    `base/${name}`,
    {
      'service-account.yaml': [serviceAccount(name)],
      'prepare.yaml': messagingServices
        .filter((one) => one === name)
        .map((one) =>
          prepareJob(one, imageOf(one), {
            size: deployed[one].size,
            secrets: { ...messagingSecrets(one), prepares: true },
          }),
        ),
      'deployment.yaml': [deployment(name)],
      'service.yaml': [serviceManifest(name)],
      'disruption-budget.yaml': [disruptionBudget(name)],
      'autoscaler.yaml': deployed[name].scale.by === 'cpu' ? [cpuAutoscaler(name)] : [],
    },
    configured(all, name),
  );

/** The objects of every installation, whatever platform it runs on. */
const base = (all: Environments): readonly Tree[] => [
  {
    'base/kustomization.yaml': kustomization('Kustomization', {
      resources: ['platform', 'prepare', ...deployedServices, 'operator-tools'],
    }),
  },
  folder('base/platform', { 'platform.yaml': platform() }),
  folder(
    'base/prepare',
    {
      'service-account.yaml': [serviceAccount('prepare')],
      'job.yaml': [
        prepareJob('prepare', imageOf('pesewa'), { size: smallSize, secrets: messagingSecrets('prepare') }),
      ],
    },
    configured(all, 'prepare'),
  ),
  ...deployedServices.map((name) => serviceFolder(name, all)),
  folder(
    'base/operator-tools',
    { 'operator-tools.yaml': operatorTools() },
    { environment: operatorToolsEnvironment },
  ),
  folder(
    'base/provider-simulator',
    { 'provider-simulator.yaml': simulator(all['provider-simulator'].files.stored) },
    configured(all, 'provider-simulator'),
  ),
];

/** The platform, in parts, so that an installation can leave out those that it has elsewhere. */
function components(all: Environments): readonly Tree[] {
  const component = (name: string, files: Files): Tree =>
    folder(`components/${name}`, files, { kind: 'Component' });
  const userNames = [...messagingServices, kafkaUsers.prepare];
  return [
    component('kafka-strimzi', {
      'kafka.yaml': kafkaCluster(),
      'topics.yaml': allTopics().map(topicManifest),
      'users.yaml': users(),
    }),
    component('mongodb', { 'mongodb.yaml': mongodbCluster(), 'backup.yaml': backupManifests() }),
    component('network-policies', { 'policies.yaml': networkPolicies() }),
    component('monitoring', { 'monitoring.yaml': monitoring() }),
    component('keda', { 'scaled-objects.yaml': keda() }),
    component('external-secrets', {
      'settings.yaml': [...deployedServices, kafkaUsers.prepare].map((name) =>
        settingsSecret(name, all[name].files.stored),
      ),
      'mongodb.yaml': [...userNames, mongodbUsers.operators, mongodbUsers.backup].map(mongodbPassword),
      'backup.yaml': [backupSecret()],
      'operator-tools.yaml': [operatorToolsSecret()],
    }),
    component('gateway', { 'gateway.yaml': gatewayManifests() }),
  ];
}

/** Everything below `deploy/kubernetes`. */
export async function generateTree(): Promise<Tree> {
  const all = await environments();
  const secrets = Object.fromEntries(
    messagingServices.map((name) => [name, all[name].files.stored]),
  ) as Record<MessagingService, readonly string[]>;
  const installations = overlays(secrets).map(({ path, fields }) => ({
    [`${path}/kustomization.yaml`]: kustomization('Kustomization', fields),
  }));
  return Object.assign({}, ...base(all), ...components(all), ...installations) as Tree;
}
