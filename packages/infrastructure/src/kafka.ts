import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Supervisor } from './children.ts';
import { type ClassArchive, openClassArchive } from './class-archive.ts';
import { type Daemon, type DaemonHome, daemonOf, type LaunchedNode, launchNode, nodeName } from './daemon.ts';
import { type Cache, ensureCached } from './download.ts';
import { StartError } from './errors.ts';
import type { Java } from './java.ts';
import { reservePorts } from './ports.ts';
import { probeKafka } from './probes.ts';
import { errorLine, fetchJars, runTool } from './tools.ts';
import { startProbeTimeoutMs } from './wait.ts';

const version = '4.3.1';
const stopGraceMs = 15_000;

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

/** A node of the cluster by its id, and the port at which it votes. */
export interface KafkaVoter {
  readonly id: number;
  readonly controllerPort: number;
}

/** Where one node listens and which addresses it advertises, in Kafka's notation. */
export interface KafkaListeners {
  readonly listeners: string;
  readonly advertised: string;
  readonly interBroker: string;
  readonly nodeId: number;
  /** All nodes of the cluster, including this one. */
  readonly voters: readonly KafkaVoter[];
}

/** Lets a cluster of several brokers notice soon that one is gone, and give its partitions back when it returns. */
const clusterSettings = {
  'broker.session.timeout.ms': '6000',
  'leader.imbalance.check.interval.seconds': '5',
  'unclean.leader.election.enable': 'false',
};

/** The settings of a node that is both broker and controller, for the local daemon and the container. */
export function kafkaSettings(where: KafkaListeners): Record<string, string> {
  const { nodeId, voters } = where;
  const replicas = String(Math.min(3, voters.length));
  const inSync = String(Math.max(1, Math.min(3, voters.length) - 1));
  return {
    'process.roles': 'broker,controller',
    'node.id': String(nodeId),
    'controller.quorum.voters': voters
      .map(({ id, controllerPort }) => `${id}@127.0.0.1:${controllerPort}`)
      .join(','),
    listeners: where.listeners,
    'advertised.listeners': where.advertised,
    'inter.broker.listener.name': where.interBroker,
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,BROKER:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'num.partitions': '1',
    'min.insync.replicas': inSync,
    'offsets.topic.num.partitions': '4',
    'offsets.topic.replication.factor': replicas,
    'transaction.state.log.num.partitions': '1',
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': inSync,
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': inSync,
    'group.initial.rebalance.delay.ms': '0',
    // A killed consumer's partitions are free once its session has run out; scenarios of crashes wait for that.
    'group.min.session.timeout.ms': '1000',
    'auto.create.topics.enable': 'false',
    'log.segment.bytes': '67108864',
    ...(voters.length > 1 && clusterSettings),
  };
}

/** A local node with both its ports. */
export interface KafkaPorts extends KafkaVoter {
  readonly brokerPort: number;
}

/** The properties file of one of the `nodes`, all on the loopback address. */
export function kafkaProperties(
  node: KafkaPorts,
  nodes: readonly KafkaVoter[],
  logDirectory: string,
): string {
  const settings = kafkaSettings({
    listeners: `PLAINTEXT://127.0.0.1:${node.brokerPort},CONTROLLER://127.0.0.1:${node.controllerPort}`,
    advertised: `PLAINTEXT://127.0.0.1:${node.brokerPort}`,
    interBroker: 'PLAINTEXT',
    nodeId: node.id,
    voters: nodes,
  });
  return Object.entries({ ...settings, 'log.dirs': logDirectory })
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}

/** The same settings as the variables that the `apache/kafka` image reads: `node.id` is `KAFKA_NODE_ID`. */
export function kafkaEnvironment(settings: Record<string, string>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [
      `KAFKA_${key.toUpperCase().replaceAll('.', '_')}`,
      value,
    ]),
  );
}

/** The file by which a broker recognises a formatted log directory. Both ids are base64url UUIDs. */
export function metaProperties(clusterId: string, directoryId: string, nodeId: number): string {
  return `cluster.id=${clusterId}\ndirectory.id=${directoryId}\nnode.id=${nodeId}\nversion=1\n`;
}

function newId(): string {
  const id = randomBytes(16).toString('base64url');
  // Kafka refuses ids that start like an option.
  return id.startsWith('-') ? newId() : id;
}

async function format(cache: Cache, java: Java, kept: string, scratch: string): Promise<void> {
  const properties = join(scratch, 'server.properties');
  const logs = join(kept, 'formatted');
  const node = { id: 1, brokerPort: 9092, controllerPort: 9093 };
  await writeFile(properties, kafkaProperties(node, [node], logs));
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
  throw new StartError(`Kafka's storage could not be formatted: ${errorLine(run?.lines ?? [])}`);
}

