import { messageOf, StartError } from './errors.ts';
import { probeKafka, probeMongo, probeRegistry } from './probes.ts';

/** The three addresses that every service is given. Brokers are `host:port`, separated by commas. */
export interface Addresses {
  readonly MONGODB_URL: string;
  readonly KAFKA_BROKERS: string;
  /** The registry's Confluent-compatible base, as in `http://127.0.0.1:8080/apis/ccompat/v7`. */
  readonly SCHEMA_REGISTRY_URL: string;
}

/** Servers that are there may be slow on a busy machine; where none is, the connection is refused at once. */
const CHECK_TIMEOUT_MS = 15_000;

const names = ['MONGODB_URL', 'KAFKA_BROKERS', 'SCHEMA_REGISTRY_URL'] as const;

/**
 * Reads the addresses from an environment; undefined if none is set, and a one-line StartError if only some are. An
 * empty value counts as not set.
 */
export function addressesIn(env: NodeJS.ProcessEnv): Addresses | undefined {
  const missing = names.filter((name) => (env[name] ?? '').trim() === '');
  if (missing.length === names.length) return undefined;
  if (missing.length > 0) {
    const present = names.filter((name) => !missing.includes(name));
    throw new StartError(
      `${present.join(' and ')} set without ${missing.join(' and ')}: set all three addresses, or none`,
    );
  }
  return {
    MONGODB_URL: (env['MONGODB_URL'] ?? '').trim(),
    KAFKA_BROKERS: (env['KAFKA_BROKERS'] ?? '').trim(),
    SCHEMA_REGISTRY_URL: (env['SCHEMA_REGISTRY_URL'] ?? '').trim(),
  };
}

/** A refusal that names the variable but never its value, which may hold a password. */
function refusal(name: keyof Addresses, what: string, remedy: string): StartError {
  return new StartError(`${name}: ${what}: ${remedy}, or unset ${names.join(', ')}`);
}

/** An error that names the variable but not its value, which may hold a password. */
function withoutAddress(thrown: unknown): string {
  return messageOf(thrown).replaceAll(/\S*\/\/\S+/g, 'the address');
}

async function checkMongo(url: string): Promise<void> {
  const state = await probeMongo(url).catch((error: unknown) => {
    throw refusal('MONGODB_URL', `no answer (${withoutAddress(error)})`, 'start MongoDB there');
  });
  if (state.replicaSet === undefined && !state.sharded) {
    throw refusal(
      'MONGODB_URL',
      'the server is in no replica set',
      'start it with --replSet and initiate the set',
    );
  }
}

async function checkKafka(brokers: string): Promise<void> {
  const addresses = brokers.split(',').map((address) => address.trim());
  await Promise.any(
    addresses.map(async (address) => {
      if ((await probeKafka(address, CHECK_TIMEOUT_MS)).length < 1)
        throw new Error('the broker knows of no cluster');
    }),
  ).catch((error: unknown) => {
    const first: unknown = error instanceof AggregateError ? error.errors[0] : error;
    throw refusal('KAFKA_BROKERS', `no answer (${withoutAddress(first)})`, 'start Kafka there');
  });
}

async function checkRegistry(url: string): Promise<void> {
  await probeRegistry(url, CHECK_TIMEOUT_MS).catch((error: unknown) => {
    throw refusal(
      'SCHEMA_REGISTRY_URL',
      `no answer (${withoutAddress(error)})`,
      `start a registry there and give its Confluent-compatible base`,
    );
  });
}

/** Checks that all three answer; rejects with a one-line StartError that names the variable. */
export async function checkAddresses(addresses: Addresses): Promise<void> {
  await Promise.all([
    checkMongo(addresses.MONGODB_URL),
    checkKafka(addresses.KAFKA_BROKERS),
    checkRegistry(addresses.SCHEMA_REGISTRY_URL),
  ]);
}

/** The settings of infrastructure without TLS and credentials, in the form that `prepareTopics` takes. */
export function plainSettings({ KAFKA_BROKERS, SCHEMA_REGISTRY_URL }: Addresses): {
  readonly KAFKA_BROKERS: string[];
  readonly SCHEMA_REGISTRY_URL: string;
} {
  return { KAFKA_BROKERS: KAFKA_BROKERS.split(','), SCHEMA_REGISTRY_URL };
}
