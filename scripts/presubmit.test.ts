import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from './command.ts';
import { leftToWholeRun, presubmitFiles } from './presubmit.ts';

const missing = (files: Iterable<string>) =>
  [...files].filter((file) => !existsSync(path.join(repositoryRoot, file)));

it('the presubmit names files that exist', () => {
  expect(missing([...leftToWholeRun, ...presubmitFiles('scenarios')])).toEqual([]);
});

it('the presubmit has every integration test that it does not leave out by name', () => {
  const files = presubmitFiles('int');
  expect(files).toContain('services/ledger/src/ledger.int.test.ts');
  expect(files.filter((file) => leftToWholeRun.has(file))).toEqual([]);
});
