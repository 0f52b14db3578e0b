import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';

/** One cached file: its path below the cached directory, its size in bytes, its digest. */
export interface ManifestFile {
  readonly path: string;
  readonly sizeBytes: number;
  readonly sha256: string;
}

/** The files of a cached download, written when it was complete. */
export interface Manifest {
  readonly version: string;
  readonly files: readonly ManifestFile[];
}

/** The manifest's name inside the cached directory. */
const manifestName = 'manifest.json';

async function filesBelow(directory: string): Promise<string[]> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(directory, join(entry.parentPath, entry.name)))
    .filter((path) => path !== manifestName)
    .sort();
}

async function sha256(path: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(path), hash);
  return hash.digest('hex');
}

/** Describes every file below `directory` and writes the description into it. */
export async function writeManifest(directory: string, version: string): Promise<Manifest> {
  const files: ManifestFile[] = [];
  for (const path of await filesBelow(directory)) {
    const full = join(directory, path);
    files.push({ path, sizeBytes: (await stat(full)).size, sha256: await sha256(full) });
  }
  const manifest: Manifest = { version, files };
  await writeFile(join(directory, manifestName), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest;
}

function isManifest(value: unknown): value is Manifest {
  if (typeof value !== 'object' || value === null) return false;
  if (!('version' in value) || typeof value.version !== 'string') return false;
  return 'files' in value && Array.isArray(value.files) && value.files.every(isManifestFile);
}

function isManifestFile(value: unknown): value is ManifestFile {
  if (typeof value !== 'object' || value === null) return false;
  if (!('path' in value) || typeof value.path !== 'string') return false;
  if (!('sizeBytes' in value) || typeof value.sizeBytes !== 'number') return false;
  return 'sha256' in value && typeof value.sha256 === 'string';
}

async function readManifest(directory: string): Promise<Manifest | undefined> {
  try {
    const value: unknown = JSON.parse(await readFile(join(directory, manifestName), 'utf8'));
    return isManifest(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return -1;
  }
}

/**
 * What is wrong with a cached download; undefined if it can be used. Only versions, names and sizes are checked, to be
 * fast; the digests are for checking the cache by hand.
 */
export async function cacheDefect(directory: string, version: string): Promise<string | undefined> {
  const manifest = await readManifest(directory);
  if (manifest === undefined) return 'it has no readable manifest';
  if (manifest.version !== version) return `it is version ${manifest.version}, not ${version}`;
  if (manifest.files.length === 0) return 'it is empty';
  const sizes = await Promise.all(manifest.files.map((file) => sizeOf(join(directory, file.path))));
  const index = manifest.files.findIndex((file, position) => file.sizeBytes !== sizes[position]);
  const bad = manifest.files[index];
  if (bad === undefined) return undefined;
  return sizes[index] === -1 ? `${bad.path} is missing` : `${bad.path} has the wrong size`;
}
