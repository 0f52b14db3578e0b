import { createSupervisor } from './children.ts';
import type { Node } from './daemon.ts';
import { openLocal } from './local.ts';
import type { Infrastructure, InfrastructureOptions } from './resolve.ts';

/**
 * Kafka nodes, as many MongoDB members and a registry; tests can break and restore each of them except the registry.
 */
export interface Cluster extends Infrastructure {
  /** Each is broker and controller in one. */
  readonly brokers: readonly Node[];
  readonly members: readonly Node[];
}

/**
 * Opens a cluster of local daemons with new, empty data (ARCHITECTURE.md): three of each, or the given number. Rejects
 * with a one-line StartError that names the problem and the remedy; then nothing is left running.
 */
export async function openCluster(
  options: Pick<InfrastructureOptions, 'root' | 'log' | 'env' | 'supervisor'> & { readonly copies?: number },
): Promise<Cluster> {
  const { root, log, env = process.env, copies = 3 } = options;
  const supervisor = options.supervisor?.scope() ?? createSupervisor();
  try {
    const daemons = await openLocal({ root, log, env, fresh: true, supervisor, copies });
    return {
      provider: 'local',
      env: daemons.env,
      get pids() {
        return daemons.pids;
      },
      brokers: daemons.brokers,
      members: daemons.members,
      [Symbol.asyncDispose]: daemons.stop,
    };
  } catch (error) {
    await supervisor.close();
    throw error;
  }
}
