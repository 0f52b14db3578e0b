import { join } from 'node:path';
import { type Cluster, openCluster } from '@pesewa/infrastructure';

/** A broker, a database and a registry for one test, which may stop the broker and the database. */
export function openBreakableDaemons(): Promise<Cluster> {
  const root = join(import.meta.dirname, '..', '..', '..');
  return openCluster({ root, log: () => undefined, copies: 1 });
}
