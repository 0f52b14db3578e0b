import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer, Wait } from 'testcontainers';
import type { Addresses } from './environment.ts';
import { messageOf, StartError } from './errors.ts';
import { kafkaEnvironment, kafkaSettings } from './kafka.ts';
import { ensurePrimary } from './mongod.ts';
import { reservePorts } from './ports.ts';
import { probeKafka, probeRegistry } from './probes.ts';
import { registryPath } from './registry.ts';
import { startProbeTimeoutMs, startTimeoutMs, waitUntil } from './wait.ts';

/** What the Docker provider needs. */
export interface DockerOptions {
  readonly log: (line: string) => void;
  readonly env: NodeJS.ProcessEnv;
  readonly fresh: boolean;
}

/** The three containers, all answering. */
export interface Containers {
  readonly env: Addresses;
  close(): Promise<void>;
}

interface Image {
  readonly title: string;
  readonly setting: string;
  readonly standard: string;
}

const images = {
  mongodb: { title: 'MongoDB', setting: 'MONGODB_IMAGE', standard: 'mongo:8' },
  kafka: { title: 'Kafka', setting: 'KAFKA_IMAGE', standard: 'apache/kafka:4.3.1' },
  registry: {
    title: 'Apicurio Registry',
    setting: 'REGISTRY_IMAGE',
    standard: 'apicurio/apicurio-registry:3.0.9',
  },
} as const satisfies Record<string, Image>;

const mongodbPort = 27_017;
const brokerPort = 9_092;
const innerBrokerPort = 19_092;
const controllerPort = 9_093;
const registryPort = 8_080;

/** The image of a container: the one that the environment names, else the default. */
export function imageName(env: NodeJS.ProcessEnv, kind: keyof typeof images): string {
  const named = (env[images[kind].setting] ?? '').trim();
  return named === '' ? images[kind].standard : named;
}

/** The settings of a broker in a container that the host reaches as `host:port`. */
export function kafkaContainerSettings(host: string, port: number): Record<string, string> {
  return kafkaSettings({
    listeners:
      `PLAINTEXT://0.0.0.0:${brokerPort},BROKER://127.0.0.1:${innerBrokerPort},` +
      `CONTROLLER://127.0.0.1:${controllerPort}`,
    // The broker needs another address for itself: the host's port does not exist inside the container.
    advertised: `PLAINTEXT://${host}:${port},BROKER://127.0.0.1:${innerBrokerPort}`,
    interBroker: 'BROKER',
    nodeId: 1,
    voters: [{ id: 1, controllerPort }],
  });
}

interface Opening {
  readonly options: DockerOptions;
  readonly host: string;
  readonly started: StartedTestContainer[];
}

async function run(
  opening: Opening,
  kind: keyof typeof images,
  prepare: (container: GenericContainer) => GenericContainer,
): Promise<StartedTestContainer> {
  const { title, setting } = images[kind];
  const image = imageName(opening.options.env, kind);
  opening.options.log(`starting ${title} in Docker (${image}, fetched where missing)`);
  try {
    // Readiness is checked below and from here, because services will connect from here.
    const container = prepare(new GenericContainer(image))
      .withWaitStrategy(Wait.forLogMessage(/./))
      .withStartupTimeout(startTimeoutMs);
    const started = await container.start();
    opening.started.push(started);
    return started;
  } catch (error) {
    throw new StartError(
      `Docker could not start ${title} from ${image} (${messageOf(error)}): check the engine and the network, ` +
        `set ${setting}, or set PESEWA_INFRASTRUCTURE=local to do without Docker`,
    );
  }
}

async function startMongodb(opening: Opening): Promise<string> {
  const command = ['mongod', '--replSet', 'rs0', '--bind_ip_all', '--wiredTigerCacheSizeGB', '1', '--quiet'];
  command.push('--setParameter', 'transactionLifetimeLimitSeconds=5');
  const container = await run(opening, 'mongodb', (image) =>
    image.withExposedPorts(mongodbPort).withCommand(command),
  );
  // The replica set knows its member by the address inside the container, so clients must connect directly and not
  // follow it.
  const url = `mongodb://${opening.host}:${container.getMappedPort(mongodbPort)}/?directConnection=true`;
  await waitUntil('MongoDB', startTimeoutMs, () => ensurePrimary(url, [`127.0.0.1:${mongodbPort}`]));
  return url;
}

async function startKafka(opening: Opening): Promise<string> {
  const [held] = await reservePorts(1);
  if (held === undefined) throw new StartError('no free port for Kafka');
  await held.release();
  const settings = kafkaEnvironment(kafkaContainerSettings(opening.host, held.port));
  await run(opening, 'kafka', (image) =>
    image
      .withExposedPorts({ container: brokerPort, host: held.port })
      .withEnvironment({ ...settings, KAFKA_HEAP_OPTS: '-Xms256m -Xmx512m' }),
  );
  const address = `${opening.host}:${held.port}`;
  await waitUntil('Kafka', startTimeoutMs, async () => {
    if ((await probeKafka(address, startProbeTimeoutMs)).length < 1)
      throw new Error('it has not joined its cluster yet');
  });
  return address;
}

async function startRegistry(opening: Opening): Promise<string> {
  const container = await run(opening, 'registry', (image) => image.withExposedPorts(registryPort));
  const url = `http://${opening.host}:${container.getMappedPort(registryPort)}${registryPath}`;
  await waitUntil('the schema registry', startTimeoutMs, () => probeRegistry(url, startProbeTimeoutMs));
  return url;
}

async function stopAll(started: readonly StartedTestContainer[]): Promise<void> {
  await Promise.all(started.map((container) => container.stop({ timeout: 0, remove: true })));
}

/**
 * Starts MongoDB, Kafka and the schema registry as containers, from the images in `MONGODB_IMAGE`, `KAFKA_IMAGE` and
 * `REGISTRY_IMAGE` if set. Their data is deleted with them.
 */
export async function openDocker(options: DockerOptions): Promise<Containers> {
  if (!options.fresh)
    options.log('containers keep no data: set PESEWA_INFRASTRUCTURE=local for data that stays');
  const client = await getContainerRuntimeClient();
  const engineHost = client.info.containerRuntime.host;
  // By name, an engine on this machine could be reached over IPv6, for which it may publish another port.
  const host = engineHost === 'localhost' ? '127.0.0.1' : engineHost;
  const opening: Opening = { options, host, started: [] };
  const all = [startMongodb(opening), startKafka(opening), startRegistry(opening)] as const;
  try {
    const [mongodb, kafka, registry] = await Promise.all(all);
    return {
      env: { MONGODB_URL: mongodb, KAFKA_BROKERS: kafka, SCHEMA_REGISTRY_URL: registry },
      close: () => stopAll(opening.started),
    };
  } catch (error) {
    await Promise.allSettled(all);
    await stopAll(opening.started);
    throw error;
  }
}
