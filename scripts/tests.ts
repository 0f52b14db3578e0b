import { mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type CommandOptions, runCommand, toolPath } from './command.ts';

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
    readonly status: string;
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
  const longest = path.join(import.meta.dirname, 'longest-reporter.ts');
  const reporters = ['default', 'json', longest].map((reporter) => `--reporter=${reporter}`);
  const { code, output } = await runCommand(
    toolPath('vitest'),
    ['run', '--project', project, ...reporters, `--outputFile.json=${reportFile}`],
    options,
  );
  const report = await readReport(reportFile);
  await rm(directory, { recursive: true, force: true });
  if (report === undefined) return { passed: 0, failed: 1, output };
  const { passed, failed } = countReport(report);
  if (passed + failed === 0)
    return { passed, failed: 1, output: `${output}The project ${project} has no tests.\n` };
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed, output };
};
