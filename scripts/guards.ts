import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type CommandOptions, repositoryRoot, runCommand, toolPath } from './command.ts';
import type { TestRun } from './test-results.ts';
import { runTests, runUnitTestsOnce } from './tests.ts';

/** One automatic check of the repository. */
export interface Guard {
  readonly name: string;
  readonly run: (options: CommandOptions) => Promise<TestRun>;
}

const commandGuard = (name: string, command: string, ...commandArguments: string[]): Guard => ({
  name,
  run: async (options) => {
    const { code, output } = await runCommand(command, commandArguments, options);
    const isGood = code === 0;
    return { passed: isGood ? 1 : 0, failures: isGood ? [] : [name], leftOut: [], flaky: [], output };
  },
});

const toolGuard = (name: string, tool: string, ...toolArguments: string[]): Guard =>
  commandGuard(name, toolPath(tool), ...toolArguments);

const scriptGuard = (name: string, script: string, ...scriptArguments: string[]): Guard =>
  commandGuard(name, process.execPath, path.join(repositoryRoot, 'scripts', script), ...scriptArguments);

/** The scripts of the root's package.json: one place for what a person, Turbo and a guard run. */
const { scripts } = JSON.parse(readFileSync(path.join(repositoryRoot, 'package.json'), 'utf8')) as {
  readonly scripts: Readonly<Record<string, string>>;
};

/** A script of the root's package.json, which Turbo does not run again unless what it depends on has changed. */
const scriptOnceGuard = (name: 'types' | 'lint'): Guard => ({
  name,
  run: (options) => {
    const [tool = '', ...toolArguments] = (scripts[name] ?? '').split(' ');
    const isOurs = (options.directory ?? repositoryRoot) === repositoryRoot;
    const once = ['run', `//#${name}`, '--output-logs=errors-only', '--log-prefix=none'];
    return (isOurs ? toolGuard(name, 'turbo', ...once) : toolGuard(name, tool, ...toolArguments)).run(
      options,
    );
  },
});

/** All guards that need no infrastructure, the slow ones first so that the cheap ones fill the gaps. */
export const guards: readonly Guard[] = [
  { name: 'unit', run: runUnitTestsOnce },
  { name: 'architecture', run: (options) => runTests('architecture', options) },
  scriptOnceGuard('types'),
  scriptOnceGuard('lint'),
  toolGuard('dead-code', 'knip', '--no-progress', '--no-config-hints'),
  toolGuard('boundaries', 'turbo', 'boundaries'),
  toolGuard('format', 'biome', 'check'),
  toolGuard('versions', 'sherif', '--fail-on-warnings'),
  scriptGuard('tidy', 'check-tidy.ts'),
  scriptGuard('references', 'check-doc-refs.ts'),
  scriptGuard('manifests', 'manifests.ts', '--check'),
  scriptGuard('docs', 'docs.ts', '--check'),
];

/**
 * The same on every machine: if CI is set, some tools print colours in spite of NO_COLOR, and others use another
 * format.
 */
const environment = { NO_COLOR: '1', CI: undefined, DO_NOT_TRACK: '1', TURBO_TELEMETRY_DISABLED: '1' };

/** Runs guards two at a time, printing a line for each as it ends and the output of the failed ones at the end. */
export const runGuards = async (
  selected: readonly Guard[],
  print: (text: string) => void,
  options: Pick<CommandOptions, 'directory' | 'signal'> = {},
): Promise<Omit<TestRun, 'output'>> => {
  const waiting = [...selected];
  const runs: (TestRun & { readonly name: string })[] = [];
  const work = async (): Promise<void> => {
    for (let guard = waiting.shift(); guard !== undefined; guard = waiting.shift()) {
      const startedMs = performance.now();
      const run = await guard.run({ ...options, environment });
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1).padStart(5);
      const { passed, failures } = run;
      const count = passed + failures.length > 1 ? `   ${passed} passed, ${failures.length} failed` : '';
      print(`${failures.length === 0 ? '✓' : '✗'} ${guard.name.padEnd(16)}${seconds} s${count}\n`);
      runs.push({ ...run, name: guard.name });
    }
  };
  await Promise.all([work(), work()]);
  for (const { name, failures, output } of runs)
    if (failures.length > 0) print(`\n── ${name} ──\n${output.trimEnd()}\n`);
  return {
    passed: runs.reduce((sum, { passed }) => sum + passed, 0),
    failures: runs.flatMap(({ failures }) => failures),
    leftOut: runs.flatMap(({ leftOut }) => leftOut),
    flaky: [],
  };
};
