import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { variablesOf } from '@pesewa/compact';
import { type ServiceName, serviceNames } from '@pesewa/contracts';
import type { Supervisor } from '@pesewa/infrastructure';
import type { RunFile } from './run-file.ts';
import { operationsUrl, type StackSettings, serviceEnvironment } from './settings.ts';
import { type SupervisedService, superviseService, untilReady } from './supervise.ts';

/** Options of a stack's processes. */
export interface ProcessOptions {
  readonly root: string;
  readonly log: (line: string) => void;
  /** The folder for logs, below the root. */
  readonly logDirectory: string;
  /** Further variables for single services, for tests. */
  readonly environment?: Partial<Record<ServiceName, Readonly<Record<string, string>>>>;
  /** Called when a process id is new. */
  readonly changed?: () => void;
}

/** The processes of a stack's services. */
export interface Processes {
  /** Starts services and waits until each is ready; the reconciler is the last. */
  readonly start: (names: readonly ServiceName[]) => Promise<void>;
  readonly service: (name: ServiceName) => SupervisedService;
  /** The present process ids, by what runs in them. */
  readonly pids: RunFile['pids'];
}

interface ProcessesDeps {
  readonly options: ProcessOptions;
  readonly settings: StackSettings;
  readonly supervisor: Supervisor;
  /** Stops what was started. */
  readonly closers: AsyncDisposableStack;
}

/** The process of all services, in logs and where process ids are listed. */
const TOGETHER = 'pesewa';

/** Runs each service as a process of its own. */
export function createProcesses(deps: ProcessesDeps): Processes {
  const { options, settings, closers } = deps;
  const { pids, kept } = keepPids(options);
  const services = new Map<ServiceName, SupervisedService>();
  const service = (name: ServiceName): SupervisedService => {
    const found = services.get(name);
    if (!found) throw new RangeError(`no such service: ${name}`);
    return found;
  };
  const start = async (names: readonly ServiceName[]): Promise<void> => {
    for (const name of names) {
      const started = await superviseService({
        ...kept(deps, name),
        environment: environmentOf(deps, name),
        operationsUrl: operationsUrl(settings, name),
      });
      services.set(name, started);
      closers.defer(started.stop);
    }
    await Promise.all(names.map((name) => service(name).ready()));
  };
  return { start, service, pids };
}

/** Runs all services as one process, which is restarted as a whole. */
export function createOneProcess(deps: ProcessesDeps): Processes {
  const { options, settings, closers } = deps;
  const { pids, kept } = keepPids(options);
  const seededFile = join(settings.dataDirectory, 'seeded');
  let process: SupervisedService<typeof TOGETHER> | undefined;
  const started = new Set<ServiceName>();
  const readyOf = (name: ServiceName) =>
    untilReady({
      ...kept(deps, TOGETHER),
      name,
      operationsUrl: operationsUrl(settings, name),
    });
  const start = async (names: readonly ServiceName[]): Promise<void> => {
    if (names.includes('reconciler')) await writeFile(seededFile, '');
    if (!process) {
      process = await superviseService({
        ...kept(deps, TOGETHER),
        program: 'packages/stack/src/services/one-process.ts',
        environment: Object.assign(
          { SEEDED_FILE: seededFile },
          ...serviceNames.map((name) => variablesOf(name, environmentOf(deps, name))),
        ) as Readonly<Record<string, string>>,
        operationsUrl: operationsUrl(settings, 'ledger'),
      });
      closers.defer(process.stop);
    }
    // If one of them can't start yet, all begin anew, those that were ready before too.
    for (const name of names) started.add(name);
    await Promise.all([...started].map(readyOf));
  };
  const service = (name: ServiceName): SupervisedService => {
    if (!process) throw new RangeError(`${name} is not started yet`);
    const { restart, ...rest } = process;
    return {
      ...rest,
      name,
      ready: () => readyOf(name),
      restart: (extra = {}, meanwhile) => restart(variablesOf(name, extra), meanwhile),
    };
  };
  return { start, service, pids };
}

const environmentOf = ({ options, settings }: ProcessesDeps, name: ServiceName) => ({
  ...serviceEnvironment(settings, name),
  ...options.environment?.[name],
});

/** The part of supervising that is the same for all processes, and the process ids that it keeps. */
function keepPids(options: ProcessOptions) {
  const pids: Record<string, number> = {};
  const kept = <Name extends string>({ supervisor }: Pick<ProcessesDeps, 'supervisor'>, name: Name) => ({
    name,
    supervisor,
    root: options.root,
    logFile: join(options.logDirectory, `${name}.log`),
    log: options.log,
    started: (pid: number) => {
      pids[name] = pid;
      options.changed?.();
    },
  });
  return { pids, kept };
}
