import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** The content of `.pesewa/run.json`, by which tools find a running stack. */
export interface RunFile {
  readonly transferUrl: string;
  readonly collectionsUrl: string;
  readonly ingressUrl: string;
  readonly simulatorUrl: string;
  /** Absent if the console does not run. */
  readonly consoleUrl?: string;
  readonly operations: Readonly<Record<string, string>>;
  readonly operatorToken: string;
  /** The token of the second operator, who approves the first one's orders. */
  readonly approverToken: string;
  readonly rails: readonly string[];
  readonly mongodbUrl: string;
  readonly kafkaBrokers: readonly string[];
  readonly schemaRegistryUrl: string;
  readonly pids: Readonly<Record<string, number>>;
  readonly merchants: readonly {
    readonly id: string;
    readonly publicKey: string;
    readonly webhookSecret: string;
  }[];
}

/** Writes the run file so that a reader never sees it incomplete; writes happen one after another. */
export function createRunFileWriter(path: string): {
  readonly write: (content: RunFile) => Promise<void>;
  readonly remove: () => Promise<void>;
} {
  let last: Promise<void> = Promise.resolve();
  const after = (work: () => Promise<void>): Promise<void> => {
    last = last.then(work, work);
    return last;
  };
  return {
    write: (content) =>
      after(async () => {
        await mkdir(dirname(path), { recursive: true });
        await writeFile(`${path}.new`, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 });
        await rename(`${path}.new`, path);
      }),
    remove: () => after(() => rm(path, { force: true })),
  };
}
