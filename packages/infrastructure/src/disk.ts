import { mkdir, statfs } from 'node:fs/promises';
import { StartError } from './errors.ts';

const mebibyte = 1024 * 1024;

/** The free space required before a download, in bytes. */
export const freeBytesToDownload = 1536 * mebibyte;

/** The free space required before the daemons start, in bytes. */
export const freeBytesToStart = 500 * mebibyte;

/** The one-line error for a disk that is too full; undefined if there is room. Sizes are in bytes. */
export function diskShortage(directory: string, freeBytes: number, neededBytes: number): string | undefined {
  if (freeBytes >= neededBytes) return undefined;
  const free = Math.floor(freeBytes / mebibyte);
  const needed = Math.ceil(neededBytes / mebibyte);
  return `only ${free} MB free at ${directory}, ${needed} MB needed: free some disk space and start again`;
}

/** Creates `directory`; rejects with a one-line StartError if its disk has less than `neededBytes`. */
export async function ensureFreeSpace(directory: string, neededBytes: number): Promise<void> {
  await mkdir(directory, { recursive: true });
  const stats = await statfs(directory);
  const shortage = diskShortage(directory, stats.bavail * stats.bsize, neededBytes);
  if (shortage !== undefined) throw new StartError(shortage);
}
