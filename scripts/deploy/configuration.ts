import { messagingServices, type ServiceName, serviceNames, services } from '@pesewa/contracts';
import { connectionSettings } from '@pesewa/runtime';
import { callbackSettings } from '@pesewa/stack';
import { loadSettings, type Settings, settingsOf } from '../docs/settings.ts';

type Values = Readonly<Record<string, string>>;

/** Where a container finds its secrets, one file for each setting. */
const SECRETS_DIRECTORY = '/etc/pesewa';

/** Settings of the deployment that override defaults, for services that have them. */
const common = (user: string): Values => ({
  // A Pod is reached by its own address.
  HOST: '0.0.0.0',
  // After the preStop pause no new connections come; those that clients keep idle may bring one more request.
  DRAIN_DELAY_MS: '2000',
  KAFKA_BROKERS: 'pesewa-kafka-bootstrap:9093',
  KAFKA_TLS: 'on',
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_SASL_USERNAME: user,
  SCHEMA_REGISTRY_URL: 'https://schema-registry.schema-registry.svc.cluster.local:8081',
  SCHEMA_REGISTRY_USERNAME: user,
});

/** The variables with the addresses of the operator APIs. */
const operatorApis: Values = Object.fromEntries(
  messagingServices.map((name) => [
    `${name.toUpperCase().replaceAll('-', '_')}_URL`,
    `http://${name}:${services[name].operationsPort}`,
  ]),
);

/** A Gateway is the only proxy before a public port. */
const behindGateway: Values = { TRUSTED_PROXIES: '1' };

/** Settings of single services; an installation's domain takes the place of `domain`. */
const own: Readonly<Partial<Record<ServiceName, Values>>> = {
  'payout-gateway': { ...behindGateway, PUBLIC_URL: 'https://payouts.domain' },
  'collection-gateway': behindGateway,
  'webhook-ingress': behindGateway,
  console: { ...behindGateway, ...operatorApis, PUBLIC_ORIGIN: 'https://console.domain' },
  'provider-simulator': {
    JOURNAL_FILE: '/data/journal.jsonl',
    PUBLIC_URL: `http://provider-simulator:${services['provider-simulator'].port}`,
    ...callbackSettings(`http://webhook-ingress:${services['webhook-ingress'].port}`),
  },
};

/** Optional in the code, and required for a secure deployment. */
const MOUNTED = [
  'KAFKA_SASL_PASSWORD',
  'KAFKA_TLS_CA',
  'SCHEMA_REGISTRY_PASSWORD',
  'SCHEMA_REGISTRY_TLS_CA',
  'SESSION_KEYS',
];

/** A `config.env` by the schema: a setting without a default must be given, and a secret is the path of its file. */
function configurationOf(user: string, settings: Settings, given: Values): string {
  const said: Values = { ...common(user), ...given };
  const unknown = Object.keys(given).find((name) => settings[name] === undefined);
  if (unknown !== undefined) throw new Error(`${user} has no setting ${unknown}`);
  const all = Object.entries(settings);
  const isFile = ([name, setting]: (typeof all)[number]): boolean =>
    MOUNTED.includes(name) || (setting.isSecret && setting.default !== undefined);
  const values = all
    .filter((one) => !isFile(one) && !one[1].isSecret && one[0] !== 'CRASH_AT')
    .map(([name, setting]) => {
      const value = said[name] ?? setting.default;
      if (value === null) throw new Error(`${user}: ${name} has no default, and the deployment gives none`);
      // What may be set besides is seen where it is set: kustomize passes over comments.
      return `# ${setting.meaning}\n${value ? '' : '# '}${name}=${value ?? ''}\n`;
    });
  const files = all.filter(isFile).map(([name]) => `${name}_FILE=${SECRETS_DIRECTORY}/${name}\n`);
  return [...values, '# secrets, mounted as files\n', ...files].join('');
}

/** The `config.env` of each service and of what prepares and operates an installation, by folder. */
export async function configurations(): Promise<Readonly<Record<string, string>>> {
  const loaded = await Promise.all(
    serviceNames.map(
      async (name) => [name, configurationOf(name, await loadSettings(name), own[name] ?? {})] as const,
    ),
  );
  const addresses = Object.entries(operatorApis).map(([name, url]) => `${name}=${url}\n`);
  return {
    ...Object.fromEntries(loaded),
    prepare: configurationOf('prepare', settingsOf(connectionSettings), {}),
    'operator-tools': [...addresses, `MONGODB_URL_FILE=${SECRETS_DIRECTORY}/MONGODB_URL\n`].join(''),
  };
}
