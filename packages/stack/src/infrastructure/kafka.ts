import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Supervisor } from './children.ts';
import { openClassArchive } from './class-archive.ts';
import { type Cache, ensureCached } from './download.ts';
import { StackError } from './errors.ts';
import type { Java } from './java.ts';
import type { Daemon, DaemonHome } from './mongod.ts';
import { holdPorts } from './ports.ts';
import { probeKafka } from './probes.ts';
import { fetchJars, runTool, tellingLine } from './tools.ts';
import { waitForDaemon } from './wait.ts';

const version = '4.3.1';
const startTimeoutMs = 60_000;

const pom = `<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>pesewa</groupId><artifactId>kafka</artifactId><version>1</version>
  <dependencies>
    <dependency>
      <groupId>org.apache.kafka</groupId><artifactId>kafka_2.13</artifactId><version>${version}</version>
    </dependency>
    <dependency>
      <groupId>org.apache.logging.log4j</groupId><artifactId>log4j-slf4j-impl</artifactId><version>2.25.4</version>
    </dependency>
  </dependencies>
</project>
`;

const logging = `rootLogger.level = error
rootLogger.appenderRef.console.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d{ISO8601} %p %m (%c)%n
`;

/** Where one node listens and is told to be, in Kafka's own notation. */
export interface KafkaListeners {
  readonly listeners: string;
  readonly advertised: string;
  readonly controllerPort: number;
  readonly interBroker: string;
}

/** The settings of a node that is broker and controller in one, alike for the local daemon and the container. */
export function kafkaSettings(where: KafkaListeners): Record<string, string> {
  return {
    'process.roles': 'broker,controller',
    'node.id': '1',
    'controller.quorum.voters': `1@127.0.0.1:${where.controllerPort}`,
    listeners: where.listeners,
    'advertised.listeners': where.advertised,
    'inter.broker.listener.name': where.interBroker,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'num.partitions': '1',
    'offsets.topic.num.partitions': '4',
    'offsets.topic.replication.factor': '1',
    'transaction.state.log.num.partitions': '1',
    'transaction.state.log.replication.factor': '1',
    'transaction.state.log.min.isr': '1',
    'share.coordinator.state.topic.replication.factor': '1',
    'share.coordinator.state.topic.min.isr': '1',
    'group.initial.rebalance.delay.ms': '0',
    'auto.create.topics.enable': 'false',
    'log.segment.bytes': '67108864',
  };
}

/** The local broker's properties file, all on the loopback address. */
export function kafkaProperties(brokerPort: number, controllerPort: number, logDirectory: string): string {
  const settings = kafkaSettings({
    listeners: `PLAINTEXT://127.0.0.1:${brokerPort},CONTROLLER://127.0.0.1:${controllerPort}`,
    advertised: `PLAINTEXT://127.0.0.1:${brokerPort}`,
    controllerPort,
    interBroker: 'PLAINTEXT',
  });
  return Object.entries({ ...settings, 'log.dirs': logDirectory })
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

/** The same settings as the variables the `apache/kafka` image reads: `node.id` is `KAFKA_NODE_ID`. */
export function kafkaEnvironment(settings: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      `KAFKA_${key.toUpperCase().replaceAll('.', '_')}`,
      value,
    ]),
  );
}

/** The file by which a formatted log directory is known to the broker. Both ids are base64url UUIDs. */
export function metaProperties(clusterId: string, directoryId: string): string {
  return `cluster.id=${clusterId}\ndirectory.id=${directoryId}\nnode.id=1\nversion=1\n`;
}

function newId(): string {
  const id = randomBytes(16).toString('base64url');
  // Kafka refuses ids that start like an option.
  return id.startsWith('-') ? newId() : id;
}

async function format(cache: Cache, java: Java, kept: string, scratch: string): Promise<void> {
  const properties = join(scratch, 'server.properties');
  const logs = join(kept, 'formatted');
  await writeFile(properties, kafkaProperties(9092, 9093, logs));
  const args = [
    '-cp',
    join(kept, 'libs', '*'),
    'kafka.tools.StorageTool',
    'format',
    '-t',
    newId(),
    '-c',
    properties,
  ];
  const run = await runTool(cache.supervisor, { command: java.command, args, env: cache.env });
  if (run?.code === 0) return;
  throw new StackError(`Kafka's storage could not be formatted: ${tellingLine(run?.lines ?? [])}`);
}

/** Fetches Kafka's jars where they are not cached, and answers the folder. */
export function ensureKafka(cache: Cache, java: Java): Promise<string> {
  return ensureCached(cache, {
    key: `kafka-${version}`,
    title: `Kafka ${version}`,
    version,
    async fetch(kept, scratch) {
      await writeFile(join(kept, 'pom.xml'), pom);
      await fetchJars(cache, kept, join(scratch, 'repository'));
      // Formatting takes a second of Java; its outcome is the same every time but for two ids.
      await format(cache, java, kept, scratch);
    },
  });
}

async function ensureFormatted(installation: string, logDirectory: string): Promise<void> {
  await mkdir(logDirectory, { recursive: true });
  const meta = join(logDirectory, 'meta.properties');
  if ((await stat(meta).catch(() => undefined)) !== undefined) return;
  const template = join(installation, 'formatted');
  for (const name of await readdir(template)) {
    if (name !== 'meta.properties') await copyFile(join(template, name), join(logDirectory, name));
  }
  await writeFile(meta, metaProperties(newId(), newId()));
}

/** Starts a broker of one node and waits until it leads its own cluster. The url is `host:port`. */
export async function startKafka(
  supervisor: Supervisor,
  java: Java,
  installation: string,
  home: DaemonHome,
): Promise<Daemon> {
  const { dataDirectory, fresh } = home;
  const logDirectory = join(dataDirectory, 'logs');
  const properties = join(dataDirectory, 'server.properties');
  const loggingFile = join(dataDirectory, 'log4j2.properties');
  const logFile = join(dataDirectory, 'kafka.log');
  await ensureFormatted(installation, logDirectory);
  const [broker, controller] = await holdPorts(2);
  if (broker === undefined || controller === undefined) throw new StackError('no free ports for Kafka');
  await Promise.all([
    writeFile(properties, kafkaProperties(broker.port, controller.port, logDirectory)),
    writeFile(loggingFile, logging),
  ]);
  await Promise.all([broker.release(), controller.release()]);
  const archive = await openClassArchive(installation, java);
  const jvm = ['-Xms256m', '-Xmx512m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', ...archive.args];
  const child = await supervisor.spawnChild({
    name: 'Kafka',
    command: java.command,
    args: [
      ...jvm,
      `-Dlog4j2.configurationFile=${loggingFile}`,
      '-cp',
      join(installation, 'libs', '*'),
      'kafka.Kafka',
      properties,
    ],
    logFile,
    stopSignal: fresh && !archive.recording ? 'SIGKILL' : 'SIGTERM',
    stopGraceMs: 15_000,
  });
  archive.keepAfter(child);
  const address = `127.0.0.1:${broker.port}`;
  await waitForDaemon(child, logFile, startTimeoutMs, async () => {
    if ((await probeKafka(address)) < 1) throw new Error('it has not joined its cluster yet');
  });
  return { child, url: address, recording: archive.recording };
}
