import { createHash } from 'node:crypto';
import { mkdir, open, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { CheckpointStore } from '@pesewa/audit';

/** The file in which this machine keeps what it has verified of an installation: of these hosts, with this prefix. */
export function defaultCheckpointFile(home: string, mongodbUrl: string, databasePrefix: string): string {
  const hosts = mongodbUrl.replace(/^[^/]*\/\/(?:[^@/]*@)?/, '').replace(/[/?].*$/, '');
  const installation = createHash('sha256').update(`${hosts} ${databasePrefix}`).digest('hex').slice(0, 16);
  return join(home, '.pesewa', `verified-${installation}`);
}

/** Keeps a checkpoint in a file, which is replaced whole and is on the disk when `write` ends. */
export function createCheckpointFile(path: string): CheckpointStore {
  return {
    read: () =>
      readFile(path).catch((error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
        throw error;
      }),
    write: async (checkpoint) => {
      const folder = dirname(path);
      await mkdir(folder, { recursive: true, mode: 0o700 });
      await writeFile(`${path}.new`, checkpoint, { mode: 0o600, flush: true });
      await rename(`${path}.new`, path);
      await using renamed = await open(folder);
      await renamed.sync();
    },
  };
}
