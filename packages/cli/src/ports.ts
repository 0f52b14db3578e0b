import type { AuditProgress, AuditReport, Head } from '@pesewa/audit';
import type { DirectoryAdmin } from '@pesewa/directory';
import type { Clock, Ids } from '@pesewa/kernel';
import type { ConnectionSettings } from '@pesewa/runtime';

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
  /** How long it may take, where that is longer than usual. */
  readonly timeoutMs?: number;
}) => Promise<OperationsAnswer>;

/** Sends one request with the operator token and writes what is answered with 2xx to a file, whole or not at all. */
export type OperationsDownload = (request: {
  readonly url: string;
  readonly token: string;
  readonly file: string;
}) => Promise<OperationsAnswer>;

/** Posts a file with the operator token as it is read; the address is told by the SHA-256 of the file. */
export type OperationsUpload = (request: {
  readonly urlOf: (sha256: string) => string;
  readonly token: string;
  readonly file: string;
  /** Called with the bytes that were sent, and those of the whole file. */
  readonly progress: (sent: number, size: number) => void;
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
  readonly download: OperationsDownload;
  readonly upload: OperationsUpload;
  readonly prepare: (wish: {
    readonly settings: ConnectionSettings;
    /** Whether the topics must be such as the services accept in production. */
    readonly isProduction: boolean;
    readonly log: (line: string) => void;
  }) => Promise<void>;
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
