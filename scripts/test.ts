// Runs the tests: all, or only `unit`, `int`, `scenarios` or `cluster`. Without an argument the guards of `verify` come first.
// The last line on stdout is always `N passed, N failed`, each guard and each test counting as one.
import { repositoryRoot } from './command.ts';
import { guards, runGuards } from './guards.ts';
import { whenOrphaned } from './parent.ts';
import { runTests, type TestProject } from './tests.ts';

const kinds = ['unit', 'int', 'scenarios', 'cluster'] as const satisfies readonly TestProject[];

type Part = 'verify' | (typeof kinds)[number];

const total = { passed: 0, failed: 0 };
const stopping = new AbortController();

const print = (text: string): void => {
  process.stdout.write(text);
};

const add = ({ passed, failed }: { passed: number; failed: number }): void => {
  total.passed += passed;
  total.failed += failed;
};

/** Counts a step that failed unexpectedly as one failure and says why. */
const breakDown = (error: unknown): void => {
  add({ passed: 0, failed: 1 });
  print(`✗ ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
};

const showTests = async (
  project: TestProject,
  environment: Readonly<Record<string, string>>,
): Promise<void> => {
  if (stopping.signal.aborted) return;
  print(`\n── ${project} ──\n`);
  const colours: Readonly<Record<string, string>> = process.stdout.isTTY ? {} : { NO_COLOR: '1' };
  const run = await runTests(project, {
    environment: { ...environment, ...colours },
    show: true,
    signal: stopping.signal,
  });
  print(run.output);
  add(run);
};

/** Brings the infrastructure up once for all given projects and takes it down after the last. */
const testWithInfrastructure = async (projects: readonly TestProject[]): Promise<void> => {
  // Loaded late, so that the guards can report a broken stack package instead of dying with it.
  const { openInfrastructure } = await import('@pesewa/infrastructure');
  await using infrastructure = await openInfrastructure({
    root: repositoryRoot,
    log: (line: string) => print(`${line}\n`),
  });
  print(`infrastructure: ${infrastructure.provider}\n`);
  for (const project of projects) await showTests(project, { ...infrastructure.env });
};

/** These tests start their own cluster, because they break it. */
const testOnCluster = async (): Promise<void> => {
  if (process.platform === 'linux') return showTests('cluster', {});
  print('\n── cluster ──\nnot run: the daemons that it breaks come for Linux only\n');
};

const selectParts = (wanted: readonly string[]): readonly Part[] => {
  if (wanted.length === 0) return ['verify', 'int', 'scenarios', 'cluster'];
  return wanted.map((name) => {
    const known = kinds.find((kind) => kind === name);
    if (known === undefined)
      throw new Error(`unknown tests "${name}": say ${kinds.join(', ')} or nothing for all.`);
    return known;
  });
};

const runAll = async (parts: readonly Part[]): Promise<void> => {
  if (parts.includes('verify')) add(await runGuards(guards, print, { signal: stopping.signal }));
  if (parts.includes('unit')) await showTests('unit', {});
  const projects = parts.filter((part) => part === 'int' || part === 'scenarios');
  if (projects.length > 0 && !stopping.signal.aborted) await testWithInfrastructure(projects);
  // Last, because its own daemons are many and need the machine to themselves.
  if (parts.includes('cluster')) await testOnCluster();
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
  process.exitCode = total.failed === 0 && total.passed > 0 ? 0 : 1;
  print(`${total.passed} passed, ${total.failed} failed\n`);
});

try {
  await runAll(selectParts(process.argv.slice(2)));
} catch (error) {
  breakDown(error);
}
// A handle that was never closed must not keep a finished run alive.
process.exit();
