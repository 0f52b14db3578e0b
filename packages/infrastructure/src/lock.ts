import { randomUUID } from 'node:crypto';
import { link, mkdir, readdir, readFile, rename, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemCode } from './errors.ts';

/** A lock held by this process until released. */
export interface FileLock {
  release(): Promise<void>;
}

/** The content of a lock's file `owner.json`. */
interface Owner {
  readonly pid: number;
  /** Names this very lock: process ids are reused, and differ between containers. */
  readonly token: string;
}

const heartbeatMs = 2_000;
const staleAfterMs = 15_000;
const pollMs = 200;
/** No process has this id. */
const NOBODY = 2 ** 31 - 1;

/** Whether a process with this id runs here. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/** Undefined if there is no lock, or its owner is between creating and naming it. */
async function readOwner(path: string): Promise<Owner | undefined> {
  const file = join(path, 'owner.json');
  try {
    return (
      parseOwner(await readFile(file, 'utf8')) ?? { pid: NOBODY, token: `damaged-${(await stat(file)).ino}` }
    );
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(systemCode(error) ?? '')) return undefined;
    throw error;
  }
}

/** Undefined if the name was cut off, as by a loss of power: a name is written whole. */
function parseOwner(text: string): Owner | undefined {
  try {
    // Only this module writes it.
    return JSON.parse(text) as Owner;
  } catch {
    return undefined;
  }
}

/** How long ago the lock's owner gave a sign of life; undefined if there is no lock. */
async function silentMs(path: string): Promise<number | undefined> {
  try {
    return Date.now() - (await stat(path)).mtimeMs;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Writes whose lock it is, all of it or nothing; false if another process has done so. */
async function name(path: string, owner: Owner): Promise<boolean> {
  const written = join(path, owner.token);
  try {
    await writeFile(written, JSON.stringify(owner));
    await link(written, join(path, 'owner.json'));
    return true;
  } catch (error) {
    if (['EEXIST', 'ENOENT'].includes(systemCode(error) ?? '')) return false;
    throw error;
  } finally {
    await rm(written, { force: true });
  }
}

/** A lock is a directory, because creating one is atomic on every file system. */
async function create(path: string): Promise<FileLock | undefined> {
  const token = randomUUID();
  try {
    await mkdir(path);
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined;
    throw error;
  }
  if (!(await name(path, { pid: process.pid, token }))) return undefined;
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, heartbeatMs);
  heartbeat.unref();
  return {
    async release() {
      clearInterval(heartbeat);
      if ((await readOwner(path))?.token !== token) return;
      await rm(path, { recursive: true, force: true, maxRetries: 3 });
      await removeLeftovers(path);
    },
  };
}

/**
 * Puts a dead owner's lock aside. The name comes from that lock's own token and the directory there is never empty, so of two
 * processes that both saw it dead the second one's rename fails instead of taking away the first one's new lock.
 */
async function removeStale(path: string, token: string): Promise<void> {
  const aside = `${path}.stale-${token}`;
  try {
    await rename(path, aside);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(systemCode(error) ?? '')) throw error;
  }
}

async function removeLeftovers(path: string): Promise<void> {
  const directory = dirname(path);
  const left = (await readdir(directory)).filter((name) => name.startsWith(`${basename(path)}.stale-`));
  for (const name of left) await rm(join(directory, name), { recursive: true, force: true });
}

/**
 * Takes the lock at `path`; if another run holds it, gives that run's process id (0 while it is not known). A lock whose
 * holder is dead, or silent for 15 s, is taken over.
 */
export async function tryLock(path: string): Promise<FileLock | number> {
  await mkdir(dirname(path), { recursive: true });
  for (;;) {
    const lock = await create(path);
    if (lock !== undefined) return lock;
    const owner = await readOwner(path);
    const ageMs = await silentMs(path);
    // Between the two reads the lock may have become another one.
    if (ageMs === undefined || (await readOwner(path))?.token !== owner?.token) continue;
    if (ageMs < staleAfterMs && (owner === undefined || isProcessAlive(owner.pid))) return owner?.pid ?? 0;
    if (owner) await removeStale(path, owner.token);
    // Its owner died before it could name it: with a name, only one process can put it aside.
    else await name(path, { pid: NOBODY, token: randomUUID() });
  }
}

/** Waits for the lock at `path`; `onWait` is called once with the holder's process id if it is taken. */
export async function lock(path: string, onWait: (pid: number) => void): Promise<FileLock> {
  let reported = false;
  for (;;) {
    const taken = await tryLock(path);
    if (typeof taken !== 'number') return taken;
    if (!reported) onWait(taken);
    reported = true;
    await delay(pollMs);
  }
}
