import { mkdtemp, readdir, rm, truncate, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Supervisor } from './children.ts';
import { type Artifact, type Cache, ensureCached } from './download.ts';
import { cacheDefect, writeManifest } from './manifest.ts';

const idle: Supervisor = {
  spawnChild: () => Promise.reject(new Error('nothing to start')),
  removeOnClose: () => undefined,
  keep: () => undefined,
  scope: () => idle,
  close: () => Promise.resolve(),
  [Symbol.asyncDispose]: () => Promise.resolve(),
};

let directory: string;
let said: string[];
let cache: Cache;
let fetches: number;

const artifact: Artifact = {
  key: 'thing-1',
  title: 'Thing 1',
  version: '1',
  async fetch(kept) {
    fetches += 1;
    await writeFile(join(kept, 'thing'), 'contents');
  },
};

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'pesewa-download-'));
  said = [];
  fetches = 0;
  cache = {
    directory,
    env: {},
    supervisor: idle,
    log: (line) => said.push(line),
  };
});

afterEach(() => rm(directory, { recursive: true, force: true }));

describe('downloads', () => {
  test('are made once, and leave only what is kept', async () => {
    const path = await ensureCached(cache, artifact);
    expect(await ensureCached(cache, artifact)).toBe(path);
    expect(fetches).toBe(1);
    expect(await readdir(directory)).toEqual(['thing-1']);
  });

  test('are made once by runs in parallel', async () => {
    await Promise.all([ensureCached(cache, artifact), ensureCached(cache, artifact)]);
    expect(fetches).toBe(1);
  });

  test('that fail leave nothing behind', async () => {
    const broken: Artifact = { ...artifact, fetch: () => Promise.reject(new Error('cut off')) };
    await expect(ensureCached(cache, broken)).rejects.toThrow('cut off');
    expect(await readdir(directory)).toEqual([]);
  });

  test('that were damaged are made again', async () => {
    const path = await ensureCached(cache, artifact);
    await truncate(join(path, 'thing'), 3);
    await ensureCached(cache, artifact);
    expect(fetches).toBe(2);
    expect(said).toContain('Thing 1 in the cache is not usable: thing has the wrong size');
  });

  test('are two lines', async () => {
    await ensureCached(cache, artifact);
    expect(said).toEqual(['fetching Thing 1', expect.stringMatching(/^fetched Thing 1 in \d+\.\d s$/)]);
  });
});

describe('the manifest', () => {
  test('distinguishes a missing file, another version and an empty folder', async () => {
    expect(await cacheDefect(directory, '1')).toBe('it has no readable manifest');
    await writeManifest(directory, '1');
    expect(await cacheDefect(directory, '1')).toBe('it is empty');
    await writeFile(join(directory, 'a'), 'a');
    await writeManifest(directory, '1');
    expect(await cacheDefect(directory, '1')).toBeUndefined();
    expect(await cacheDefect(directory, '2')).toBe('it is version 1, not 2');
    await rm(join(directory, 'a'));
    expect(await cacheDefect(directory, '1')).toBe('a is missing');
  });
});
