import type { Supervisor } from './children.ts';
import type { Addresses } from './environment.ts';

/** Where the infrastructure comes from (ARCHITECTURE.md). */
export type Provider = 'environment' | 'docker' | 'local';

/** MongoDB, Kafka and the schema registry, all running. Closing stops those that were started for it. */
export interface Infrastructure extends AsyncDisposable {
  readonly provider: Provider;
  readonly env: Addresses;
  /** Process ids of local daemons by name: mongodb, kafka, registry; empty with other providers. */
  readonly pids: Readonly<Record<string, number>>;
}

/** How infrastructure is provided. */
export interface InfrastructureOptions {
  /** The repository's root; downloads are kept in its `.pesewa/`. */
  readonly root: string;
  readonly log: (line: string) => void;
  /** By default this process's own. */
  readonly env?: NodeJS.ProcessEnv;
  /** Uses this provider instead of choosing one. */
  readonly provider?: Provider;
  /** True, the default: new and empty data, deleted after close. False: data is kept under `.pesewa/data`. */
  readonly fresh?: boolean;
  /** The caller's supervisor for the daemons, if it has one; closing it ends them too. */
  readonly supervisor?: Supervisor;
}
