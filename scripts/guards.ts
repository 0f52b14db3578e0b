import { existsSync } from 'node:fs';
import path from 'node:path';
import { type CommandOptions, repositoryRoot, runCommand, toolPath } from './command.ts';
import { runTests, type TestProject } from './tests.ts';

/** The result of a guard: counts for the final line, and output to show if it failed. */
export interface GuardOutcome {
  readonly passed: number;
  readonly failed: number;
  readonly output: string;
  readonly note?: string;
}

/** One automatic check of the repository. */
export interface Guard {
  readonly name: string;
  readonly run: (options: CommandOptions) => Promise<GuardOutcome>;
}

const commandGuard = (name: string, command: string, commandArguments: readonly string[]): Guard => ({
  name,
  run: async (options) => {
    const { code, output } = await runCommand(command, commandArguments, options);
    return { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, output };
  },
});

const toolGuard = (name: string, tool: string, ...toolArguments: string[]): Guard =>
  commandGuard(name, toolPath(tool), toolArguments);

const scriptGuard = (name: string, script: string, ...scriptArguments: string[]): Guard =>
  commandGuard(name, process.execPath, [path.join(repositoryRoot, 'scripts', script), ...scriptArguments]);

const testGuard = (name: string, project: TestProject): Guard => ({
  name,
  run: async (options) => {
    const run = await runTests(project, options);
    return { ...run, note: `${run.passed} passed, ${run.failed} failed` };
  },
});

/** All guards that need no infrastructure, the slow ones first so that the cheap ones fill the gaps. */
export const guards: readonly Guard[] = [
  testGuard('unit', 'unit'),
  testGuard('architecture', 'architecture'),
  toolGuard('types', 'tsc', '-p', 'tsconfig.json'),
  toolGuard('lint', 'oxlint'),
  toolGuard('dead-code', 'knip', '--no-progress', '--no-config-hints'),
  toolGuard('boundaries', 'turbo', 'boundaries'),
  toolGuard('format', 'biome', 'check'),
  toolGuard('versions', 'sherif', '--fail-on-warnings'),
  scriptGuard('tidy', 'check-tidy.ts'),
  scriptGuard('references', 'check-doc-refs.ts'),
  scriptGuard('alerts', 'check-alerts.ts'),
  scriptGuard('manifests', 'manifests.ts', '--check'),
  ...(existsSync(path.join(repositoryRoot, 'scripts', 'docs.ts'))
    ? [scriptGuard('docs', 'docs.ts', '--check')]
    : []),
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
): Promise<{ passed: number; failed: number }> => {
  const waiting = [...selected];
  const failures: string[] = [];
  const total = { passed: 0, failed: 0 };
  const work = async (): Promise<void> => {
    for (let guard = waiting.shift(); guard !== undefined; guard = waiting.shift()) {
      const startedMs = performance.now();
      const outcome = await guard.run({ ...options, environment });
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1).padStart(5);
      const mark = outcome.failed === 0 ? '✓' : '✗';
      print(
        `${mark} ${guard.name.padEnd(16)}${seconds} s${outcome.note === undefined ? '' : `   ${outcome.note}`}\n`,
      );
      if (outcome.failed > 0) failures.push(`\n── ${guard.name} ──\n${outcome.output.trimEnd()}\n`);
      total.passed += outcome.passed;
      total.failed += outcome.failed;
    }
  };
  await Promise.all([work(), work()]);
  for (const failure of failures) print(failure);
  return total;
};
