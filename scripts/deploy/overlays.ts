import { type MessagingService, messagingServices } from '@pesewa/contracts';
import { type Digests, production, staging } from './digests.ts';
import { gateways, hostOf } from './gateway.ts';
import { deployedServices, serviceOf } from './model.ts';
import { NAMESPACE } from './objects.ts';
import { settingsSecret } from './secrets.ts';
import { simulatorRails } from './simulator.ts';
import { mongodb, site } from './site.ts';
import { imageOf } from './workloads.ts';

/** An installation: its folder, and its kustomization. */
export interface Overlay {
  readonly path: string;
  readonly fields: object;
}

/** The default of the simulator's CLIENT_PUBLIC_KEY. */
const SIMULATOR_KEY = 'hub-public-key';

type Secrets = Readonly<Record<MessagingService, readonly string[]>>;

const components = [
  'kafka-strimzi',
  'mongodb',
  'external-secrets',
  'network-policies',
  'keda',
  'monitoring',
  'gateway',
].map((name) => `../../components/${name}`);

const byDigest = ({ 'mongodb-tools': tools, ...digests }: Digests) => [
  ...Object.entries(digests).map(([name, digest]) => ({ name: imageOf(name), digest })),
  { name: site.mongodbToolsImage, digest: tools },
];

const byTag = () => [
  ...[...deployedServices, 'pesewa', 'provider-simulator'].map((name) => ({
    name: imageOf(name),
    newTag: 'dev',
  })),
  { name: site.mongodbToolsImage, newTag: mongodb.version },
];

interface Operation {
  readonly op: 'add' | 'replace' | 'remove';
  readonly path: string;
  readonly value?: unknown;
}

const patch = (
  group: string,
  version: string,
  kind: string,
  name: string,
  operations: readonly Operation[],
) => ({
  target: { group, version, kind, name },
  // JSON is valid YAML, and as text it needs no plugin.
  patch: `${JSON.stringify(operations, null, 2)}\n`,
});

const allHosts = gateways.flatMap(({ hosts }) => hosts);

/** Replaces the base's domain in the hosts. */
const domainPatches = (domain: string) => [
  ...gateways.map((gateway) =>
    patch(
      'gateway.networking.k8s.io',
      'v1',
      'Gateway',
      gateway.name,
      gateway.hosts.map(({ name }, index) => ({
        op: 'replace',
        path: `/spec/listeners/${index}/hostname`,
        value: hostOf(name, domain),
      })),
    ),
  ),
  ...allHosts.map(({ name }) =>
    patch('gateway.networking.k8s.io', 'v1', 'HTTPRoute', name, [
      { op: 'replace', path: '/spec/hostnames/0', value: hostOf(name, domain) },
    ]),
  ),
  ...allHosts.map(({ name }) =>
    patch('cert-manager.io', 'v1', 'Certificate', name, [
      { op: 'replace', path: '/spec/dnsNames/0', value: hostOf(name, domain) },
    ]),
  ),
];

/** Settings of an installation, merged over those of the base. */
const merged = (name: string, settings: Readonly<Record<string, string>>) => ({
  name: `${name}-config`,
  namespace: NAMESPACE,
  behavior: 'merge',
  literals: Object.entries(settings).map(([setting, value]) => `${setting}=${value}`),
  options: { immutable: true },
});

/** The settings that name a service's own host. */
const ownAddress = (name: string, domain: string): Readonly<Record<string, string>> => {
  if (name === 'payout-gateway') return { PUBLIC_URL: `https://${hostOf('payouts', domain)}` };
  return name === 'console' ? { PUBLIC_ORIGIN: `https://${hostOf('console', domain)}` } : {};
};

/** The rails of developers are the simulator, whatever the store of secrets contains. */
const railPatches = (secrets: Secrets) =>
  messagingServices
    .filter((name) => secrets[name].includes('RAILS'))
    .map((name) => {
      const { data } = settingsSecret(name, secrets[name])['spec'] as {
        readonly data: readonly { readonly secretKey: string }[];
      };
      const index = data.findIndex(({ secretKey }) => secretKey === 'RAILS');
      return patch('external-secrets.io', 'v1', 'ExternalSecret', `${name}-settings`, [
        { op: 'remove', path: `/spec/data/${index}` },
        { op: 'replace', path: '/spec/target/template/data/RAILS', value: simulatorRails(SIMULATOR_KEY) },
      ]);
    });

/** A cluster of developers has small nodes. */
const smallPatches = [
  patch('kafka.strimzi.io', 'v1', 'KafkaNodePool', 'broker', [
    {
      op: 'replace',
      path: '/spec/resources',
      value: { requests: { cpu: '250m', memory: '2Gi' }, limits: { memory: '2Gi' } },
    },
    { op: 'replace', path: '/spec/jvmOptions', value: { '-Xms': '1024m', '-Xmx': '1024m' } },
    { op: 'replace', path: '/spec/storage/volumes/0/size', value: '20Gi' },
  ]),
];

const simulatorUrl = `http://provider-simulator:${serviceOf('provider-simulator').port}`;

const development = (name: string) => ({
  NODE_ENV: 'development',
  ...(['ledger', 'webhook-dispatcher', 'collection-gateway'].includes(name) && {
    WEBHOOK_ALLOWED_ORIGINS: simulatorUrl,
  }),
});

const dev = (secrets: Secrets): Overlay => {
  const domain = 'dev.pesewa.example';
  return {
    path: 'overlays/dev',
    fields: {
      resources: ['../../base', '../../base/provider-simulator'],
      components,
      images: byTag(),
      configMapGenerator: [
        ...deployedServices.map((name) =>
          merged(name, { ...development(name), ...ownAddress(name, domain) }),
        ),
        merged('provider-simulator', { NODE_ENV: 'development' }),
      ],
      patches: [...domainPatches(domain), ...railPatches(secrets), ...smallPatches],
    },
  };
};

const released = (name: string, domain: string, digests: Digests): Overlay => ({
  path: `overlays/${name}`,
  fields: {
    resources: ['../../base'],
    components,
    images: byDigest(digests),
    configMapGenerator: ['payout-gateway', 'console'].map((name) => merged(name, ownAddress(name, domain))),
    patches: domainPatches(domain),
  },
});

/** Every installation: the developers', staging, and production. */
export const overlays = (secrets: Secrets): readonly Overlay[] => [
  dev(secrets),
  released('staging', 'staging.pesewa.example', staging),
  released('production', 'pesewa.example', production),
];
