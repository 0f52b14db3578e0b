import { z } from 'zod';
import { operatorsSetting } from './operators.ts';

/** A configuration that can't be used: every problem at once, each with the variable's name. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError';
}

/** Reads a configuration from environment variables; empty ones count as absent. */
export function parseConfig<Schema extends z.ZodType>(
  schema: Schema,
  environment: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  const present = Object.fromEntries(Object.entries(environment).filter(([, value]) => value !== ''));
  const parsed = schema.safeParse(present);
  if (parsed.success) return parsed.data;
  const problems = parsed.error.issues.map(
    (issue) => `  ${issue.path.map(String).join('.')}: ${issue.message}`,
  );
  throw new ConfigError(`the configuration has ${problems.length} problem(s):\n${problems.join('\n')}`);
}

/** A whole number from an environment variable, within bounds. */
export function wholeNumberSetting(bounds: { readonly min: number; readonly max: number }) {
  return z.coerce.number().int().min(bounds.min).max(bounds.max);
}

/** A duration from an environment variable, in milliseconds. */
export const durationMsSetting = wholeNumberSetting({ min: 0, max: 7 * 24 * 3_600_000 });

const portSetting = wholeNumberSetting({ min: 0, max: 65_535 });

/** The settings that every service has; each service's `config.ts` extends them. */
export const serviceSettings = z.object({
  HOST: z.string().default('127.0.0.1').describe('address to listen on'),
  PORT: portSetting.describe('port of the public API'),
  OPERATIONS_PORT: portSetting.describe('port of health, metrics and operator APIs'),
  OPERATOR_TOKEN: z
    .string()
    .min(16)
    .describe(
      'bearer token of the operator APIs; whoever has it is `operator`, who orders in development alone',
    ),
  OPERATORS: operatorsSetting.describe(
    'further operators as `name:SHA-256 of the token in hex`, separated by commas',
  ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .describe('least level that is logged'),
  NODE_ENV: z
    .enum(['development', 'test', 'production'])
    .default('development')
    .describe('`production` refuses unsafe switches'),
  CRASH_AT: z
    .string()
    .regex(/^[a-z.-]+(:[1-9][0-9]*(:freeze)?)?$/, { error: 'must be name, name:n or name:n:freeze' })
    .optional()
    .describe('crash point to die at, as name:n, or to be stopped at, as name:n:freeze (tests only)'),
});

/** The settings of services that stand between MongoDB and Kafka. */
export const messagingSettings = z.object({
  MONGODB_URL: z.string().describe('connection string of the MongoDB replica set'),
  KAFKA_BROKERS: z
    .string()
    .transform((list) => list.split(',').map((broker) => broker.trim()))
    .describe('host:port list, separated by commas'),
  SCHEMA_REGISTRY_URL: z.url().describe('base of the Confluent-compatible schema registry API'),
  DATABASE_PREFIX: z
    .string()
    .regex(/^[a-z0-9_-]{0,24}$/)
    .default('')
    .describe('put before every database name'),
  TOPIC_PREFIX: z
    .string()
    .regex(/^[a-z0-9._-]{0,40}$/)
    .default('')
    .describe('put before every topic and consumer group'),
  CONSUMER_SESSION_TIMEOUT_MS: wholeNumberSetting({ min: 6_000, max: 300_000 })
    .default(30_000)
    .describe('after how long a consumer that went silent loses its partitions'),
});
