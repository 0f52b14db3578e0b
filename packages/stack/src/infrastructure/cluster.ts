import { createSupervisor } from './children.ts';
import type { Node } from './daemon.ts';
import { openLocal } from './local.ts';
import type { Infrastructure, InfrastructureOptions } from './resolve.ts';

/** Kafka nodes, as many MongoDB members and a registry, of which each but the registry may be broken and brought back. */
export interface Cluster extends Infrastructure {
  /** Each is broker and controller in one. */
  readonly brokers: readonly Node[];
  readonly members: readonly Node[];
}

/**
 * Opens a cluster of local daemons with new and empty data (ARCHITECTURE.md): three of each, or as many as are asked for.
 * Rejects with a one-line StackError that says what is wrong and what to do; then nothing is left running.
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
