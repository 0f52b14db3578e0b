import type { ServiceName } from '@pesewa/contracts';
import { callbackSettings } from '@pesewa/stack';
import { defaultTextOf, isSecret, meaningOf, type Settings } from '../docs/configuration.ts';
import { operatorApis, serviceOf } from './model.ts';
import { kafka, SECRETS_DIRECTORY, site } from './site.ts';

/** The environment of a service: its configuration, and its mounted files. */
export interface Environment {
  /** Plain values by variable, each with its meaning, in the order of the schema. */
  readonly values: readonly { readonly name: string; readonly value: string; readonly meaning: string }[];
  /** The settings that are mounted as files, by their source. */
  readonly files: {
    /** From the store of secrets. */
    readonly stored: readonly string[];
    /** From the operators of Kafka. */
    readonly fromKafka: readonly string[];
  };
}

/** Made by Strimzi for the user and for the cluster. */
const fromKafka = ['KAFKA_SASL_PASSWORD', 'KAFKA_TLS_CA'];
/** Optional in the code, and required for a secure deployment. */
const stored = ['SCHEMA_REGISTRY_PASSWORD', 'SCHEMA_REGISTRY_TLS_CA', 'SESSION_KEYS'];

/** Settings of the deployment that override defaults, for services that have them. */
const common = (user: string): Readonly<Record<string, string>> => ({
  // A Pod is reached by its own address.
  HOST: '0.0.0.0',
  // After the preStop pause no new connections come; those that clients keep idle may bring one more request.
  DRAIN_DELAY_MS: '2000',
  KAFKA_BROKERS: `${kafka.bootstrap}:${kafka.port}`,
  KAFKA_TLS: 'on',
  KAFKA_SASL_MECHANISM: 'scram-sha-512',
  KAFKA_SASL_USERNAME: user,
  SCHEMA_REGISTRY_URL: site.schemaRegistry.url,
  SCHEMA_REGISTRY_USERNAME: user,
});

const simulator = serviceOf('provider-simulator');
const ingress = serviceOf('webhook-ingress');

/** Settings of single services. */
export const own: Readonly<Partial<Record<ServiceName, Readonly<Record<string, string>>>>> = {
  // Its Gateway is the only proxy before a public port.
  'payout-gateway': { TRUSTED_PROXIES: '1' },
  'collection-gateway': { TRUSTED_PROXIES: '1' },
  'webhook-ingress': { TRUSTED_PROXIES: '1' },
  console: { TRUSTED_PROXIES: '1', ...operatorApis() },
  'provider-simulator': {
    JOURNAL_FILE: '/data/journal.jsonl',
    PUBLIC_URL: `http://provider-simulator:${simulator.port}`,
    ...callbackSettings(`http://webhook-ingress:${ingress.port}`),
  },
};

/** The environment of a service by its schema: a setting without a default must be given, and a secret is a file. */
export function environmentOf(
  user: string,
  settings: Settings,
  given: Readonly<Record<string, string>>,
): Environment {
  const said: Readonly<Record<string, string>> = { ...common(user), ...given };
  const names = Object.keys(settings);
  const unknown = Object.keys(given).find((name) => !names.includes(name));
  if (unknown !== undefined) throw new Error(`${user} has no setting ${unknown}`);
  const isFile = (name: string): boolean => {
    const setting = settings[name];
    if (!setting || fromKafka.includes(name)) return setting !== undefined;
    if (stored.includes(name)) return true;
    return isSecret(setting) && defaultTextOf(setting) !== undefined;
  };
  const files = names.filter(isFile);
  const values = names.flatMap((name) => {
    const setting = settings[name];
    if (!setting || files.includes(name) || isSecret(setting)) return [];
    const value = said[name] ?? defaultTextOf(setting);
    if (value === null) throw new Error(`${user}: ${name} has no default, and the deployment gives none`);
    return value === undefined || value === '' ? [] : [{ name, value, meaning: meaningOf(setting) }];
  });
  return {
    values,
    files: {
      stored: files.filter((name) => !fromKafka.includes(name)),
      fromKafka: files.filter((name) => fromKafka.includes(name)),
    },
  };
}

/** The file that a ConfigMap is made of. */
export function environmentFile({ values, files }: Environment): string {
  const paths = [...files.stored, ...files.fromKafka].map(
    (name) => `${name}_FILE=${SECRETS_DIRECTORY}/${name}\n`,
  );
  const lines = values.map(({ name, value, meaning }) => `# ${meaning}\n${name}=${value}\n`);
  return [...lines, ...(paths.length > 0 ? ['# secrets, mounted as files\n', ...paths] : [])].join('');
}
