import type { ResolveName } from '@pesewa/addresses';
import type { AuditProgress, AuditReport, Head } from '@pesewa/audit';
import type { DirectoryAdmin } from '@pesewa/directory';
import type { Clock, Ids } from '@pesewa/kernel';
import type { OperationsAnswer, OperationsExchange } from '@pesewa/operator-client';
import type { ConnectionSettings } from '@pesewa/runtime';

/** Reads the directory, and prepares its indexes; disposing of it closes its connection. */
export interface OpenedDirectory extends AsyncDisposable {
  readonly admin: Pick<DirectoryAdmin, 'ensureIndexes' | 'list'>;
}

/** Sends one request with the operator token and writes a 2xx answer to a file, completely or not at all. */
export type OperationsDownload = (request: {
  readonly url: string;
  readonly token: string;
  readonly file: string;
  /** Called with the number of records received, and how many there are in all if the service says so. */
  readonly progress: (rows: number, total: number | undefined) => void;
}) => Promise<OperationsAnswer>;

/** Streams a file to a service with the operator token; `urlOf` gives the address for the file's SHA-256. */
export type OperationsUpload = (request: {
  readonly urlOf: (sha256: string) => string;
  readonly token: string;
  readonly file: string;
  /** Called with the number of bytes sent, and the size of the file. */
  readonly progress: (sent: number, size: number) => void;
}) => Promise<OperationsAnswer>;

/** Posts a webhook to a program of the developer; gives its status, or rejects if there is no answer. */
export type WebhookForward = (request: {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}) => Promise<number>;

/** Everything outside the process that commands use, so that tests can replace it. */
export interface CliPorts {
  readonly environment: NodeJS.ProcessEnv;
  /** Writes a text to stdout; the caller includes the line end. */
  readonly print: (text: string) => void;
  /** Writes a text to stderr. */
  readonly printError: (text: string) => void;
  /** Shows a temporary line on a terminal; an empty text removes it. */
  readonly progress: (text: string) => void;
  readonly colours: boolean;
  readonly openDirectory: (mongodbUrl: string) => Promise<OpenedDirectory>;
  readonly exchange: OperationsExchange;
  readonly download: OperationsDownload;
  readonly upload: OperationsUpload;
  readonly forward: WebhookForward;
  readonly resolveName: ResolveName;
  readonly prepare: (options: {
    readonly settings: ConnectionSettings;
    /** Whether topics must meet the services' requirements for production. */
    readonly isProduction: boolean;
    readonly log: (line: string) => void;
  }) => Promise<void>;
  /** Audits the databases of an installation; it only reads. */
  readonly audit: (options: {
    readonly mongodbUrl: string;
    readonly crossCheck: boolean;
    readonly allowedLagMs?: number;
    /** The heads of an earlier report. */
    readonly earlierHeads?: readonly Head[];
    /** Keeps what was verified, to go on from; without it everything is read. */
    readonly checkpointFile?: string;
    /** Whether to begin with the first page nevertheless. */
    readonly whole: boolean;
    readonly onProgress: (progress: AuditProgress) => void;
  }) => Promise<AuditReport>;
  readonly clock: Clock;
  readonly ids: Ids;
}
