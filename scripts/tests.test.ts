import { expect, it } from 'vitest';
import { countReport } from './tests.ts';

const file = (status: string, ...tests: string[]) => ({
  status,
  assertionResults: tests.map((test) => ({ status: test })),
});

it('counts tests', () => {
  const testResults = [file('passed', 'passed', 'passed'), file('failed', 'passed', 'failed')];
  expect(countReport({ numPassedTests: 3, numFailedTests: 1, testResults })).toEqual({
    passed: 3,
    failed: 1,
  });
});

it('counts a file that did not load as a failure', () => {
  const testResults = [file('passed', 'passed'), file('failed')];
  expect(countReport({ numPassedTests: 1, numFailedTests: 0, testResults })).toEqual({
    passed: 1,
    failed: 1,
  });
});
