import { readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { z } from 'zod';

/** The files of a cached download, with their paths below the cached directory; written when it was complete. */
const manifest = z.object({
  version: z.string(),
  files: z.array(z.object({ path: z.string(), sizeBytes: z.number() })),
});

type Manifest = z.output<typeof manifest>;

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

/** Describes every file below `directory` and writes the description into it. */
export async function writeManifest(directory: string, version: string): Promise<void> {
  const paths = await filesBelow(directory);
  const files = await Promise.all(
    paths.map(async (path) => ({ path, sizeBytes: (await stat(join(directory, path))).size })),
  );
  const written: Manifest = { version, files };
  await writeFile(join(directory, manifestName), `${JSON.stringify(written, null, 2)}\n`);
}

async function readManifest(directory: string): Promise<Manifest | undefined> {
  try {
    return manifest.parse(JSON.parse(await readFile(join(directory, manifestName), 'utf8')));
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
 * fast.
 */
export async function cacheDefect(directory: string, version: string): Promise<string | undefined> {
  const known = await readManifest(directory);
  if (known === undefined) return 'it has no readable manifest';
  if (known.version !== version) return `it is version ${known.version}, not ${version}`;
  if (known.files.length === 0) return 'it is empty';
  const sizes = await Promise.all(known.files.map((file) => sizeOf(join(directory, file.path))));
  const index = known.files.findIndex((file, position) => file.sizeBytes !== sizes[position]);
  const bad = known.files[index];
  if (bad === undefined) return undefined;
  return sizes[index] === -1 ? `${bad.path} is missing` : `${bad.path} has the wrong size`;
}
