import { createHash } from 'node:crypto';
import { readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import type { Child } from './children.ts';
import type { Java } from './java.ts';

/** A class archive, which halves a Java daemon's start, or the order to record one. */
export interface ClassArchive {
  readonly args: readonly string[];
  /** True if this run writes the archive when it ends; it must then be allowed to end gently. */
  readonly recording: boolean;
  /** Keeps the archive that a recording run has written, once the daemon has ended. */
  keepAfter(daemon: Child): void;
}

/** The archive's file beside an installation: one per Java version, because Java refuses another version's. */
export function archivePath(installation: string, javaVersion: string): string {
  const digest = createHash('sha256').update(javaVersion).digest('hex').slice(0, 12);
  return join(dirname(installation), `${basename(installation)}-${digest}.jsa`);
}

const quiet = ['-Xshare:auto', '-Xlog:cds=off', '-Xlog:cds+dynamic=off'] as const;

async function exists(path: string): Promise<boolean> {
  return (await stat(path).catch(() => undefined)) !== undefined;
}

/** Removes unfinished archives of recording runs that were killed. */
async function removeUnfinished(archive: string): Promise<void> {
  const directory = dirname(archive);
  for (const name of await readdir(directory)) {
    if (!name.startsWith(`${basename(archive)}.`)) continue;
    const path = join(directory, name);
    const stats = await stat(path).catch(() => undefined);
    if (stats !== undefined && Date.now() - stats.mtimeMs > 60_000) await rm(path, { force: true });
  }
}

/**
 * Finds the class archive of an installation; if there is none and this run may end gently, arranges for the run to
 * record it.
 */
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
      // After SIGTERM a JVM exits with 143 once its archive is written; with any other code the archive may be
      // incomplete.
      const keep = daemon.exited.then(async (exit) => {
        if (exit.code === 143 || exit.code === 0) await rename(unfinished, archive);
        else await rm(unfinished, { force: true });
      });
      keep.catch(() => undefined);
    },
  };
}
