import { mkdir, open, readFile, rm, stat, utimes } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { systemCode } from './errors.ts';

/** A lock held by this process until released. */
export interface FileLock {
  release(): Promise<void>;
}

const heartbeatMs = 2_000;
const staleAfterMs = 15_000;
const pollMs = 200;

/** Whether a process with this id runs here. */
export function isProcessAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/** The process id of the lock's living holder; undefined if the lock is free or was left behind. */
async function holderOf(path: string): Promise<number | undefined> {
  try {
    const [text, stats] = await Promise.all([readFile(path, 'utf8'), stat(path)]);
    const fresh = Date.now() - stats.mtimeMs < staleAfterMs;
    const pid = Number.parseInt(text, 10);
    // An empty file means that its holder is between creating and writing it.
    if (Number.isNaN(pid)) return fresh ? 0 : undefined;
    return fresh && isProcessAlive(pid) ? pid : undefined;
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

async function create(path: string): Promise<FileLock | undefined> {
  try {
    const file = await open(path, 'wx');
    await file.writeFile(String(process.pid));
    await file.close();
  } catch (error) {
    if (systemCode(error) === 'EEXIST') return undefined;
    throw error;
  }
  // The file's age is the sign of life, because process ids are reused and differ between containers.
  const heartbeat = setInterval(() => {
    const now = new Date();
    utimes(path, now, now).catch(() => undefined);
  }, heartbeatMs);
  heartbeat.unref();
  return {
    async release() {
      clearInterval(heartbeat);
      await rm(path, { force: true });
    },
  };
}

/**
 * Takes the lock at `path`; if another run holds it, gives that run's process id. A lock whose holder is dead, or
 * silent for 15 s, is taken over.
 */
export async function tryLock(path: string): Promise<FileLock | number> {
  await mkdir(dirname(path), { recursive: true });
  for (;;) {
    const lock = await create(path);
    if (lock !== undefined) return lock;
    const holder = await holderOf(path);
    if (holder !== undefined) return holder;
    await rm(path, { force: true });
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
