import { mkdir, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ensureFreeSpace, freeBytesToDownload } from './disk.ts';
import { systemCode } from './errors.ts';
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

/** The cache of downloads, and where their progress is reported. */
export interface Cache extends ToolContext {
  readonly directory: string;
  readonly log: (line: string) => void;
  readonly progress: DownloadProgress;
}

/** Shows how far a download is; undefined once it has ended. */
type DownloadProgress = (title: string, state: string | undefined) => void;

const progressEveryMs = 2_000;

/** The sum of all file sizes below a directory, in bytes; files that vanish meanwhile are ignored. */
async function sizeBelow(directory: string): Promise<number> {
  try {
    const entries = await readdir(directory, { recursive: true, withFileTypes: true });
    const files = entries.filter((entry) => entry.isFile());
    const sizes = await Promise.all(
      files.map((file) =>
        stat(join(file.parentPath, file.name)).then(
          (stats) => stats.size,
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0;
    throw error;
  }
}

/** All downloads that are made at the same time in one text: each with its size on disk and the time it has taken. */
export function createDownloadProgress(show: (text: string) => void): DownloadProgress {
  const states = new Map<string, string>();
  return (title, state) => {
    if (state === undefined) states.delete(title);
    else states.set(title, state);
    const all = [...states].map(([one, far]) => `${one} ${far}`);
    show(all.length === 0 ? '' : `fetching ${all.join(' · ')}`);
  };
}

/** How far a download is. */
export function downloadState(bytes: number, elapsedMs: number): string {
  return `${Math.round(bytes / 1_000_000)} MB, ${Math.round(elapsedMs / 1000)} s`;
}

function reportProgress(title: string, directory: string, progress: DownloadProgress): () => number {
  const startedAt = performance.now();
  let hasEnded = false;
  const timer = setInterval(() => {
    sizeBelow(directory).then(
      (bytes) => {
        if (!hasEnded) progress(title, downloadState(bytes, performance.now() - startedAt));
      },
      () => undefined,
    );
  }, progressEveryMs);
  return () => {
    if (!hasEnded) progress(title, undefined);
    hasEnded = true;
    clearInterval(timer);
    return performance.now() - startedAt;
  };
}

async function download(cache: Cache, artifact: Artifact, target: string): Promise<void> {
  await ensureFreeSpace(cache.directory, freeBytesToDownload);
  const workspace = await mkdtemp(join(cache.directory, '.fetching-'));
  cache.supervisor.removeOnClose(workspace);
  cache.log(`fetching ${artifact.title}`);
  const finishProgress = reportProgress(artifact.title, workspace, cache.progress);
  try {
    const kept = join(workspace, 'kept');
    const scratch = join(workspace, 'scratch');
    await Promise.all([mkdir(kept), mkdir(scratch)]);
    await artifact.fetch(kept, scratch);
    await writeManifest(kept, artifact.version);
    await rm(target, { recursive: true, force: true });
    await rename(kept, target);
    const seconds = (finishProgress() / 1000).toFixed(1);
    cache.log(
      `fetched ${artifact.title}: ${Math.round((await sizeBelow(target)) / 1_000_000)} MB, ${seconds} s`,
    );
  } finally {
    finishProgress();
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
