import {
  type ConnectionSettings,
  configError,
  connectionProblems,
  connectionSettings,
  environmentSetting,
  parseConfig,
} from '@pesewa/runtime';
import type { z } from 'zod';
import { inOneLine, requireVariable, type Surroundings } from './config.ts';

/**
 * The address of MongoDB, by the rules of the services (docs/connections.md): an address from a variable must be secure in
 * production; that of a running stack is on this machine.
 */
export function requireMongodbUrl(surroundings: Surroundings, env: NodeJS.ProcessEnv): string {
  const url = requireVariable(surroundings, 'MONGODB_URL');
  if (surroundings.ofRunningStack.has('MONGODB_URL')) return url;
  const schema = connectionSettings
    .pick({ MONGODB_URL: true, ALLOW_INSECURE: true })
    .extend({ NODE_ENV: environmentSetting });
  judge(read(schema, env, { MONGODB_URL: url }));
  return url;
}

/** The settings of connections, and the rules by which the brokers are checked. */
export interface CheckedConnections extends ConnectionSettings {
  readonly NODE_ENV: z.output<typeof environmentSetting>;
}

/** All settings of connections, by the same rules. */
export function requireConnections(surroundings: Surroundings, env: NodeJS.ProcessEnv): CheckedConnections {
  const names = ['MONGODB_URL', 'KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL'];
  const given = Object.fromEntries(names.map((name) => [name, requireVariable(surroundings, name)]));
  const settings = read(connectionSettings.extend({ NODE_ENV: environmentSetting }), env, given);
  const ofRunningStack = names.filter((name) => surroundings.ofRunningStack.has(name));
  judge({ ...settings, ...Object.fromEntries(ofRunningStack.map((name) => [name, undefined])) });
  return settings;
}

function judge(settings: Parameters<typeof connectionProblems>[0]): void {
  const problems = connectionProblems(settings);
  if (problems.length > 0) throw inOneLine(configError(problems));
}

/** Reads settings with these resolved values, whose files were read already. */
function read<Schema extends z.ZodType>(
  schema: Schema,
  env: NodeJS.ProcessEnv,
  given: Readonly<Record<string, string>>,
): z.output<Schema> {
  const files = Object.keys(given).map((name) => [`${name}_FILE`, undefined] as const);
  try {
    return parseConfig(schema, { ...env, ...Object.fromEntries(files), ...given });
  } catch (error) {
    throw inOneLine(error);
  }
}