/** Downloads Kafka's jars unless they are cached; gives their folder. */
export function ensureKafka(cache: Cache, java: Java): Promise<string> {
  return ensureCached(cache, {
    key: `kafka-${version}`,
    title: `Kafka ${version}`,
    version,
    async fetch(kept, scratch) {
      await writeFile(join(kept, 'pom.xml'), pom);
      await fetchJars(cache, kept, join(scratch, 'repository'));
      // Formatting takes a second of Java, and its result differs only in two ids, so the result is cached.
      await format(cache, java, kept, scratch);
    },
  });
}

async function ensureFormatted(
  installation: string,
  logDirectory: string,
  ids: { readonly clusterId: string; readonly nodeId: number },
): Promise<void> {
  await mkdir(logDirectory, { recursive: true });
  const meta = join(logDirectory, 'meta.properties');
  if ((await stat(meta).catch(() => undefined)) !== undefined) return;
  const template = join(installation, 'formatted');
  for (const name of await readdir(template)) {
    if (name !== 'meta.properties') await copyFile(join(template, name), join(logDirectory, name));
  }
  await writeFile(meta, metaProperties(ids.clusterId, newId(), ids.nodeId));
}

/** What the nodes of a cluster need at their start. */
interface Launch {
  readonly supervisor: Supervisor;
  readonly java: Java;
  readonly installation: string;
  readonly clusterId: string;
  readonly nodes: readonly KafkaPorts[];
  readonly archive: ClassArchive;
}

/**
 * Rejects unless a broker answers, and it and all other answering brokers know it to be up: its own knowledge from
 * before a pause may be out of date.
 */
async function checkJoined(node: KafkaPorts, nodes: readonly KafkaPorts[]): Promise<void> {
  const views = await Promise.all(
    nodes.map((one) => {
      const address = `127.0.0.1:${one.brokerPort}`;
      return one.id === node.id
        ? probeKafka(address, startProbeTimeoutMs)
        : probeKafka(address).catch(() => undefined);
    }),
  );
  if (views.some((known) => known !== undefined && !known.includes(node.id)))
    throw new Error('it has not joined its cluster yet');
}

async function launchBroker(launch: Launch, node: KafkaPorts, home: DaemonHome): Promise<LaunchedNode> {
  const { supervisor, java, installation, clusterId, nodes, archive } = launch;
  const { dataDirectory, fresh } = home;
  const logDirectory = join(dataDirectory, 'logs');
  const properties = join(dataDirectory, 'server.properties');
  const loggingFile = join(dataDirectory, 'log4j2.properties');
  const logFile = join(dataDirectory, 'kafka.log');
  const name = nodeName('Kafka', node.id - 1, nodes.length);
  const address = `127.0.0.1:${node.brokerPort}`;
  await ensureFormatted(installation, logDirectory, { clusterId, nodeId: node.id });
  await Promise.all([
    writeFile(properties, kafkaProperties(node, nodes, logDirectory)),
    writeFile(loggingFile, logging),
  ]);
  const memory = nodes.length === 1 ? ['-Xms256m', '-Xmx512m'] : ['-Xms128m', '-Xmx384m'];
  const jvm = [...memory, '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', ...archive.args];
  const where = [`-Dlog4j2.configurationFile=${loggingFile}`, '-cp', join(installation, 'libs', '*')];
  return launchNode({
    name,
    address,
    logFile,
    stopGraceMs,
    launch: async () => {
      const child = await supervisor.spawnChild({
        name,
        command: java.command,
        args: [...jvm, ...where, 'kafka.Kafka', properties],
        logFile,
        stopSignal: fresh && !archive.recording ? 'SIGKILL' : 'SIGTERM',
        stopGraceMs,
      });
      archive.keepAfter(child);
      return child;
    },
    check: () => checkJoined(node, nodes),
  });
}

/** Starts one node of a cluster for each home, and waits until all have joined. The url is a list of `host:port`. */
export async function startKafka(
  supervisor: Supervisor,
  java: Java,
  installation: string,
  homes: readonly DaemonHome[],
): Promise<Daemon> {
  const held = await reservePorts(2 * homes.length);
  const nodes = homes.map((_, index) => ({
    id: index + 1,
    brokerPort: held[2 * index]?.port ?? 0,
    controllerPort: held[2 * index + 1]?.port ?? 0,
  }));
  // Only a single process can write the archive; with several nodes none does.
  const archive = await openClassArchive(installation, java, { mayRecord: homes.length === 1 });
  await Promise.all(held.map((port) => port.release()));
  const launch = { supervisor, java, installation, clusterId: newId(), nodes, archive };
  const launched = await Promise.all(
    homes.map((home, index) => {
      const node = nodes[index];
      if (node === undefined) throw new StartError('no free ports for Kafka');
      return launchBroker(launch, node, home);
    }),
  );
  await Promise.all(launched.map((node) => node.ready()));
  return daemonOf(launched.map((node) => node.address).join(','), launched, archive.recording);
}
