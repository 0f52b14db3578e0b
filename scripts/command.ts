import { spawn } from 'node:child_process';
import path from 'node:path';

/** Root of the repository, absolute. */
export const repositoryRoot = path.resolve(import.meta.dirname, '..');

/** The result of a finished command: its exit code (143 after a signal, 127 when it did not start) and its output. */
export interface CommandResult {
  readonly code: number;
  readonly output: string;
}

/** How to run a command: where, with what extra environment, and whether its output is shown instead of kept. */
export interface CommandOptions {
  readonly directory?: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly show?: boolean;
  readonly signal?: AbortSignal;
}

const killGraceMs = 10_000;

/** Runs a program to its end; never rejects. An abort sends SIGTERM, and SIGKILL ten seconds later. */
export const runCommand = (
  command: string,
  commandArguments: readonly string[],
  { directory = repositoryRoot, environment = {}, show = false, signal }: CommandOptions = {},
): Promise<CommandResult> =>
  new Promise((resolve) => {
    const child = spawn(command, commandArguments, {
      cwd: directory,
      env: { ...process.env, ...environment },
      stdio: ['ignore', show ? 'inherit' : 'pipe', show ? 'inherit' : 'pipe'],
      ...(signal && { signal }),
    });
    let output = '';
    const collect = (chunk: Buffer): void => {
      output += chunk.toString();
    };
    child.stdout?.on('data', collect);
    child.stderr?.on('data', collect);
    child.on('error', (error) => {
      // A child that has started was aborted, and has time to end.
      if (child.pid !== undefined) setTimeout(() => child.kill('SIGKILL'), killGraceMs).unref();
      else resolve({ code: 127, output: `${command} did not start: ${error.message}\n` });
    });
    child.on('close', (code) => resolve({ code: code ?? 143, output }));
  });

/** Path of a tool that the workspace root installs, such as `biome`. */
export const toolPath = (name: string): string => path.join(repositoryRoot, 'node_modules', '.bin', name);

const PARENT_PAUSE_MS = 500;

/** Calls back once when this process has lost its parent, so that a killed `npm start` leaves no stack behind. */
export function whenOrphaned(orphaned: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    orphaned();
  }, PARENT_PAUSE_MS);
  timer.unref();
}
