import { join } from 'node:path';
import { type Cluster, openCluster } from '@pesewa/stack';

/** One broker, one database and a registry of a test's own, of which the test may break the first two. */
export function openBreakableDaemons(): Promise<Cluster> {
  const root = join(import.meta.dirname, '..', '..', '..');
  return openCluster({ root, log: () => undefined, copies: 1 });
}
