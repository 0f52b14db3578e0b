import { readFileSync } from 'node:fs';
import type { Service } from '@pesewa/contracts';
import { z } from 'zod';
import {
  connectionSettings,
  environmentSetting,
  type SettingProblem,
  secret,
} from './connection-settings.ts';
import { issuerSettings } from './operator-tokens.ts';
import { operatorsSetting } from './operators.ts';
import { tracingSettings } from './tracing.ts';

/** A configuration that can't be used; lists every problem, each with its variable's name. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Reads a configuration from environment variables; empty ones count as absent. Each setting may also be given as a
 * file, whose path is in the variable of its name with `_FILE`. A {@link ConfigError} quotes no values.
 */
export function parseConfig<Schema extends z.ZodType>(
  schema: Schema,
  environment: Environment,
): z.output<Schema> {
  const parsed = schema.safeParse(resolveFileVariables(settingNames(schema), environment));
  if (parsed.success) return parsed.data;
  throw configError(
    parsed.error.issues.map(({ path, message }) => ({ variable: path.map(String).join('.'), message })),
  );
}

/** The error that lists problems of a configuration. */
export function configError(problems: readonly SettingProblem[]): ConfigError {
  const lines = problems.map(({ variable, message }) => `  ${variable}: ${message}`);
  return new ConfigError(`the configuration has ${lines.length} problem(s):\n${lines.join('\n')}`);
}

/**
 * The environment without empty variables and with the content of files for the settings of these names, without their
 * last line end.
 */
export function resolveFileVariables(names: readonly string[], environment: Environment): Environment {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const problems: SettingProblem[] = [];
  const read = (name: string): readonly [string, string][] => {
    const variable = `${name}_FILE`;
    const path = names.includes(variable) ? undefined : present[variable];
    if (path === undefined) return [];
    if (present[name] !== undefined) {
      problems.push({ variable, message: `is set beside ${name}: unset one of them` });
      return [];
    }
    try {
      return [[name, readFileSync(path, 'utf8').replace(/\r?\n$/, '')]];
    } catch (error) {
      const code = error instanceof Error && 'code' in error ? String(error.code) : 'unreadable';
      problems.push({ variable, message: `the file can't be read (${code}): check the path and its rights` });
      return [];
    }
  };
  const files = Object.fromEntries(names.flatMap(read));
  if (problems.length > 0) throw configError(problems);
  return { ...present, ...files };
}

/** The variables of a schema, even if the schema transforms its result. */
function settingNames(schema: unknown): readonly string[] {
  if (schema instanceof z.ZodObject) return Object.keys(schema.shape);
  return schema instanceof z.ZodPipe ? settingNames(schema.in) : [];
}

/** The value of a JSON text from an environment variable; its schema follows by `pipe`. */
export const jsonSetting = z.string().transform((text, context): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    context.addIssue({ code: 'custom', message: 'must be JSON' });
    return z.NEVER;
  }
});

/** A whole number from an environment variable, within bounds. */
export function wholeNumberSetting(bounds: { readonly min: number; readonly max: number }) {
  return z.coerce.number().int().min(bounds.min).max(bounds.max);
}

/** A duration from an environment variable, in milliseconds. */
export const durationMsSetting = wholeNumberSetting({ min: 0, max: 7 * 24 * 3_600_000 });

const portSetting = wholeNumberSetting({ min: 0, max: 65_535 });

