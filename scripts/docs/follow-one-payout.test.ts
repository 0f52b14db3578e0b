import { readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from '../command.ts';

const read = (file: string): string => readFileSync(path.join(repositoryRoot, file), 'utf8');

/** Whether the file declares a function of this name, exported or not. */
const declares = (file: string, name: string): boolean =>
  new RegExp(String.raw`^(?:export )?(?:(?:async )?function|const) ${name}\b`, 'm').test(read(file));

it('each file on the way of a payout declares the function to read, and the entries are numbered', () => {
  const page = read('docs/follow-one-payout.md');
  const lines = page.split('\n').filter((line) => /^\d+\. /.test(line));
  const entries = lines.map((line) => /^(\d+)\. `([\w./-]+)` - `(\w+)`:$/.exec(line));
  expect(lines.filter((_, index) => entries[index] === null)).toEqual([]);
  expect(entries.map((entry) => Number(entry?.[1]))).toEqual(lines.map((_, index) => index + 1));
  const dead = entries.filter((entry) => !declares(entry?.[2] ?? '', entry?.[3] ?? ''));
  expect(dead.map((entry) => entry?.[0])).toEqual([]);
  expect(lines.length).toBeGreaterThan(30);
});
