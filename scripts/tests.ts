import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type CommandOptions, repositoryRoot, runCommand, toolPath } from './command.ts';

/** Names of the vitest projects in `vitest.config.ts`. */
export type TestProject = 'unit' | 'architecture' | 'int' | 'scenarios' | 'cluster';

/** Outcome of some test runs: counts, and the output where it was not shown. */
export interface TestRun {
  readonly passed: number;
  readonly failed: number;
  readonly output: string;
}

/** The part of vitest's JSON report that is counted. */
interface Report {
  readonly numPassedTests: number;
  readonly numFailedTests: number;
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly startTime: number;
    readonly endTime: number;
    readonly assertionResults: readonly { status: string }[];
  }[];
}

/** Counts a report; a file that failed without a failed test (it did not even load) counts as one failure. */
export const countReport = (report: Report): { passed: number; failed: number } => {
  const broken = report.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.every((test) => test.status !== 'failed'),
  );
  return { passed: report.numPassedTests, failed: report.numFailedTests + broken.length };
};

const LONGEST = 5;

/** The files that took longest, one line each, the longest first; nothing where all together took less than a second. */
export const describeLongest = (report: Report): string =>
  report.testResults
    .map(({ name, startTime, endTime }) => ({ name, seconds: Math.round((endTime - startTime) / 1_000) }))
    .filter(({ seconds }) => seconds > 0)
    .toSorted((a, b) => b.seconds - a.seconds)
    .slice(0, LONGEST)
    .map(({ name, seconds }) => `${String(seconds).padStart(5)} s  ${path.relative(repositoryRoot, name)}\n`)
    .join('');

const readReport = async (file: string): Promise<Report | undefined> => {
  try {
    // Vitest wrote this file a moment ago.
    return JSON.parse(await readFile(file, 'utf8')) as Report;
  } catch {
    return undefined;
  }
};

/** Runs one vitest project in a child process. No report, no test or an unexplained exit code is a failure too. */
export const runTests = async (project: TestProject, options: CommandOptions = {}): Promise<TestRun> => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'pesewa-tests-'));
  const reportFile = path.join(directory, 'report.json');
  const reporters = ['--reporter=default', '--reporter=json', `--outputFile.json=${reportFile}`];
  const { code, output } = await runCommand(
    toolPath('vitest'),
    ['run', '--project', project, ...reporters],
    options,
  );
  const report = await readReport(reportFile);
  await rm(directory, { recursive: true, force: true });
  if (report === undefined) return { passed: 0, failed: 1, output };
  const { passed, failed } = countReport(report);
  if (passed + failed === 0)
    return { passed, failed: 1, output: `${output}The project ${project} has no tests.\n` };
  const longest = describeLongest(report);
  return {
    passed,
    failed: code !== 0 && failed === 0 ? 1 : failed,
    output: longest === '' ? output : `${output}took longest:\n${longest}`,
  };
};
