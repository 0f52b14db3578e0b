import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { ServiceName } from '@pesewa/contracts';
import {
  type Child,
  type ChildExit,
  lastFault,
  messageOf,
  StartError,
  type Supervisor,
  waitUntil,
} from '@pesewa/infrastructure';

/** A service process that is kept alive: if it dies, it is restarted with back-off. */
export interface SupervisedService<Name extends string = ServiceName> {
  readonly name: Name;
  readonly pid: () => number;
  /** Resolves once it answers on `/readyz`. */
  readonly ready: () => Promise<void>;
  /**
   * Ends the process and starts it again, with further variables if given, after `meanwhile` has finished; gives how it
   * ended.
   */
  readonly restart: (
    extra?: Readonly<Record<string, string>>,
    meanwhile?: () => Promise<unknown>,
  ) => Promise<ChildExit>;
  /** Runs its program once with arguments, which the supervised process must not disturb; gives how it ended. */
  readonly runOnce: (...args: readonly string[]) => Promise<ChildExit>;
  /** Has it started again at once when it dies next: someone means it to die. */
  readonly resetBackoff: () => void;
  /** Leaves it down when it dies next, until the result is disposed of. */
  readonly holdStart: () => Disposable;
  /** Ends it for good. */
  readonly stop: () => Promise<void>;
}

const BACKOFF_MS = { first: 300, last: 10_000 } as const;
const STABLE_MS = 20_000;

/**
 * Room for short-lived objects: a batch's messages die young, and collecting them too early cost a busy ledger a tenth
 * of its speed.
 */
const nodeOptions = ['--max-semi-space-size=32'];
const READY_TIMEOUT_MS = 60_000;
/** Longer than an ordered end may take. */
const STOP_GRACE_MS = 45_000;

/** The variables that a service inherits from our own environment; all others are given explicitly. */
const inherited = () => ({
  PATH: process.env['PATH'],
  NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
});

interface SuperviseOptions<Name extends string> {
  readonly name: Name;
  readonly supervisor: Supervisor;
  readonly root: string;
  /** The file that is run, below the root; by default the service's own. */
  readonly program?: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly operationsUrl: string;
  readonly logFile: string;
  readonly log: (line: string) => void;
  /** Called with every new process id. */
  readonly started: (pid: number) => void;
}

const childOf = (
  { name, root, program, environment, logFile }: SuperviseOptions<string>,
  extra: Readonly<Record<string, string>>,
  args: readonly string[] = [],
): Parameters<Supervisor['spawnChild']>[0] => ({
  name,
  command: process.execPath,
  args: [...nodeOptions, program ?? `services/${name}/src/main.ts`, ...args],
  cwd: root,
  env: { ...inherited(), ...environment, ...extra },
  logFile,
  stopGraceMs: STOP_GRACE_MS,
});

/** Starts a service and keeps it running. */
export async function superviseService<Name extends string>(
  options: SuperviseOptions<Name>,
): Promise<SupervisedService<Name>> {
  let child: Child;
  let stopping = false;
  let expected = false;
  let delayMs: number = BACKOFF_MS.first;
  let next: Promise<void> = Promise.resolve();
  let held: Promise<void> = Promise.resolve();

  async function start(extra: Readonly<Record<string, string>>): Promise<void> {
    const startedAtMs = Date.now();
    const launched = await options.supervisor.spawnChild(childOf(options, extra));
    child = launched;
    options.started(launched.pid);
    void launched.exited.then(({ code, signal }) => {
      if (stopping || expected) return;
      if (Date.now() - startedAtMs > STABLE_MS) delayMs = BACKOFF_MS.first;
      const how = signal ?? `code ${code}`;
      options.log(
        `${options.name} died (${how}); starting it again in ${delayMs / 1000} s — see ${options.logFile}`,
      );
      next = pauseThenStart();
    });
  }

  async function pauseThenStart(): Promise<void> {
    const pauseMs = delayMs;
    delayMs = Math.min(delayMs * 2, BACKOFF_MS.last);
    await setTimeout(pauseMs);
    await held;
    if (!stopping)
      await start({}).catch((error: unknown) => options.log(`${options.name}: ${String(error)}`));
  }

  await start({});
  return {
    name: options.name,
    pid: () => child.pid,
    ready: () => untilReady(options),
    restart: async (extra = {}, meanwhile = () => Promise.resolve()) => {
      await next;
      expected = true;
      const exit = await child.stop();
      await meanwhile();
      expected = false;
      delayMs = BACKOFF_MS.first;
      await start(extra);
      return exit;
    },
    runOnce: async (...args) => {
      const once = await options.supervisor.spawnChild(childOf(options, {}, args));
      return once.exited;
    },
    resetBackoff: () => {
      delayMs = BACKOFF_MS.first;
    },
    holdStart: () => {
      const release = Promise.withResolvers<void>();
      held = release.promise;
      return { [Symbol.dispose]: release.resolve };
    },
    stop: async () => {
      stopping = true;
      await child.stop();
    },
  };
}

/** Resolves once a service answers on `/readyz`; the error ends with what its log says of why it does not. */
export async function untilReady(
  service: Pick<SuperviseOptions<string>, 'name' | 'root' | 'logFile' | 'operationsUrl'>,
): Promise<void> {
  const { name, logFile } = service;
  try {
    await waitUntil(`${name} (see ${logFile})`, READY_TIMEOUT_MS, async () => {
      const answer = await fetch(`${service.operationsUrl}/readyz`);
      if (!answer.ok) throw new Error(await answer.text());
    });
  } catch (error) {
    const log = await readFile(join(service.root, logFile), 'utf8').catch(() => '');
    throw new StartError(`${messageOf(error)}; its log: ${lastFault(log.slice(-20_000))}`);
  }
}
