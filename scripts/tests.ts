import { existsSync } from 'node:fs';
import { cp, mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type CommandOptions, type CommandResult, repositoryRoot, runCommand, toolPath } from './command.ts';
import {
  failedFilesOf,
  readResults,
  type TestResult,
  type TestRun,
  unhandledError,
  type VitestReport,
  verdictOf,
} from './test-results.ts';

/** Names of the vitest projects in `vitest.config.ts`. */
export type TestProject = 'unit' | 'architecture' | 'int' | 'scenarios' | 'cluster';

/** Which tests to run and how; `files` are paths from the root of the repository, all of the project by default. */
export interface TestOptions extends CommandOptions {
  readonly files?: readonly string[];
  /** Runs files with failures once more at once: what passes then is flaky and fails nothing. */
  readonly isRepeated?: boolean;
}

/** More files with failures than this are no accident, and are not run again. */
const REPEATED_FILES_MAX = 5;

/** What vitest or our reporter wrote a moment ago; undefined if there is nothing to read. */
const readJson = async <Content>(file: string): Promise<Content | undefined> => {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Content;
  } catch {
    return undefined;
  }
};

/** One run of vitest in a child process: what its tests gave, or why there is no telling. */
type VitestRun = { readonly output: string } & (
  | { readonly results: readonly TestResult[] }
  | { readonly results?: undefined; readonly reason: string }
);

/** Where the newest report of a run is kept, for people and for Turbo. */
const keptReport = (name: string): string => path.join(repositoryRoot, '.pesewa', 'reports', `${name}.json`);

const readRun = async (
  { code, output }: CommandResult,
  reportFile: string,
  unhandled: readonly string[] = [],
): Promise<VitestRun> => {
  const report = await readJson<VitestReport>(reportFile);
  if (report === undefined) return { output, reason: 'vitest wrote no report' };
  const results = [...readResults(report, repositoryRoot), ...unhandled.map(unhandledError)];
  if (results.length === 0) return { output, reason: 'it has no tests' };
  if (code !== 0 && results.every(({ status }) => status !== 'failed'))
    return { output, reason: `vitest ended with code ${code}` };
  return { output, results };
};

const runVitest = async (
  project: TestProject,
  reportName: string,
  { files = [], ...options }: TestOptions,
): Promise<VitestRun> => {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'pesewa-tests-'));
  const reportFile = path.join(directory, 'report.json');
  const unhandledFile = path.join(directory, 'unhandled.json');
  const unhandled = path.join(import.meta.dirname, 'unhandled-reporter.ts');
  const reporters = ['default', 'json', unhandled].map((reporter) => `--reporter=${reporter}`);
  const result = await runCommand(
    toolPath('vitest'),
    ['run', '--project', project, ...files, ...reporters, `--outputFile.json=${reportFile}`],
    { ...options, environment: { ...options.environment, PESEWA_UNHANDLED_ERRORS: unhandledFile } },
  );
  const kept = keptReport(reportName);
  await rm(kept, { force: true });
  await mkdir(path.dirname(kept), { recursive: true });
  await cp(reportFile, kept).catch(() => undefined);
  const run = await readRun(result, reportFile, await readJson<readonly string[]>(unhandledFile));
  await rm(directory, { recursive: true, force: true });
  return run;
};

const undecided = (project: TestProject, reason: string, output: string): TestRun => ({
  passed: 0,
  failures: [`${project}: ${reason}`],
  leftOut: [],
  flaky: [],
  output,
});

/** Tools of the machine without which unit tests leave something out. */
const optionalTools = ['kubectl', 'kustomize'] as const;

/** Which of them there are: Turbo runs the tests again once that changes. */
const foundTools = (): string => {
  const directories = (process.env['PATH'] ?? '').split(path.delimiter);
  const isThere = (tool: string) => directories.some((directory) => existsSync(path.join(directory, tool)));
  return optionalTools.filter(isThere).join(',');
};

/** Runs the unit tests unless nothing that they depend on has changed since they last passed (`turbo.json`). */
export const runUnitTestsOnce = async (options: CommandOptions): Promise<TestRun> => {
  // If Turbo ends without running or restoring anything, an older report must not count.
  await rm(keptReport('unit'), { force: true });
  const result = await runCommand(
    toolPath('turbo'),
    ['run', '//#test:unit', '--output-logs=errors-only', '--log-prefix=none'],
    { ...options, environment: { ...options.environment, PESEWA_TOOLS: foundTools() } },
  );
  const run = await readRun(result, keptReport('unit'));
  if (run.results === undefined) return undecided('unit', run.reason, run.output);
  return { ...verdictOf(run.results), output: run.output };
};

/**
 * Runs one vitest project, or some of its files. No report, no test or an unexplained exit code is a failure too. The
 * report of vitest is kept in `.pesewa/reports`.
 */
export const runTests = async (project: TestProject, options: TestOptions = {}): Promise<TestRun> => {
  const first = await runVitest(project, project, options);
  if (first.results === undefined) return undecided(project, first.reason, first.output);
  const { output, results } = first;
  const files = failedFilesOf(results);
  const isRepeated =
    options.isRepeated === true &&
    options.signal?.aborted !== true &&
    files.length > 0 &&
    files.length <= REPEATED_FILES_MAX;
  if (!isRepeated) return { ...verdictOf(results), output };
  if (options.show === true) process.stdout.write(`\n── ${project}, once more: what failed ──\n`);
  const second = await runVitest(project, `${project}-once-more`, { ...options, files });
  return { ...verdictOf(results, second.results), output: output + second.output };
};
