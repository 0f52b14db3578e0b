import { systemClock } from '@pesewa/kernel';
import closeWithGrace from 'close-with-grace';
import { collectDefaultMetrics, Registry } from 'prom-client';
import { ConfigError } from './config.ts';
import { createLogger, type Logger } from './logger.ts';
import type {
  ConfiguredService,
  Environment,
  OpenService,
  RecoverOptions,
  RunnableService,
} from './service.ts';
import { startTracing } from './tracing.ts';

/** The end of a process takes less than this beside the drain delay (ADR 52); the steps have a second less, and say what hangs. */
export const END_TIMEOUT_MS = 40_000;
const END_STEPS_MS = END_TIMEOUT_MS - 1_000;

/** A service of a process, and its variables. */
export interface ServiceToRun {
  readonly service: RunnableService;
  readonly environment: Environment;
  /** What it waits for before it is put together. */
  readonly after?: Promise<unknown>;
}

/** Runs one service as a process of its own; see {@link runServices}. */
export function runService(service: RunnableService, environment: Environment): Promise<void> {
  return runServices(service.name, [{ service, environment }]);
}

/**
 * Runs services in one process, each with its own settings, ports, health and metrics: configuration, logging,
 * composition, then the operations port. On a signal each closes in reverse order, its operations port last. The process
 * then ends with exit code 0, or with 1 if a step failed or hung; a second signal ends it at once. With the argument
 * `prepare` it only does the services' preparations; with `recover` it only repairs their databases.
 *
 * Problems of configuration end it with exit code 2, and all are listed; any other error, at the start or later, with 1.
 * What one service can't go on after ends all of them.
 */
export async function runServices(name: string, given: readonly ServiceToRun[]): Promise<void> {
  const { task, ...options } = readArguments(name);
  const configured = configureAll(given);
  if (task === 'prepare') for (const each of configured) await prepareService(each);
  if (task === 'recover') for (const each of configured) await recoverService(each, options);
  if (task !== undefined) return;
  const [first] = configured;
  if (!first) throw new RangeError(`${name} has no services`);
  const delayMs = Math.max(...configured.map(({ config }) => config.DRAIN_DELAY_MS));
  const running = configured.map((each) => each.open({ withinMs: END_STEPS_MS + delayMs }));
  const logger = createLogger({ name, level: first.config.LOG_LEVEL });
  closeOnSignals({ running, logger, withinMs: END_TIMEOUT_MS + delayMs });
  shareProcessMetrics(running);
  await Promise.all(
    running.map((one, index) =>
      startService(one, running, async () => {
        // Spans are recorded by the process, so the first service's settings count, and its end is theirs.
        if (index === 0) await openTracing(name, one, first.config);
        await given[index]?.after;
      }),
    ),
  );
}

async function startService(
  { logger, shutdown, start }: OpenService,
  running: readonly OpenService[],
  first: () => Promise<unknown>,
): Promise<void> {
  try {
    await start(first);
  } catch (error) {
    // The end has begun: it ends the process, and is the reason why nothing more could be opened.
    if (shutdown.hasBegun()) return;
    logger.fatal({ err: error }, 'could not start');
    await closeAll(running);
    process.exit(1);
  }
}

async function openTracing(
  name: string,
  { metrics, shutdown }: OpenService,
  config: ConfiguredService['config'],
): Promise<void> {
  const tracing = await startTracing({ service: name, config, metrics, clock: systemClock });
  if (tracing) await shutdown.open('tracing', tracing);
}

/** Memory, CPU and the event loop are the process's: measured once, and shown with the metrics of each service. */
function shareProcessMetrics(running: readonly OpenService[]): void {
  const register = new Registry();
  collectDefaultMetrics({ register });
  for (const { name } of register.getMetricsAsArray()) {
    const metric = register.getSingleMetric(name);
    if (metric) for (const { metrics } of running) metrics.registerMetric(metric);
  }
}

/** What is to be done instead of running; an unknown argument is a problem of configuration. */
function readArguments(name: string) {
  const [task, ...options] = process.argv.slice(2);
  const isGiven = (option: string) => options.includes(option);
  const given = {
    isDryRun: isGiven('--dry-run'),
    passesGaps: isGiven('--pass-gaps'),
    isRestored: isGiven('--restored'),
  };
  const known = task === 'recover' ? Object.values(given).filter(Boolean).length : 0;
  if ([undefined, 'prepare', 'recover'].includes(task) && options.length === known) return { task, ...given };
  const tasks = 'prepare, or recover [--restored] [--dry-run] [--pass-gaps]';
  process.stderr.write(`${name}: unknown argument: give none to run the service, ${tasks}\n`);
  return process.exit(2);
}

function configureAll(given: readonly ServiceToRun[]): readonly ConfiguredService[] {
  const configured: ConfiguredService[] = [];
  for (const { service, environment } of given) {
    try {
      configured.push(service.configure(environment));
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      process.stderr.write(`${service.name}: ${error.message}\n`);
    }
  }
  if (configured.length < given.length) process.exit(2);
  return configured;
}

async function prepareService({ name, logger, prepare }: ConfiguredService): Promise<void> {
  try {
    process.stdout.write(`${name}: ${await prepare()}\n`);
  } catch (error) {
    logger.fatal({ err: error }, 'could not prepare');
    process.exit(1);
  }
}

async function recoverService(
  configured: ConfiguredService,
  options: Omit<RecoverOptions, 'report'>,
): Promise<void> {
  const { name, recover, shutdown, logger } = configured.open({ withinMs: END_STEPS_MS });
  // The first process of a container would ignore them. What is interrupted is begun again.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
  const report = (line: string) => process.stdout.write(`${name}: ${line}\n`);
  try {
    report(await recover({ ...options, report }));
  } catch (error) {
    logger.fatal({ err: error }, 'could not recover');
    process.exitCode = 1;
  }
  if ((await shutdown.close()).length > 0) process.exitCode = 1;
}

/** Closes all services, each in its own order; gives the steps that failed. */
async function closeAll(running: readonly OpenService[]): Promise<readonly string[]> {
  return (await Promise.all(running.map(({ shutdown }) => shutdown.close()))).flat();
}

/** Closes on a signal, or on an uncaught error. */
function closeOnSignals(deps: {
  readonly running: readonly OpenService[];
  readonly logger: Logger;
  readonly withinMs: number;
}): void {
  const { running, logger } = deps;
  closeWithGrace(
    {
      delay: deps.withinMs,
      logger: false,
      onSecondSignal: (signal) => logger.warn({ signal }, 'ending at once'),
      onSecondError: (err) => logger.fatal({ err }, 'unexpected error while closing, ending at once'),
      onTimeout: () => logger.fatal('closing takes too long, ending at once'),
    },
    async ({ signal, err }) => {
      for (const { health } of running) health.setServing(false);
      if (err) logger.fatal({ err }, 'unexpected error, closing');
      else logger.info({ signal }, 'closing');
      const failed = await closeAll(running);
      if (failed.length > 0) throw new Error(`not closed in order: ${failed.join(', ')}`);
    },
  );
}
