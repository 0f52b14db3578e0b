import { mkdir, mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFreeSpace, freeBytesToDownload } from './disk.ts';
import { lock } from './lock.ts';
import { cacheDefect, writeManifest } from './manifest.ts';
import type { ToolContext } from './tools.ts';

/** A download that the local daemons need, made once and cached. */
export interface Artifact {
  /** Its folder in the cache, as in `kafka-4.3.1`. */
  readonly key: string;
  /** Its name for the user, as in `Kafka 4.3.1`. */
  readonly title: string;
  readonly version: string;
  /** Writes the content to cache into `directory`; `scratch` is deleted afterwards. */
  fetch(directory: string, scratch: string): Promise<void>;
}

/** The cache of downloads, and where they are reported. */
export interface Cache extends ToolContext {
  readonly directory: string;
  readonly log: (line: string) => void;
}

async function download(cache: Cache, artifact: Artifact, target: string): Promise<void> {
  await ensureFreeSpace(cache.directory, freeBytesToDownload);
  const workspace = await mkdtemp(join(cache.directory, '.fetching-'));
  cache.supervisor.removeOnClose(workspace);
  cache.log(`fetching ${artifact.title}`);
  const startedMs = performance.now();
  try {
    const kept = join(workspace, 'kept');
    const scratch = join(workspace, 'scratch');
    await Promise.all([mkdir(kept), mkdir(scratch)]);
    await artifact.fetch(kept, scratch);
    await writeManifest(kept, artifact.version);
    await rm(target, { recursive: true, force: true });
    await rename(kept, target);
    cache.log(`fetched ${artifact.title} in ${((performance.now() - startedMs) / 1000).toFixed(1)} s`);
  } finally {
    await rm(workspace, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
    cache.supervisor.keep(workspace);
  }
}

/**
 * Gives the folder of the artifact; downloads it first if it is missing or damaged. Parallel runs wait for one another;
 * an interrupted download leaves nothing behind.
 */
export async function ensureCached(cache: Cache, artifact: Artifact): Promise<string> {
  const target = join(cache.directory, artifact.key);
  if ((await cacheDefect(target, artifact.version)) === undefined) return target;
  const held = await lock(join(cache.directory, `${artifact.key}.lock`), (pid) =>
    cache.log(`waiting for ${artifact.title}: run ${pid} is fetching it`),
  );
  try {
    const defect = await cacheDefect(target, artifact.version);
    if (defect === undefined) return target;
    const found = await stat(target).catch(() => undefined);
    if (found !== undefined) cache.log(`${artifact.title} in the cache is not usable: ${defect}`);
    await download(cache, artifact, target);
    return target;
  } finally {
    await held.release();
  }
}
