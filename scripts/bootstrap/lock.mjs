// A lock between processes of one checkout: a directory, because creating one is atomic on every file system.
import { randomUUID } from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';

const heartbeatMs = 5_000;
const staleAfterMs = 60_000;
const pollMs = 200;

const isAlive = (pid) => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === 'EPERM';
  }
};

/** Who holds the lock, or undefined while its owner is between creating and naming itself, or gone. */
const readOwner = (directory) => {
  try {
    const owner = JSON.parse(fs.readFileSync(path.join(directory, 'owner.json'), 'utf8'));
    return { ...owner, touchedMs: fs.statSync(directory).mtimeMs };
  } catch {
    return undefined;
  }
};

const tryAcquire = (directory, token) => {
  try {
    fs.mkdirSync(directory);
  } catch (error) {
    if (error.code === 'EEXIST') return false;
    throw error;
  }
  fs.writeFileSync(path.join(directory, 'owner.json'), JSON.stringify({ pid: process.pid, token }));
  return true;
};

const ageMs = (directory) => {
  try {
    return Date.now() - fs.statSync(directory).mtimeMs;
  } catch {
    return 0;
  }
};

/**
 * Puts a dead owner's lock aside. The target's name comes from the dead owner's token, so of two processes that
 * both saw it dead the second one's rename fails instead of taking away the first one's new lock.
 */
const removeStale = (directory, token) => {
  try {
    fs.renameSync(directory, `${directory}.stale-${token}`);
  } catch (error) {
    if (!['ENOENT', 'ENOTEMPTY', 'EEXIST'].includes(error.code)) throw error;
  }
};

const removeLeftovers = (directory) => {
  const parent = path.dirname(directory);
  const prefix = `${path.basename(directory)}.stale-`;
  for (const name of fs.readdirSync(parent)) {
    if (name.startsWith(prefix)) fs.rmSync(path.join(parent, name), { recursive: true, force: true });
  }
};

/**
 * Waits for the lock and resolves with the function that frees it; `onWait(pid)` is called once with the holder's
 * process id.
 */
export const acquireLock = async (directory, onWait) => {
  const token = randomUUID();
  let told = false;
  while (!tryAcquire(directory, token)) {
    const owner = readOwner(directory);
    if (owner === undefined) {
      if (ageMs(directory) > staleAfterMs) removeStale(directory, 'unnamed');
    } else if (!isAlive(owner.pid) || Date.now() - owner.touchedMs > staleAfterMs) {
      removeStale(directory, owner.token);
    } else if (!told) {
      told = true;
      onWait(owner.pid);
    }
    await delay(pollMs);
  }
  const heartbeat = setInterval(() => fs.utimesSync(directory, new Date(), new Date()), heartbeatMs);
  return () => {
    clearInterval(heartbeat);
    if (readOwner(directory)?.token === token) fs.rmSync(directory, { recursive: true, force: true });
    removeLeftovers(directory);
  };
};
