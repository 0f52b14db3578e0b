import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * The guarded side of the watchdog: the groups and directories it lists are removed when this process ends, even by
 * SIGKILL.
 */
export interface WatchdogLink {
  /** Lists a process group by its leader; `signal` is the first one it gets. */
  guard(pid: number, signal: 'SIGTERM' | 'SIGKILL'): void;
  forget(pid: number): void;
  /** Lists a directory that is removed after the groups have ended. */
  remove(directory: string): void;
  keep(directory: string): void;
  /** Releases the watchdog and waits until it has ended. */
  close(): Promise<void>;
}

const program = fileURLToPath(new URL('./watchdog.ts', import.meta.url));

/** Starts the watchdog, a detached Node process, and restarts it if it dies. */
export function openWatchdog(): WatchdogLink {
  const groups = new Map<number, string>();
  const directories = new Set<string>();
  let closing = false;
  let ended: Promise<void> = Promise.resolve();
  let watchdog: ChildProcess = launch();

  function say(line: string): void {
    watchdog.stdin?.write(`${line}\n`);
  }

  function launch(): ChildProcess {
    const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', program], {
      detached: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      // The watchdog must not inherit an inspector port or preloads of the guarded process.
      env: { ...process.env, NODE_OPTIONS: '' },
    });
    child.unref();
    // A broken pipe only means that the watchdog died; the exit handler starts the next one.
    child.stdin?.on('error', () => undefined);
    ended = new Promise((resolve) => {
      child.once('error', () => resolve());
      child.once('exit', () => {
        resolve();
        if (closing) return;
        watchdog = launch();
        for (const [pid, signal] of groups) say(`guard ${pid} ${signal}`);
        for (const directory of directories) say(`remove ${directory}`);
      });
    });
    return child;
  }

  return {
    guard(pid, signal) {
      groups.set(pid, signal);
      say(`guard ${pid} ${signal}`);
    },
    forget(pid) {
      if (groups.delete(pid)) say(`forget ${pid}`);
    },
    remove(directory) {
      directories.add(directory);
      say(`remove ${directory}`);
    },
    keep(directory) {
      if (directories.delete(directory)) say(`keep ${directory}`);
    },
    async close() {
      closing = true;
      watchdog.ref();
      watchdog.stdin?.end();
      await ended;
    },
  };
}
