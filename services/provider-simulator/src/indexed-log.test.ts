import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openIndexedLog } from './indexed-log.ts';

let directory = '';
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'simulator-log-'));
});
afterEach(() => rm(directory, { recursive: true }));

const keyOf = (line: string) => [line.slice(0, 1)];
const openLog = async (restored: string[] = []) =>
  openIndexedLog({
    path: join(directory, 'log.jsonl'),
    restore: (line) => {
      restored.push(line);
      return keyOf(line);
    },
    onBroken: (error) => {
      throw error;
    },
  });

describe('the log', () => {
  it('finds lines by key, lazy ones and characters of many bytes included', async () => {
    await using log = await openLog();
    for (const line of ['a1 é', 'b1', 'a2 €']) log.append(line, keyOf(line));
    log.appendLazily('a3', ['a']);
    expect(await log.read('a')).toEqual(['a1 é', 'a2 €', 'a3']);
    expect(await log.read('none')).toEqual([]);
    expect(await log.read(undefined)).toEqual(['a1 é', 'b1', 'a2 €', 'a3']);
  });

  it('has on disk what flushed has resolved for', async () => {
    await using log = await openLog();
    for (let line = 0; line < 1_000; line += 1) log.append(`k${line}`, ['k']);
    await log.flushed();
    const text = await readFile(join(directory, 'log.jsonl'), 'utf8');
    expect(text.split('\n').slice(-2)).toEqual(['k999', '']);
  });

  it('gives everything back after a restart, and cuts off a line that a crash left half written', async () => {
    {
      await using log = await openLog();
      log.append('a1', ['a']);
      log.append('b1', ['b']);
    }
    await appendFile(join(directory, 'log.jsonl'), 'a2 half');
    const restored: string[] = [];
    await using log = await openLog(restored);
    log.append('a3', ['a']);
    expect(restored).toEqual(['a1', 'b1']);
    expect(await log.read('a')).toEqual(['a1', 'a3']);
    expect(await log.read(undefined)).toEqual(['a1', 'b1', 'a3']);
  });
});
