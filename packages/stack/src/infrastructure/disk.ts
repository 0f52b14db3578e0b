import { mkdir, statfs } from 'node:fs/promises';
import { StackError } from './errors.ts';

const mebibyte = 1024 * 1024;

/** Free space wanted before anything is downloaded, in bytes. */
export const freeBytesToDownload = 1536 * mebibyte;

/** Free space wanted before the daemons start, in bytes. */
export const freeBytesToStart = 500 * mebibyte;

/** The one-line refusal for a disk that is too full, or undefined where there is room. Bytes. */
export function diskShortage(directory: string, freeBytes: number, neededBytes: number): string | undefined {
  if (freeBytes >= neededBytes) return undefined;
  const free = Math.floor(freeBytes / mebibyte);
  const needed = Math.ceil(neededBytes / mebibyte);
  return `only ${free} MB free at ${directory}, ${needed} MB needed: free some disk space and start again`;
}

/** Creates `directory` and rejects with a one-line StackError where its disk has less than `neededBytes`. */
export async function ensureFreeSpace(directory: string, neededBytes: number): Promise<void> {
  await mkdir(directory, { recursive: true });
  const stats = await statfs(directory);
  const shortage = diskShortage(directory, stats.bavail * stats.bsize, neededBytes);
  if (shortage !== undefined) throw new StackError(shortage);
}
