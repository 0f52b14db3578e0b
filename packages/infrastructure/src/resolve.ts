import { isDockerReachable } from './docker-engine.ts';
import { type Addresses, addressesIn, checkAddresses } from './environment.ts';
import { StartError } from './errors.ts';
import type { Infrastructure, InfrastructureOptions, Provider } from './infrastructure.ts';
import { openLocal } from './local.ts';

/** The facts that the choice of a provider depends on. */
export interface Choice {
  readonly wanted: Provider | undefined;
  readonly env: NodeJS.ProcessEnv;
  readonly dockerAnswers: () => Promise<boolean>;
}

/**
 * Chooses the provider in the order of ARCHITECTURE.md: addresses in the environment, a Docker engine, local daemons.
 * `PESEWA_INFRASTRUCTURE` set to `local` skips Docker, set to `docker` requires it.
 */
export async function chooseProvider(choice: Choice): Promise<Provider> {
  const { wanted, env } = choice;
  if (wanted !== undefined) return wanted;
  if (addressesIn(env) !== undefined) return 'environment';
  const setting = env['PESEWA_INFRASTRUCTURE'] ?? '';
  if (setting === 'local') return 'local';
  if (setting !== '' && setting !== 'docker') {
    throw new StartError(`PESEWA_INFRASTRUCTURE is ${setting}: set it to local or docker, or unset it`);
  }
  if (await choice.dockerAnswers()) return 'docker';
  if (setting === 'docker') {
    throw new StartError('no Docker engine answers: start Docker, or unset PESEWA_INFRASTRUCTURE');
  }
  return 'local';
}

function requiredAddresses(env: NodeJS.ProcessEnv): Addresses {
  const addresses = addressesIn(env);
  if (addresses !== undefined) return addresses;
  throw new StartError('no addresses given: set MONGODB_URL, KAFKA_BROKERS and SCHEMA_REGISTRY_URL');
}

async function openEnvironment(env: NodeJS.ProcessEnv): Promise<Infrastructure> {
  const addresses = requiredAddresses(env);
  await checkAddresses(addresses);
  return {
    provider: 'environment',
    env: addresses,
    pids: {},
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function openDockerProvider(
  options: InfrastructureOptions,
  env: NodeJS.ProcessEnv,
): Promise<Infrastructure> {
  // Loaded only if needed: the client library takes a second to load.
  const { openDocker } = await import('./docker.ts');
  const containers = await openDocker({ log: options.log, env, fresh: options.fresh ?? true });
  return { provider: 'docker', env: containers.env, pids: {}, [Symbol.asyncDispose]: containers.close };
}

/**
 * Provides MongoDB, Kafka and the schema registry, all real, from the first available provider (ARCHITECTURE.md).
 * Rejects with a one-line StartError that names the problem and the remedy; then nothing is left running.
 */
export async function openInfrastructure(options: InfrastructureOptions): Promise<Infrastructure> {
  const env = options.env ?? process.env;
  const provider = await chooseProvider({
    wanted: options.provider,
    env,
    dockerAnswers: () => isDockerReachable(env),
  });
  if (provider === 'environment') return openEnvironment(env);
  if (provider === 'docker') return openDockerProvider(options, env);
  return openLocal({ ...options, env, fresh: options.fresh ?? true });
}
