import { randomBytes } from 'node:crypto';
import type { Addresses } from '@pesewa/infrastructure';
import { createKafka, createTopics } from '@pesewa/kafka';
import { createIds, systemClock, systemRandom } from '@pesewa/kernel';
import { registerSchemas } from '@pesewa/messaging';
import { createHealth, createLogger, createRequestMeter, type ServiceScope } from '@pesewa/runtime';
import { Hono } from 'hono';
import { Registry } from 'prom-client';

/** The settings that openMessaging needs, with names of this test's own. */
export interface TestConfig {
  readonly MONGODB_URL: string;
  readonly KAFKA_BROKERS: readonly string[];
  readonly SCHEMA_REGISTRY_URL: string;
  readonly DATABASE_PREFIX: string;
  readonly TOPIC_PREFIX: string;
  readonly CONSUMER_SESSION_TIMEOUT_MS: number;
  readonly PARKED_IN_A_ROW_MAX: number;
  readonly OUTBOX_WAITING_BYTES_MAX: number;
  readonly NODE_ENV: 'test' | 'production';
}

/** A service's scope without its process: closes what it opened, and keeps the reason it was aborted with. */
export interface TestScope extends ServiceScope<TestConfig>, AsyncDisposable {
  readonly aborted: Promise<Error>;
}

/** A setting by which the test runner passes on the daemons that it started. */
function required(name: string): string {
  const value = process.env[name];
  if (value === undefined) throw new Error(`${name} is not set: run these tests by npm run test:int`);
  return value;
}

/**
 * Prepares databases and topics of a test file's own, which exist when this resolves; on the daemons of the test
 * runner unless others are given.
 */
export async function prepareTestEnvironment(
  addresses: (name: keyof Addresses) => string = required,
): Promise<TestConfig> {
  const prefix = `t${randomBytes(4).toString('hex')}`;
  const config: TestConfig = {
    MONGODB_URL: addresses('MONGODB_URL'),
    KAFKA_BROKERS: addresses('KAFKA_BROKERS').split(','),
    SCHEMA_REGISTRY_URL: addresses('SCHEMA_REGISTRY_URL'),
    DATABASE_PREFIX: `${prefix}_`,
    TOPIC_PREFIX: `${prefix}.`,
    CONSUMER_SESSION_TIMEOUT_MS: 6_000,
    PARKED_IN_A_ROW_MAX: 10,
    OUTBOX_WAITING_BYTES_MAX: 1_000_000_000,
    NODE_ENV: 'test',
  };
  const kafka = createTestKafka(config);
  const names = { topicPrefix: config.TOPIC_PREFIX };
  await Promise.all([
    createTopics({ kafka, brokers: config.KAFKA_BROKERS.length, ...names }),
    registerSchemas({ registryUrl: config.SCHEMA_REGISTRY_URL, ...names }),
  ]);
  return config;
}

/** A Kafka client for a test's own producing and reading. */
export function createTestKafka(config: Pick<TestConfig, 'KAFKA_BROKERS'>) {
  return createKafka({ brokers: config.KAFKA_BROKERS, clientId: 'test', log: () => undefined });
}

/** Opens a scope for one instance of a service under test. */
export function openTestScope(
  config: TestConfig,
  overrides: Partial<ServiceScope<TestConfig>> = {},
): TestScope {
  const resources = new AsyncDisposableStack();
  const abort = Promise.withResolvers<Error>();
  const metrics = new Registry();
  return {
    config,
    logger: createLogger({ name: 'test', level: process.env['TEST_LOG_LEVEL'] ?? 'silent' }),
    metrics,
    requests: createRequestMeter(metrics),
    health: createHealth(),
    clock: systemClock,
    random: systemRandom,
    ids: createIds(systemClock, systemRandom),
    crashPoint: () => undefined,
    operator: new Hono(),
    open: async (_name, resource) => resources.use(await resource),
    abort: abort.resolve,
    aborted: abort.promise,
    ...overrides,
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
