import { globSync } from 'node:fs';
import { repositoryRoot } from './command.ts';

/**
 * The integration tests that `npm test` runs. It leaves out those whose names say that they are slow: they take more than ten
 * seconds, or what they prove depends on how fast the machine is.
 */
export const presubmitIntegration = (): readonly string[] =>
  globSync('{packages,services,test}/**/*.int.test.ts', {
    cwd: repositoryRoot,
    exclude: ['**/node_modules/**', '**/*.slow.int.test.ts'],
  });

/**
 * The scenarios that `npm test` runs, the slowest first: two stacks run side by side, and none should be left alone at the
 * end.
 */
export const presubmitScenarios: readonly string[] = [
  'test/conformance/collection-api.test.ts',
  'test/conformance/payout-api.test.ts',
  'test/scenarios/crash-kinds.test.ts',
  'test/scenarios/collection-digits.test.ts',
  'test/scenarios/payout-digits.test.ts',
  'test/scenarios/collection-decisions.test.ts',
  'test/scenarios/crash-completion.test.ts',
  'test/scenarios/origins.test.ts',
];
