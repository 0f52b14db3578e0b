import { existsSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from './command.ts';
import { presubmitIntegration, presubmitScenarios } from './presubmit.ts';

it('the presubmit names scenarios that exist', () => {
  expect(presubmitScenarios.filter((file) => !existsSync(path.join(repositoryRoot, file)))).toEqual([]);
});

it('the presubmit has every integration test that is not slow', () => {
  const files = presubmitIntegration();
  expect(files).toContain('services/ledger/src/ledger.int.test.ts');
  expect(files).toContain('test/samples/samples.int.test.ts');
  expect(files.filter((file) => file.includes('.slow.') || file.includes('node_modules'))).toEqual([]);
});
