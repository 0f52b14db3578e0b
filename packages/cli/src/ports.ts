import type { AuditProgress, AuditReport, Head } from '@pesewa/audit';
import type { DirectoryAdmin } from '@pesewa/directory';
import type { Clock, Ids } from '@pesewa/kernel';

/** The writing side of the directory, and its connection. */
export interface OpenedDirectory extends AsyncDisposable {
  readonly admin: DirectoryAdmin;
}

/** An answer of an operations API: its status and its JSON body, if it has one. */
export interface OperationsAnswer {
  readonly status: number;
  readonly body: unknown;
}

/** Sends one request with the operator token; rejects where nothing answers. */
export type OperationsExchange = (request: {
  readonly url: string;
  readonly token: string;
  /** Posted as JSON; absent means GET. */
  readonly body?: unknown;
}) => Promise<OperationsAnswer>;

/** Everything outside the process that commands use, so that tests can stand in for it. */
export interface CliPorts {
  readonly environment: NodeJS.ProcessEnv;
  /** One text to stdout, line end included by the printer. */
  readonly print: (text: string) => void;
  /** One text to stderr. */
  readonly complain: (text: string) => void;
  /** Shows one passing line to whoever watches a terminal; an empty one takes it away. */
  readonly progress: (text: string) => void;
  readonly colours: boolean;
  readonly openDirectory: (mongodbUrl: string) => Promise<OpenedDirectory>;
  readonly exchange: OperationsExchange;
  readonly prepare: (
    addresses: {
      readonly MONGODB_URL: string;
      readonly KAFKA_BROKERS: string;
      readonly SCHEMA_REGISTRY_URL: string;
    },
    log: (line: string) => void,
  ) => Promise<void>;
  /** Audits the databases of an installation; reads only. */
  readonly audit: (wish: {
    readonly mongodbUrl: string;
    readonly crossCheck: boolean;
    readonly settleMs?: number;
    /** The heads of an earlier report. */
    readonly since?: readonly Head[];
    readonly onProgress: (progress: AuditProgress) => void;
  }) => Promise<AuditReport>;
  readonly clock: Clock;
  readonly ids: Ids;
}
