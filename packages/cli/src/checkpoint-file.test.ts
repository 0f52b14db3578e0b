import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createCheckpointFile, defaultCheckpointFile } from './checkpoint-file.ts';

let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(path.join(tmpdir(), 'checkpoint-'));
});

afterAll(() => rm(directory, { recursive: true }));

it('keeps the newest checkpoint, for its owner only, and nothing else', async () => {
  const file = path.join(directory, 'new', 'verified');
  const store = createCheckpointFile(file);
  expect(await store.read()).toBeUndefined();
  await store.write(Buffer.from('one'));
  await store.write(Buffer.from('two'));
  expect(Buffer.from((await createCheckpointFile(file).read()) ?? []).toString()).toBe('two');
  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect(await readdir(path.dirname(file))).toEqual(['verified']);
});

it('does not take a file that cannot be read for none', async () => {
  await expect(createCheckpointFile(directory).read()).rejects.toThrow('EISDIR');
});

it('has a file for each installation, whoever asks', () => {
  const of = (url: string, prefix = '') => defaultCheckpointFile('/homes/ama', url, prefix);
  const url = 'mongodb://ama:secret@one:27017,two:27017/?tls=true';
  expect(of(url)).toMatch(/^\/homes\/ama\/\.pesewa\/verified-[0-9a-f]{16}$/);
  expect(of('mongodb://kofi:other@one:27017,two:27017/')).toBe(of(url));
  expect(new Set([of(url), of(url, 'test_'), of('mongodb://one:27017')]).size).toBe(3);
});
