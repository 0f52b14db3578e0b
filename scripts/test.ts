// Runs tests. Without an argument: the presubmit, which judges a change within minutes. `all`: everything. Else the named parts.
// At the end come what each part took, a line for each test that was left out, that was flaky and that failed; the last line on
// stdout is always `N passed, N failed`, each guard and each test counting as one.
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { repositoryRoot, whenOrphaned } from './command.ts';
import { guards, runGuards } from './guards.ts';
import { presubmitIntegration, presubmitScenarios } from './presubmit.ts';
import { listed, type TestRun } from './test-results.ts';
import { runTests, type TestProject } from './tests.ts';

const kinds = ['unit', 'int', 'scenarios', 'cluster'] as const satisfies readonly TestProject[];

type Kind = (typeof kinds)[number];

/** A part of a run: the guards, or the tests of a kind, all of them unless some guards or files are named. */
interface Part {
  readonly name: 'verify' | Kind;
  readonly files?: readonly string[];
}

const usage = `usage: npm test                   the guards, the unit tests and what judges a change within minutes
       npm run test:all           everything, for releases and nights
       npm run verify             the guards and the unit tests; after --, some of ${guards.map(({ name }) => name).join(', ')}
       npm run test:<part>        one of ${kinds.join(', ')}; after --, parts of the names of some files
`;

const verdict = { passed: 0, failures: [] as string[], leftOut: [] as string[], flaky: [] as string[] };
const took: string[] = [];
const stopping = new AbortController();

const print = (text: string): void => {
  process.stdout.write(text);
};

if (process.argv.includes('--help')) {
  print(usage);
  process.exit(0);
}

const add = (run: Omit<TestRun, 'output'>): void => {
  verdict.passed += run.passed;
  verdict.failures.push(...run.failures);
  verdict.leftOut.push(...run.leftOut);
  verdict.flaky.push(...run.flaky);
};

/** Counts a step that failed unexpectedly as one failure and says why. */
const breakDown = (error: unknown): void => {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
  print(`✗ ${text}\n`);
  verdict.failures.push(text);
};

/** Adds what the work took to the list at the end. */
const timed = async <Result>(name: string, work: () => Promise<Result>): Promise<Result> => {
  const startedMs = performance.now();
  const result = await work();
  took.push(`${String(Math.round((performance.now() - startedMs) / 1_000)).padStart(5)} s  ${name}`);
  return result;
};

const showTests = async (
  { name, files }: Part,
  environment: Readonly<Record<string, string>>,
): Promise<void> => {
  if (stopping.signal.aborted || name === 'verify') return;
  print(`\n── ${name} ──\n`);
  const colours: Readonly<Record<string, string>> = process.stdout.isTTY ? {} : { NO_COLOR: '1' };
  const options = {
    environment: { ...environment, ...colours },
    show: true,
    signal: stopping.signal,
    isRepeated: name !== 'unit',
    ...(files && { files }),
  };
  const run = await timed(name, () => runTests(name, options));
  print(run.output);
  add(run);
};

/** Brings up the daemons that the given parts share. */
const openDaemons = async () => {
  // Loaded late, so that the guards can report a broken stack package instead of dying with it.
  const { openInfrastructure } = await import('@pesewa/infrastructure');
  return openInfrastructure({ root: repositoryRoot, log: (line: string) => print(`${line}\n`) });
};

/** Waits for the daemons, tests all given parts on them, and takes them down after the last. */
const testOnDaemons = async (
  opening: ReturnType<typeof openDaemons>,
  parts: readonly Part[],
): Promise<void> => {
  await using daemons = await timed('daemons', () => opening);
  print(`infrastructure: ${daemons.provider}\n`);
  for (const part of parts) await showTests(part, { ...daemons.env });
};

const selectParts = ([wish, ...files]: readonly string[]): readonly Part[] => {
  if (wish === undefined)
    return [
      { name: 'verify' },
      { name: 'int', files: presubmitIntegration() },
      { name: 'scenarios', files: presubmitScenarios },
    ];
  if (wish === 'all' && files.length === 0)
    return (['verify', 'int', 'scenarios', 'cluster'] as const).map((name) => ({ name }));
  const name = ([...kinds, 'verify'] as const).find((kind) => kind === wish);
  if (name === undefined) throw new Error(`unknown tests "${[wish, ...files].join(' ')}".\n${usage}`);
  return [{ name, ...(files.length > 0 && { files }) }];
};

const runAll = async (parts: readonly Part[]): Promise<void> => {
  const onDaemons = parts.filter(({ name }) => name === 'int' || name === 'scenarios');
  // They are fetched and started while the guards run; what goes wrong is reported when it is their turn.
  const opening = onDaemons.length > 0 ? openDaemons() : undefined;
  opening?.catch(() => undefined);
  for (const { files } of parts.filter(({ name }) => name === 'verify')) {
    const selected = guards.filter(({ name }) => files?.includes(name) ?? true);
    if (files && selected.length < files.length)
      throw new Error(`unknown guard in "${files.join(' ')}".\n${usage}`);
    add(await timed('verify', () => runGuards(selected, print, { signal: stopping.signal })));
  }
  for (const part of parts.filter(({ name }) => name === 'unit')) await showTests(part, {});
  if (opening !== undefined) await testOnDaemons(opening, onDaemons).catch(breakDown);
  // Last, because it starts its own daemons, which it breaks: they are many and need the machine to themselves.
  for (const part of parts.filter(({ name }) => name === 'cluster'))
    if (process.platform === 'linux') await showTests(part, {});
    else verdict.leftOut.push('cluster (left out: the daemons that it breaks come for Linux only)');
};

/** Keeps the flaky tests of this run in `.pesewa/flaky.json`, if it could find any; none is what it should say. */
const keepFlaky = (parts: readonly Part[]): void => {
  if (parts.every(({ name }) => name === 'unit' || name === 'verify')) return;
  const directory = path.join(repositoryRoot, '.pesewa');
  mkdirSync(directory, { recursive: true });
  writeFileSync(path.join(directory, 'flaky.json'), `${JSON.stringify(verdict.flaky, null, 2)}\n`);
};

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    breakDown(`stopped by ${signal}`);
  });
}
whenOrphaned(() => {
  breakDown('stopped: the parent process is gone');
  process.exit(1);
});
process.on('uncaughtException', (error) => {
  breakDown(error);
  process.exit(1);
});
process.on('exit', () => {
  const { passed, failures, leftOut, flaky } = verdict;
  process.exitCode = failures.length === 0 && passed > 0 ? 0 : 1;
  print(`\ntook:\n${took.map((line) => `${line}\n`).join('')}`);
  print(listed('left out', leftOut));
  print(listed('flaky: failed, and passed when run once more', flaky));
  print(listed('failed', failures));
  print(`${passed} passed, ${failures.length} failed\n`);
});

try {
  const parts = selectParts(process.argv.slice(2));
  await runAll(parts);
  keepFlaky(parts);
} catch (error) {
  breakDown(error);
}
// A handle that was never closed must not keep a finished run alive.
process.exit();
