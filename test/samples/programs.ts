import { type ChildProcessByStdio, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import type { Readable } from 'node:stream';

const folder = path.join(import.meta.dirname, '..', '..', 'docs', 'api', 'samples');
const { PYTHON: python = 'python3', PHP: php = 'php' } = process.env;

/** A language that docs/api has programs in. */
export interface Language {
  readonly name: string;
  readonly ending: string;
  readonly command: readonly [string, ...string[]];
  /** Whether this machine has the language. */
  readonly isHere: boolean;
  /** Its name, and the reason if its tests are left out. */
  readonly title: string;
}

/** The languages of docs/api/samples. */
export const languages: readonly Language[] = [
  language('node', 'mjs', [process.execPath]),
  language('python', 'py', [python]),
  language('php', 'php', [php]),
];

function language(name: string, ending: string, command: readonly [string]): Language {
  const isHere = spawnSync(command[0], ['--version']).status === 0;
  return { name, ending, command, isHere, title: isHere ? name : `${name} (left out: no ${command[0]})` };
}

/** A program of docs/api/samples that runs, with nothing in its environment but what it needs and is given. */
export function startProgram(
  { name, ending, command: [command, ...options] }: Language,
  program: string,
  environment: Readonly<Record<string, string>>,
  programArguments: readonly string[] = [],
): ChildProcessByStdio<null, Readable, Readable> {
  const file = path.join(folder, name, `${program}.${ending}`);
  // A web page in PHP needs a server around it.
  const server =
    name === 'php' && program === 'receiver' ? ['-S', `127.0.0.1:${environment['PORT'] ?? ''}`] : [];
  const env = { ...process.env, ...environment };
  return spawn(command, [...options, ...server, file, ...programArguments], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
    // A program that waits for an end that never comes.
    timeout: 90_000,
    killSignal: 'SIGKILL',
  });
}

/** Runs a program of docs/api/samples to its end. */
export async function runProgram(
  ...[language, program, environment, programArguments]: Parameters<typeof startProgram>
): Promise<{ readonly code: number; readonly stdout: string; readonly stderr: string }> {
  const running = startProgram(language, program, environment, programArguments);
  let stdout = '';
  let stderr = '';
  running.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  running.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(running, 'close')) as [number | null];
  return { code: code ?? -1, stdout, stderr };
}
