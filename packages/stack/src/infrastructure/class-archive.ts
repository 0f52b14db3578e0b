import { createHash } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Child } from './children.ts';
import type { Java } from './java.ts';

/** How a Java daemon uses, or first writes, its class archive: that halves its start. */
export interface ClassArchive {
  readonly args: readonly string[];
  /** True where this run writes the archive as it ends, for which it must be allowed to end gently. */
  readonly recording: boolean;
  /** Keeps what a recording run has written, once the daemon is gone. */
  keepAfter(daemon: Child): void;
}

/** The archive's file beside an installation: one per Java, which refuses another's. */
export function archivePath(installation: string, javaVersion: string): string {
  const digest = createHash('sha256').update(javaVersion).digest('hex').slice(0, 12);
  return join(dirname(installation), `${basename(installation)}-${digest}.jsa`);
}

const quiet = ['-Xshare:auto', '-Xlog:cds=off', '-Xlog:cds+dynamic=off'] as const;

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** Removes what recording runs left behind that were not allowed to end. */
async function removeUnfinished(archive: string): Promise<void> {
  const directory = dirname(archive);
  for (const name of await readdir(directory)) {
    if (!name.startsWith(`${basename(archive)}.`)) continue;
    const path = join(directory, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats !== undefined && Date.now() - stats.mtimeMs > 60_000) await rm(path, { force: true });
  }
}

/** Finds the class archive of an installation, or arranges for this run to write it where it may end gently. */
export async function openClassArchive(
  installation: string,
  java: Java,
  { mayRecord = true }: { readonly mayRecord?: boolean } = {},
): Promise<ClassArchive> {
  const archive = archivePath(installation, java.version);
  if (await exists(archive)) {
    return {
      args: [...quiet, `-XX:SharedArchiveFile=${archive}`],
      recording: false,
      keepAfter: () => undefined,
    };
  }
  if (!mayRecord) return { args: quiet, recording: false, keepAfter: () => undefined };
  await removeUnfinished(archive);
  const unfinished = `${archive}.${process.pid}`;
  return {
    args: [...quiet, `-XX:ArchiveClassesAtExit=${unfinished}`],
    recording: true,
    keepAfter(daemon) {
      // SIGTERM makes a JVM exit with 143 once its archive is written; anything else may have cut it short.
      const keep = daemon.exited.then(async (exit) => {
        if (exit.code === 143 || exit.code === 0) await rename(unfinished, archive);
        else await rm(unfinished, { force: true });
      });
      keep.catch(() => undefined);
    },
  };
}
