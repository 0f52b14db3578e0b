import { expect, it } from 'vitest';
import { failedFilesOf, readResults, type TestResult, unhandledError, verdictOf } from './test-results.ts';

const root = '/repository';

const file = (status: string, ...tests: string[]) => ({
  name: `${root}/a/b.test.ts`,
  status,
  message: 'it did not load\n    at a.ts:1:1',
  assertionResults: tests.map((test, index) => ({
    status: test,
    fullName: `rule ${index + 1}`,
    failureMessages: test === 'failed' ? ['Error: 1 is not 2\n    at a.ts:1:1'] : [],
  })),
});

const resultsOf = (...testResults: ReturnType<typeof file>[]): readonly TestResult[] =>
  readResults({ testResults }, root);

it('counts tests, and names those that failed or were left out', () => {
  expect(verdictOf(resultsOf(file('failed', 'passed', 'skipped', 'failed')))).toEqual({
    passed: 1,
    failures: ['a/b.test.ts > rule 3: Error: 1 is not 2'],
    leftOut: ['a/b.test.ts > rule 2'],
    flaky: [],
  });
});

it('takes no two tests of one title for one', () => {
  const report = file('failed', 'passed', 'failed');
  const assertionResults = report.assertionResults.map((test) => ({ ...test, fullName: 'rule' }));
  expect(verdictOf(resultsOf({ ...report, assertionResults }))).toMatchObject({
    passed: 1,
    failures: ['a/b.test.ts > rule (2): Error: 1 is not 2'],
    flaky: [],
  });
});

it('counts a file that did not load as a failure', () => {
  expect(verdictOf(resultsOf(file('failed')))).toMatchObject({
    passed: 0,
    failures: ['a/b.test.ts > the file: it did not load'],
  });
});

it('names a file without a cause of its own, and leaves out none of the tests that it could not set up', () => {
  expect(verdictOf(resultsOf({ ...file('failed', 'skipped'), message: '' }))).toMatchObject({
    failures: ['a/b.test.ts > the file: its own output says why'],
    leftOut: [],
  });
});

it('calls a test flaky that passes when it is run once more, with its first failure', () => {
  const first = resultsOf(file('failed', 'passed', 'failed'));
  expect(verdictOf(first, resultsOf(file('passed', 'passed', 'passed')))).toEqual({
    passed: 2,
    failures: [],
    leftOut: [],
    flaky: ['a/b.test.ts > rule 2: Error: 1 is not 2'],
  });
});

it('calls a test flaky that fails only when its file is run once more', () => {
  const first = resultsOf(file('failed', 'passed', 'failed'));
  expect(verdictOf(first, resultsOf(file('failed', 'failed', 'passed')))).toMatchObject({
    passed: 2,
    failures: [],
    flaky: [expect.stringContaining('rule 2'), expect.stringContaining('rule 1')],
  });
});

it('counts the tests of a file that could be set up the second time alone', () => {
  const first = resultsOf({ ...file('failed', 'skipped', 'skipped'), message: 'no port' });
  expect(verdictOf(first, resultsOf(file('passed', 'passed', 'passed')))).toEqual({
    passed: 2,
    failures: [],
    leftOut: [],
    flaky: ['a/b.test.ts > the file: no port'],
  });
});

it('fails a test that fails twice, and one that the second run did not reach', () => {
  const first = resultsOf(file('failed', 'passed', 'failed'));
  expect(verdictOf(first, first).failures).toEqual(['a/b.test.ts > rule 2: Error: 1 is not 2']);
  const second = resultsOf({ ...file('failed', 'skipped', 'skipped'), message: 'no port' });
  expect(verdictOf(first, second).failures).toEqual([
    'a/b.test.ts > rule 2: Error: 1 is not 2',
    'a/b.test.ts > the file: no port',
  ]);
  expect(verdictOf(first).failures).toEqual(['a/b.test.ts > rule 2: Error: 1 is not 2']);
});

it('fails a file whose hook fails both times, though another of its tests failed the first time', () => {
  const first = resultsOf(file('failed', 'failed', 'skipped'));
  const second = resultsOf({ ...file('failed', 'passed', 'skipped'), message: 'the hook broke' });
  const failures = ['a/b.test.ts > the file: the hook broke'];
  expect(verdictOf(first, second).failures).toEqual(failures);
  expect(verdictOf(second, first).failures).toEqual(failures);
});

it('fails an error outside of all tests, whatever a second run gives', () => {
  const first = [...resultsOf(file('failed', 'failed')), unhandledError('Error: late\n    at a.ts:1:1')];
  expect(failedFilesOf(first)).toEqual(['a/b.test.ts']);
  expect(verdictOf(first, resultsOf(file('passed', 'passed'))).failures).toEqual([
    'an error outside of all tests > the file: Error: late',
  ]);
});
