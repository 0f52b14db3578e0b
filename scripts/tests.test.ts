import path from 'node:path';
import { expect, it } from 'vitest';
import { repositoryRoot } from './command.ts';
import { countReport, describeLongest } from './tests.ts';

const file = (status: string, ...tests: string[]) => ({
  name: 'a.test.ts',
  status,
  startTime: 0,
  endTime: 0,
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

it('names the files that took longest, the longest first', () => {
  const took = (name: string, seconds: number) => ({
    ...file('passed'),
    name: path.join(repositoryRoot, name),
    startTime: 1_000,
    endTime: 1_000 + seconds * 1_000,
  });
  const testResults = [
    took('short.ts', 0.4),
    took('a.ts', 3),
    ...['b', 'c', 'd', 'e'].map((name) => took(name, 2)),
  ];
  const longest = describeLongest({
    numPassedTests: 6,
    numFailedTests: 0,
    testResults: [...testResults, took('z.ts', 61)],
  });
  expect(longest.split('\n')).toEqual([
    '   61 s  z.ts',
    '    3 s  a.ts',
    '    2 s  b',
    '    2 s  c',
    '    2 s  d',
    '',
  ]);
});
