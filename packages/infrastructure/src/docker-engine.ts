import { existsSync } from 'node:fs';
import { request } from 'node:http';
import { homedir } from 'node:os';
import { join } from 'node:path';

const pingTimeoutMs = 2_000;

/** The address of a Docker engine: a socket file, or a host and port. */
export type EngineAddress =
  | { readonly socketPath: string }
  | { readonly host: string; readonly port: number };

/**
 * Reads `DOCKER_HOST` (`unix:///…`, `tcp://host:port`); undefined for forms that only the client library understands.
 */
export function parseDockerHost(value: string): EngineAddress | undefined {
  if (value.startsWith('unix://')) return { socketPath: value.slice('unix://'.length) };
  if (!URL.canParse(value)) return undefined;
  const url = new URL(value);
  if (url.protocol !== 'tcp:' && url.protocol !== 'http:') return undefined;
  return { host: url.hostname, port: url.port === '' ? 2375 : Number(url.port) };
}

function candidates(env: NodeJS.ProcessEnv): EngineAddress[] {
  const host = env['DOCKER_HOST'] ?? '';
  if (host !== '') {
    const address = parseDockerHost(host);
    return address === undefined ? [] : [address];
  }
  const runtime = env['XDG_RUNTIME_DIR'] ?? '';
  const paths = ['/var/run/docker.sock', join(homedir(), '.docker', 'run', 'docker.sock')];
  if (runtime !== '')
    paths.push(join(runtime, 'docker.sock'), join(runtime, '.docker', 'run', 'docker.sock'));
  return paths.filter((path) => existsSync(path)).map((socketPath) => ({ socketPath }));
}

function ping(address: EngineAddress): Promise<boolean> {
  return new Promise((resolve) => {
    const outgoing = request({ ...address, path: '/_ping', timeout: pingTimeoutMs }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    outgoing.once('timeout', () => outgoing.destroy());
    outgoing.once('error', () => resolve(false));
    outgoing.once('close', () => resolve(false));
    outgoing.end();
  });
}

/** Whether a Docker engine answers, found out without loading the client library. */
export async function isDockerReachable(env: NodeJS.ProcessEnv): Promise<boolean> {
  for (const address of candidates(env)) {
    if (await ping(address)) return true;
  }
  return false;
}
