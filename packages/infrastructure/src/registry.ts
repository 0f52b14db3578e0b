import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Supervisor } from './children.ts';
import { openClassArchive } from './class-archive.ts';
import { type Daemon, type DaemonHome, daemonOf, launchNode } from './daemon.ts';
import { type Cache, ensureCached } from './download.ts';
import { StartError } from './errors.ts';
import type { Java } from './java.ts';
import { reservePorts } from './ports.ts';
import { probeRegistry } from './probes.ts';
import { errorLine, fetchArtifact, runTool } from './tools.ts';
import { startProbeTimeoutMs } from './wait.ts';

const version = '3.0.9';
const stopGraceMs = 15_000;

/** The path of the registry's Confluent-compatible interface. */
export const registryPath = '/apis/ccompat/v7';

/** Downloads the registry unless it is cached; gives its folder. */
export function ensureRegistry(cache: Cache): Promise<string> {
  const name = 'apicurio-registry-app';
  return ensureCached(cache, {
    key: `apicurio-registry-${version}`,
    title: `Apicurio Registry ${version}`,
    version,
    async fetch(kept, scratch) {
      const repository = join(scratch, 'repository');
      await fetchArtifact(cache, `io.apicurio:${name}:${version}:tar.gz:all`, scratch, repository);
      const archive = join(repository, 'io', 'apicurio', name, version, `${name}-${version}-all.tar.gz`);
      const args = ['-xzf', archive, '-C', kept];
      const run = await runTool(cache.supervisor, { command: 'tar', args, env: cache.env });
      if (run?.code !== 0)
        throw new StartError(`the registry could not be unpacked: ${errorLine(run?.lines ?? [])}`);
      await rm(archive);
    },
  });
}

/** The arguments of `java` for a registry in memory (fresh) or in a file beside Kafka's data. */
export function registryArguments(port: number, installation: string, home: DaemonHome): string[] {
  const args = ['-Xmx384m', '-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1'];
  args.push('-Dquarkus.http.host=127.0.0.1', `-Dquarkus.http.port=${port}`, '-Dquarkus.log.level=WARN');
  // Every message contains a schema id, so the schemas must be kept for as long as Kafka's data.
  if (!home.fresh)
    args.push(`-Dapicurio.datasource.url=jdbc:h2:file:${join(home.dataDirectory, 'registry')}`);
  args.push('-jar', join(installation, `apicurio-registry-app-${version}-runner.jar`));
  return args;
}

/** Starts the registry and waits until it lists its subjects. */
export async function startRegistry(
  supervisor: Supervisor,
  java: Java,
  installation: string,
  home: DaemonHome,
): Promise<Daemon> {
  await mkdir(home.dataDirectory, { recursive: true });
  const logFile = join(home.dataDirectory, 'registry.log');
  const archive = await openClassArchive(installation, java);
  const [held] = await reservePorts(1);
  if (held === undefined) throw new StartError('no free port for the schema registry');
  await held.release();
  const port = held.port;
  const address = `127.0.0.1:${port}`;
  const url = `http://${address}${registryPath}`;
  const node = await launchNode({
    name: 'Apicurio Registry',
    address,
    logFile,
    stopGraceMs,
    launch: async () => {
      const child = await supervisor.spawnChild({
        name: 'Apicurio Registry',
        command: java.command,
        args: [...archive.args, ...registryArguments(port, installation, home)],
        cwd: home.dataDirectory,
        logFile,
        stopSignal: home.fresh && !archive.recording ? 'SIGKILL' : 'SIGTERM',
        stopGraceMs,
      });
      archive.keepAfter(child);
      return child;
    },
    check: () => probeRegistry(url, startProbeTimeoutMs),
  });
  await node.ready();
  return daemonOf(url, [node], archive.recording);
}
