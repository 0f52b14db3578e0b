import { mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { createSupervisor, type Supervisor } from './children.ts';
import { type Daemon, type DaemonHome, type Node, nodeName } from './daemon.ts';
import { ensureFreeSpace, freeBytesToStart } from './disk.ts';
import type { Cache } from './download.ts';
import { StartError } from './errors.ts';
import type { Infrastructure, InfrastructureOptions } from './infrastructure.ts';
import { ensureJava, type Java } from './java.ts';
import { ensureKafka, startKafka } from './kafka.ts';
import { isProcessAlive, tryLock } from './lock.ts';
import { ensureMongod, startMongod } from './mongod.ts';
import { ensureRegistry, startRegistry } from './registry.ts';

/** Options of the local provider; closing the supervisor, if one is given, ends the daemons too. */
export interface LocalOptions extends Pick<InfrastructureOptions, 'root' | 'log' | 'supervisor'> {
  readonly env: NodeJS.ProcessEnv;
  readonly fresh: boolean;
  /** The number of brokers and of members; one each by default. */
  readonly copies?: number;
}

/**
 * Kafka nodes, as many MongoDB members and a registry; tests can break and restore each of them except the registry.
 */
export interface Cluster extends Infrastructure {
  /** Each is broker and controller in one. */
  readonly brokers: readonly Node[];
  readonly members: readonly Node[];
}

type Opening = LocalOptions & { readonly supervisor: Supervisor };

const leftBehindAfterMs = 24 * 60 * 60 * 1000;

/** Removes data folders of runs that ended without their watchdog, as when the machine went down. */
async function removeLeftBehind(temporary: string): Promise<void> {
  for (const name of await readdir(temporary)) {
    const path = join(temporary, name);
    const stats = await stat(path).catch(() => undefined);
    const owner = Number(/^run-(\d+)-/.exec(name)?.[1] ?? 0);
    if (owner > 0 && isProcessAlive(owner)) continue;
    if (stats !== undefined && Date.now() - stats.mtimeMs > leftBehindAfterMs) {
      await rm(path, { recursive: true, force: true });
    }
  }
}

async function openData(options: Opening): Promise<{ directory: string; release(): Promise<void> }> {
  const { root, fresh, supervisor } = options;
  if (fresh) {
    // Beside the cache and not in the system's temporary folder, which is often in memory, where durable writes cost
    // nothing.
    const temporary = join(root, '.pesewa', 'temporary');
    await mkdir(temporary, { recursive: true });
    await removeLeftBehind(temporary);
    const directory = await mkdtemp(join(temporary, `run-${process.pid}-`));
    supervisor.removeOnClose(directory);
    return { directory, release: () => Promise.resolve() };
  }
  const directory = join(root, '.pesewa', 'data');
  const lock = await tryLock(`${directory}.lock`);
  if (typeof lock === 'number') {
    throw new StartError(`run ${lock} uses the data in .pesewa/data: stop it first`);
  }
  await mkdir(directory, { recursive: true });
  return { directory, release: lock.release };
}

function refuseForeignSystem(platform: NodeJS.Platform): void {
  if (platform === 'linux') return;
  throw new StartError(
    'no Docker engine answers, and without one the daemons come for Linux only: start Docker, ' +
      'or set MONGODB_URL, KAFKA_BROKERS and SCHEMA_REGISTRY_URL',
  );
}

/** A process's name in the form that its folder and the lists of process ids use. */
function fileName(name: string): string {
  return name.toLowerCase().replaceAll(' ', '-');
}

function pidsOf(brokers: readonly Node[], members: readonly Node[], registry: readonly Node[]) {
  const named = [...members, ...brokers].map((node) => [fileName(node.name), node.pid()] as const);
  return Object.fromEntries([...named, ...registry.map((node) => ['registry', node.pid()] as const)]);
}

async function startAll(options: Opening, directory: string): Promise<[Daemon, Daemon, Daemon]> {
  const { supervisor, fresh, log, copies = 1 } = options;
  const tools: Cache = {
    directory: join(options.root, '.pesewa', 'cache'),
    log,
    env: options.env,
    supervisor,
  };
  const java = ensureJava(tools);
  const withJava = java.then(
    (found: Java): Cache =>
      found.home === undefined ? tools : { ...tools, env: { ...options.env, JAVA_HOME: found.home } },
  );
  const home = (name: string): DaemonHome => ({ dataDirectory: join(directory, name), fresh });
  const homes = (name: string): DaemonHome[] =>
    Array.from({ length: copies }, (_, index) => home(fileName(nodeName(name, index, copies))));
  const mongod = ensureMongod(tools).then((command) => startMongod(supervisor, command, homes('mongodb')));
  const kafka = withJava.then(async (cache) => {
    const installation = await ensureKafka(cache, await java);
    return startKafka(supervisor, await java, installation, homes('kafka'));
  });
  const registry = withJava.then(async (cache) => {
    const installation = await ensureRegistry(cache);
    return startRegistry(supervisor, await java, installation, home('registry'));
  });
  const all = [mongod, kafka, registry] as const;
  try {
    return await Promise.all(all);
  } catch (error) {
    // Only the first failure is reported; the others follow from closing the supervisor.
    await supervisor.close();
    await Promise.allSettled(all);
    throw error;
  }
}

/** Starts MongoDB, Kafka and the schema registry as processes on this machine; downloads what is not cached. */
export async function openLocal(options: LocalOptions): Promise<Cluster> {
  refuseForeignSystem(process.platform);
  await ensureFreeSpace(join(options.root, '.pesewa'), freeBytesToStart);
  const supervisor = options.supervisor?.scope() ?? createSupervisor();
  let release = (): Promise<void> => Promise.resolve();
  try {
    const opening = { ...options, supervisor };
    const data = await openData(opening);
    release = data.release;
    const daemons = await startAll(opening, data.directory);
    const [mongod, kafka, registry] = daemons;
    return {
      provider: 'local',
      env: { MONGODB_URL: mongod.url, KAFKA_BROKERS: kafka.url, SCHEMA_REGISTRY_URL: registry.url },
      get pids() {
        return pidsOf(kafka.nodes, mongod.nodes, registry.nodes);
      },
      brokers: kafka.nodes,
      members: mongod.nodes,
      async [Symbol.asyncDispose]() {
        if (daemons.some((daemon) => daemon.recording()))
          options.log('saving what makes the next start twice as fast');
        await Promise.all(daemons.map((daemon) => daemon.close()));
        await supervisor.close();
        await release();
      },
    };
  } catch (error) {
    await supervisor.close();
    await release();
    throw error;
  }
}

/**
 * Opens a cluster of local daemons with new, empty data (ARCHITECTURE.md): three of each, or the given number. Rejects
 * with a one-line StartError that names the problem and the remedy; then nothing is left running.
 */
export function openCluster(
  options: Pick<InfrastructureOptions, 'root' | 'log' | 'env' | 'supervisor'> & {
    readonly copies?: number;
  },
): Promise<Cluster> {
  return openLocal({ copies: 3, ...options, env: options.env ?? process.env, fresh: true });
}
