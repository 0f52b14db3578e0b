import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type FileLock, tryLock } from './lock.ts';

let directory: string;
let path: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pesewa-lock-'));
  path = join(directory, 'x.lock');
});

afterEach(() => rm(directory, { recursive: true, force: true }));

const isHeld = (taken: FileLock | number): taken is FileLock => typeof taken !== 'number';

async function leaveLock(owner?: object): Promise<void> {
  await mkdir(path);
  if (owner) await writeFile(join(path, 'owner.json'), JSON.stringify(owner));
}

it('is held by one, and free again after release', async () => {
  const first = await tryLock(path);
  expect(await tryLock(path)).toBe(process.pid);
  if (isHeld(first)) await first.release();
  const second = await tryLock(path);
  expect(isHeld(second)).toBe(true);
  if (isHeld(second)) await second.release();
  expect(await readdir(directory)).toEqual([]);
});

it.each([
  ['a dead process', { pid: 999_999_999, token: 'dead' }],
  ['a process that died before it wrote its name', undefined],
])('of %s is taken over by exactly one of many', async (_whose, owner) => {
  // Where a second one takes it over as well, it does so in about one round of thirty.
  for (let round = 0; round < 100; round += 1) {
    await leaveLock(owner);
    await utimes(path, new Date(0), new Date(0));
    const taken = await Promise.all(Array.from({ length: 30 }, () => tryLock(path)));
    expect(taken.filter(isHeld)).toHaveLength(1);
    for (const lock of taken.filter(isHeld)) await lock.release();
    expect(await readdir(directory)).toEqual([]);
  }
});

it('whose name is damaged is taken over', async () => {
  await leaveLock();
  await writeFile(join(path, 'owner.json'), '');
  await utimes(path, new Date(0), new Date(0));
  const taken = await tryLock(path);
  expect(isHeld(taken)).toBe(true);
  if (isHeld(taken)) await taken.release();
  expect(await readdir(directory)).toEqual([]);
});

it('of a living process is not taken over, nor one that is being named', async () => {
  await leaveLock({ pid: process.pid, token: 'alive' });
  expect(await tryLock(path)).toBe(process.pid);
  await rm(path, { recursive: true });
  await leaveLock();
  expect(await tryLock(path)).toBe(0);
});

it('that another has taken over is left to it on release', async () => {
  const lost = await tryLock(path);
  await rm(path, { recursive: true });
  const taken = await tryLock(path);
  if (isHeld(lost)) await lost.release();
  expect(await tryLock(path)).toBe(process.pid);
  if (isHeld(taken)) await taken.release();
});
