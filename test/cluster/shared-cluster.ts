import { join } from 'node:path';
import { type Cluster, openCluster } from '@pesewa/infrastructure';

let opening: Promise<Cluster> | undefined;

/**
 * The cluster of all tests of this project, started by the first that asks for it. All files run in one worker, and the
 * cluster is taken down when that ends; a stack that closes it leaves it up for the next one.
 */
export async function sharedCluster(): Promise<Cluster> {
  opening ??= openCluster({ root: join(import.meta.dirname, '..', '..'), log: () => undefined });
  const { provider, env, pids, brokers, members } = await opening;
  return { provider, env, pids, brokers, members, [Symbol.asyncDispose]: () => Promise.resolve() };
}
