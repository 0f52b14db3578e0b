import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { createInterface } from 'node:readline';
import { StartError, systemCode } from './errors.ts';
import { openWatchdog, type WatchdogLink } from './watchdog-link.ts';

/** How a child process is run. */
export interface ChildOptions {
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  /** The child's whole environment; by default this process's own. */
  readonly env?: NodeJS.ProcessEnv;
  readonly cwd?: string;
  /** The file to which both outputs are appended; without it and `onLine` they are dropped. */
  readonly logFile?: string;
  /** Gets each line of both outputs; excludes `logFile`. */
  readonly onLine?: (line: string) => void;
  /** The first signal that ends it; SIGTERM by default. */
  readonly stopSignal?: 'SIGTERM' | 'SIGKILL';
  /** How long it may take to end before SIGKILL; 5,000 by default. */
  readonly stopGraceMs?: number;
}

/** How a child ended. */
export interface ChildExit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** A running child and leader of its own process group. */
export interface Child {
  readonly name: string;
  readonly pid: number;
  readonly exited: Promise<ChildExit>;
  running(): boolean;
  /** Sends a signal to the group, if it still runs. */
  signal(signal: NodeJS.Signals): void;
  /** Ends the group: the stop signal, and SIGKILL after `graceMs` (by default its own grace). */
  stop(graceMs?: number): Promise<ChildExit>;
}

/**
 * Keeps child processes from outliving this process, even if it is killed by SIGKILL. Closing stops the children in
 * reverse order of their start, then removes the listed directories.
 */
export interface Supervisor extends AsyncDisposable {
  /** Starts a child; rejects with a one-line StartError if the command can't be run. */
  spawnChild(options: ChildOptions): Promise<Child>;
  /** Lists a directory to be removed on close, or when this process dies. */
  removeOnClose(directory: string): void;
  /** Removes a directory from that list. */
  keep(directory: string): void;
  /** A supervisor of its own children that shares this one's watchdog; closed by itself or together with this one. */
  scope(): Supervisor;
  close(): Promise<void>;
}

const defaultGraceMs = 5_000;

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // Gone already, or (macOS) not yet reaped.
    if (systemCode(error) !== 'ESRCH' && systemCode(error) !== 'EPERM') throw error;
  }
}

function launch(options: ChildOptions): ChildProcess {
  const { command, args, env, cwd, logFile, onLine } = options;
  if (logFile !== undefined) mkdirSync(dirname(logFile), { recursive: true });
  const log = logFile === undefined ? undefined : openSync(logFile, 'a');
  const output = log ?? (onLine === undefined ? 'ignore' : 'pipe');
  try {
    return spawn(command, args, {
      detached: true,
      stdio: ['ignore', output, output],
      ...(env === undefined ? {} : { env }),
      ...(cwd === undefined ? {} : { cwd }),
    });
  } finally {
    if (log !== undefined) closeSync(log);
  }
}

function spawned(process: ChildProcess, options: ChildOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    process.once('spawn', resolve);
    process.once('error', (error) => {
      const why = systemCode(error) === 'ENOENT' ? 'not found' : (systemCode(error) ?? error.message);
      reject(new StartError(`cannot start ${options.name}: ${options.command}: ${why}`));
    });
  });
}

async function startChild(options: ChildOptions, watchdog: WatchdogLink): Promise<Child> {
  const stopSignal = options.stopSignal ?? 'SIGTERM';
  const process = launch(options);
  const { pid } = process;
  // Listed before anything is awaited, so that the child is ended even if this process is killed now.
  if (pid !== undefined) watchdog.guard(pid, stopSignal);
  const { onLine } = options;
  if (onLine !== undefined) {
    for (const stream of [process.stdout, process.stderr]) {
      if (stream !== null) createInterface({ input: stream }).on('line', onLine);
    }
  }
  const exited = new Promise<ChildExit>((resolve) => {
    // With outputs piped, `close` comes after the last line; `exit` may come before it.
    process.once(
      onLine === undefined ? 'exit' : 'close',
      (code: number | null, signal: NodeJS.Signals | null) => resolve({ code, signal }),
    );
  });
  process.once('exit', () => {
    if (pid === undefined) return;
    signalGroup(pid, 'SIGKILL');
    watchdog.forget(pid);
  });
  await spawned(process, options);
  if (pid === undefined) throw new StartError(`cannot start ${options.name}: it has no process id`);
  const running = (): boolean => process.exitCode === null && process.signalCode === null;
  return {
    name: options.name,
    pid,
    exited,
    running,
    signal(signal) {
      if (running()) signalGroup(pid, signal);
    },
    async stop(graceMs = options.stopGraceMs ?? defaultGraceMs) {
      if (running()) signalGroup(pid, stopSignal);
      const timer = setTimeout(() => signalGroup(pid, 'SIGKILL'), graceMs);
      const exit = await exited;
      clearTimeout(timer);
      return exit;
    },
  };
}

function createScope(watchdog: WatchdogLink, closeWatchdog: () => Promise<void>): Supervisor {
  const started: (() => Promise<unknown>)[] = [];
  const directories = new Set<string>();
  const starting = new Set<Promise<Child>>();
  let closed: Promise<void> | undefined;

  async function shutDown(): Promise<void> {
    await Promise.allSettled(starting);
    for (const stop of started.toReversed()) await stop();
    for (const directory of directories) {
      await rm(directory, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 });
      watchdog.keep(directory);
    }
    await closeWatchdog();
  }

  function close(): Promise<void> {
    closed ??= shutDown();
    return closed;
  }

  return {
    async spawnChild(options) {
      if (closed !== undefined) throw new StartError(`cannot start ${options.name}: everything is stopping`);
      const start = startChild(options, watchdog);
      starting.add(start);
      try {
        const child = await start;
        const stop = (): Promise<unknown> => child.stop();
        started.push(stop);
        void child.exited.then(() => started.splice(started.indexOf(stop), 1));
        return child;
      } finally {
        starting.delete(start);
      }
    },
    removeOnClose(directory) {
      directories.add(directory);
      watchdog.remove(directory);
    },
    keep(directory) {
      directories.delete(directory);
      watchdog.keep(directory);
    },
    scope() {
      const scope = createScope(watchdog, () => Promise.resolve());
      started.push(scope.close);
      return scope;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Opens a keeper of child processes with a watchdog of its own. */
export function createSupervisor(): Supervisor {
  const watchdog = openWatchdog();
  return createScope(watchdog, () => watchdog.close());
}