/** The settings of every service; each service's `config.ts` extends them. */
export const serviceSettings = tracingSettings.extend({
  HOST: z.string().default('127.0.0.1').describe('address to listen on'),
  OPERATIONS_HOST: z
    .string()
    .optional()
    .describe('address that the operations port listens on; by default that of HOST'),
  PORT: portSetting.describe('port of the public API'),
  OPERATIONS_PORT: portSetting.describe('port of health, metrics and operator APIs'),
  OPERATOR_TOKEN: z
    .string()
    .min(16)
    .describe(
      'bearer token of the operator APIs; its holder is named `operator` and may only look except in development',
    )
    .meta(secret),
  OPERATORS: operatorsSetting
    .describe('further operators as `name:role:SHA-256 of the token in hex`, separated by commas')
    .meta(secret),
  ...issuerSettings,
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('lowest level that is logged'),
  DRAIN_DELAY_MS: wholeNumberSetting({ min: 0, max: 10_000 })
    .default(0)
    .describe('how long the public port still accepts connections and requests once the process is ending'),
  NODE_ENV: environmentSetting,
  CRASH_AT: z
    .string()
    .regex(/^(@.+|[a-z.-]+(:[1-9][0-9]*(:freeze(:[A-Za-z.]+)?)?)?)$/, {
      error: 'must be name, name:n, name:n:freeze, name:n:freeze:text or @file',
    })
    .optional()
    .describe(
      'crash point, for tests only: `name:n`, `name:n:freeze`, `name:n:freeze:text`, or `@file` with one of these',
    ),
});

/** The ports of a service, by default its declared ones; for `extend` of its settings. */
export function portSettings({ port, operationsPort, isPublic }: Service) {
  const { PORT, OPERATIONS_PORT } = serviceSettings.shape;
  const withDefault = PORT.default(port);
  return {
    PORT: isPublic ? withDefault : withDefault.describe('not opened'),
    OPERATIONS_PORT: OPERATIONS_PORT.default(operationsPort),
  };
}

/** What a server has in all. */
const CONNECTIONS_MAX = 10_000;

/** The settings of a port that strangers reach; for `extend` of a service's settings. */
export const publicPortSettings = {
  CONNECTIONS_PER_ADDRESS_MAX: wholeNumberSetting({ min: 1, max: CONNECTIONS_MAX })
    .default(2_000)
    .describe('connections that one address may have to the public port; not bounded behind trusted proxies'),
};

/** How a service listens on its public port, for `serveHttp`. */
export const publicPort = (
  config: Readonly<
    Record<'PORT' | 'DRAIN_DELAY_MS' | 'CONNECTIONS_PER_ADDRESS_MAX' | 'TRUSTED_PROXIES', number> &
      Record<'HOST', string>
  >,
) => ({
  host: config.HOST,
  port: config.PORT,
  drainDelayMs: config.DRAIN_DELAY_MS,
  // A proxy has one address for all the clients that it stands for.
  connectionsPerAddressMax: config.TRUSTED_PROXIES > 0 ? CONNECTIONS_MAX : config.CONNECTIONS_PER_ADDRESS_MAX,
});

/** The settings of services that use MongoDB and Kafka. */
export const messagingSettings = connectionSettings.extend({
  DATABASE_PREFIX: z
    .string()
    .regex(/^[a-z0-9_-]{0,24}$/)
    .default('')
    .describe('prefix of every database name'),
  TOPIC_PREFIX: z
    .string()
    .regex(/^[a-z0-9._-]{0,40}$/)
    .default('')
    .describe('prefix of every topic and consumer group'),
  CONSUMER_SESSION_TIMEOUT_MS: wholeNumberSetting({ min: 1_000, max: 300_000 })
    .default(30_000)
    .describe(
      'how long a consumer may be silent before it loses its partitions; not less than the brokers allow (`group.min.session.timeout.ms`, by default 6000)',
    ),
  PARKED_IN_A_ROW_MAX: wholeNumberSetting({ min: 1, max: 10_000 })
    .default(10)
    .describe('number of consecutively parked messages after which a partition stops'),
  // Room for 1,000 payments a second for two hours, or 4,000 for half an hour: an event takes about 600 bytes.
  OUTBOX_WAITING_BYTES_MAX: wholeNumberSetting({ min: 1_000, max: Number.MAX_SAFE_INTEGER })
    .default(4 * 1_024 * 1_024 * 1_024)
    .describe('how many bytes of events may wait for Kafka before no new work is accepted'),
});
