import {
  type ConnectionSettings,
  configError,
  connectionProblems,
  connectionSettings,
  environmentSetting,
  parseConfig,
} from '@pesewa/runtime';
import type { z } from 'zod';
import { type AddressName, inOneLine, type ResolvedAddresses, requireAddress } from './config.ts';

/**
 * The address of MongoDB, by the rules of the services (docs/connections.md): an address from an option or a variable
 * must be secure in production; that of a running stack is on this machine.
 */
export function requireMongodbUrl(addresses: ResolvedAddresses, env: NodeJS.ProcessEnv): string {
  const url = requireAddress(addresses, 'mongodbUrl');
  if (addresses.ofRunningStack.has('mongodbUrl')) return url;
  const schema = connectionSettings
    .pick({ MONGODB_URL: true, ALLOW_INSECURE: true })
    .extend({ NODE_ENV: environmentSetting });
  judge(read(schema, { ...withoutFiles(env, ['MONGODB_URL']), MONGODB_URL: url }));
  return url;
}

/** The settings of connections, and the rules by which the brokers are checked. */
export interface CheckedConnections extends ConnectionSettings {
  readonly NODE_ENV: z.output<typeof environmentSetting>;
}

/** All settings of connections, by the same rules. */
export function requireConnections(addresses: ResolvedAddresses, env: NodeJS.ProcessEnv): CheckedConnections {
  const variables = {
    mongodbUrl: 'MONGODB_URL',
    kafkaBrokers: 'KAFKA_BROKERS',
    schemaRegistryUrl: 'SCHEMA_REGISTRY_URL',
  } as const satisfies Partial<Record<AddressName, keyof ConnectionSettings>>;
  const names = ['mongodbUrl', 'kafkaBrokers', 'schemaRegistryUrl'] as const;
  const given = Object.fromEntries(names.map((name) => [variables[name], requireAddress(addresses, name)]));
  const settings = read(connectionSettings.extend({ NODE_ENV: environmentSetting }), {
    ...withoutFiles(env, Object.keys(given)),
    ...given,
  });
  const ofRunningStack = names.filter((name) => addresses.ofRunningStack.has(name));
  judge({
    ...settings,
    ...Object.fromEntries(ofRunningStack.map((name) => [variables[name], undefined])),
  });
  return settings;
}

/** The variables without the files of addresses, which were read when the addresses were resolved. */
function withoutFiles(env: NodeJS.ProcessEnv, names: readonly string[]): NodeJS.ProcessEnv {
  return { ...env, ...Object.fromEntries(names.map((name) => [`${name}_FILE`, undefined])) };
}

function judge(settings: Parameters<typeof connectionProblems>[0]): void {
  const problems = connectionProblems(settings);
  if (problems.length > 0) throw inOneLine(configError(problems));
}

function read<Schema extends z.ZodType>(schema: Schema, env: NodeJS.ProcessEnv): z.output<Schema> {
  try {
    return parseConfig(schema, env);
  } catch (error) {
    throw inOneLine(error);
  }
}
