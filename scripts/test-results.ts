import path from 'node:path';

/** The part of vitest's JSON report that is read. */
export interface VitestReport {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly message: string;
    readonly assertionResults: readonly {
      status: string;
      fullName: string;
      failureMessages: readonly string[];
    }[];
  }[];
}

/** What one run of vitest gave for a test, or for a file: that one fails if it did not load or could not set up its tests. */
export interface TestResult {
  /** Path from the root of the repository. */
  readonly file: string;
  /** Undefined for the file itself. */
  readonly title?: string;
  readonly status: 'passed' | 'failed' | 'skipped';
  /** The first line of a failure's message. */
  readonly cause: string;
}

/**
 * What tests gave: how many passed, a line for each failure, for each test that was left out since the machine lacks what
 * it is about, and for each flaky test with its failure; and the output if it was not shown.
 */
export interface TestRun {
  readonly passed: number;
  readonly failures: readonly string[];
  readonly leftOut: readonly string[];
  readonly flaky: readonly string[];
  readonly output: string;
}

const CAUSE_LENGTH_MAX = 300;
const UNHANDLED = 'an error outside of all tests';

const causeOf = (message = ''): string =>
  (message.split('\n', 1)[0] || 'its own output says why').slice(0, CAUSE_LENGTH_MAX);

/** Titles with a number behind each repetition, so that two tests of one title stay two. */
const numbered = (titles: readonly string[]): readonly string[] => {
  const times = new Map<string, number>();
  return titles.map((title) => {
    const time = (times.get(title) ?? 0) + 1;
    times.set(title, time);
    return time === 1 ? title : `${title} (${time})`;
  });
};

/** Vitest says of a failed file with a failed test nothing of its own: whether its hooks failed too is not known. */
const fileStatusOf = (status: string, tests: readonly TestResult[]): TestResult['status'] => {
  if (status !== 'failed') return 'passed';
  return tests.some((test) => test.status === 'failed') ? 'skipped' : 'failed';
};

/** An error outside of all tests, as a result that no second run takes back. */
export const unhandledError = (message: string): TestResult => ({
  file: UNHANDLED,
  status: 'failed',
  cause: causeOf(message),
});

/** The files to run once more. */
export const failedFilesOf = (results: readonly TestResult[]): readonly string[] => {
  const files = results.filter(({ status }) => status === 'failed').map(({ file }) => file);
  return [...new Set(files)].filter((file) => file !== UNHANDLED);
};

/** Reads a report into a result for each file and each test; files are named from `root`. */
export const readResults = (report: VitestReport, root: string): readonly TestResult[] =>
  report.testResults.flatMap(({ name, status, message, assertionResults }) => {
    const file = path.relative(root, name);
    const titles = numbered(assertionResults.map(({ fullName }) => fullName));
    const tests = assertionResults.map(
      (test, index): TestResult => ({
        file,
        title: titles[index] ?? test.fullName,
        status: test.status === 'passed' || test.status === 'failed' ? test.status : 'skipped',
        cause: causeOf(test.failureMessages[0]),
      }),
    );
    return [{ file, status: fileStatusOf(status, tests), cause: causeOf(message) }, ...tests];
  });

const nameOf = ({ file, title = 'the file' }: TestResult): string => `${file} > ${title}`;

const namesOf = (results: readonly TestResult[], status: TestResult['status']): ReadonlySet<string> =>
  new Set(results.filter((result) => result.status === status).map(nameOf));

/**
 * Judges a run, and a second one of the files with failures: a test fails if it passed in neither, and is flaky if it
 * passed in one alone.
 */
export const verdictOf = (
  first: readonly TestResult[],
  second: readonly TestResult[] = [],
): Omit<TestRun, 'output'> => {
  const results = [...first, ...second];
  const passed = namesOf(results, 'passed');
  const tests = new Set(results.filter(({ title }) => title !== undefined).map(nameOf));
  // The first failure is the one to read: what it left behind may change how the second one looks.
  const causes = new Map(
    results
      .filter(({ status }) => status === 'failed')
      .toReversed()
      .map((result) => [nameOf(result), result.cause]),
  );
  const failed = [...namesOf(results, 'failed')];
  const lineOf = (name: string): string => `${name}: ${causes.get(name) ?? ''}`;
  const brokenFiles = new Set(
    results.filter(({ title, status }) => title === undefined && status === 'failed').map(({ file }) => file),
  );
  const skipped = first.filter(
    ({ file, title, status }) => title !== undefined && status === 'skipped' && !brokenFiles.has(file),
  );
  return {
    passed: [...passed].filter((name) => tests.has(name)).length,
    failures: failed.filter((name) => !passed.has(name)).map(lineOf),
    flaky: failed.filter((name) => passed.has(name)).map(lineOf),
    leftOut: skipped.map(nameOf),
  };
};

/** Lines under a heading with their number; nothing if there are none. */
export const listed = (heading: string, lines: readonly string[]): string =>
  lines.length === 0 ? '' : `\n${lines.length} ${heading}:\n${lines.map((line) => `  ${line}\n`).join('')}`;
