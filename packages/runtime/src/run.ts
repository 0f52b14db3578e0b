import { type Clock, createIds, type Ids, type Random, systemClock, systemRandom } from '@pesewa/kernel';
import closeWithGrace from 'close-with-grace';
import type { Hono } from 'hono';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { z } from 'zod';
import { ConfigError, configError, parseConfig, type serviceSettings } from './config.ts';
import { connectionProblems } from './connection-settings.ts';
import { type CrashPoint, createCrashPoints } from './crash-points.ts';
import { createHealth, type Health } from './health.ts';
import { serveHttp } from './http.ts';
import { createLogger, type Logger } from './logger.ts';
import { createOperationsApp, mountOperator } from './operations.ts';
import { createOperators, operatorsProblem } from './operators.ts';
import { createRequestMeter, type RequestMeter } from './requests.ts';
import { createShutdown, type Shutdown } from './shutdown.ts';
import { startTracing } from './tracing.ts';

/** What a composition root receives: the parts of the process that other code must not access directly. */
export interface ServiceScope<Config> {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Counts, times and traces the requests to the public API. */
  readonly requests: RequestMeter;
  readonly health: Health;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly crashPoint: CrashPoint;
  /** The operator routes of this service, behind the operators' tokens; `operatorOf` gives the caller's name. */
  readonly operator: Hono;
  /** Registers a resource to be closed, in reverse order of opening; the log uses this name for the step. */
  readonly open: Shutdown['open'];
  /** Ends the process: for an error that only a restart can fix. */
  readonly abort: (error: Error) => void;
}

/** The end of a process takes less than this beside the drain delay (ADR 52); the steps have a second less, and say what hangs. */
export const END_TIMEOUT_MS = 40_000;
const END_STEPS_MS = END_TIMEOUT_MS - 1_000;

/** A service as its process runs it. */
export interface Service<Schema extends z.ZodType> {
  readonly name: string;
  readonly settings: Schema;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /**
   * The work that must be done once before the service runs, by `node src/main.ts prepare`; gives a line that reports
   * it.
   */
  readonly prepare?: (config: z.output<Schema>) => Promise<string>;
}

/**
 * Runs one service: configuration, logging, `compose`, then the operations port. On a signal it closes in reverse
 * order, the operations port last. It then ends with exit code 0, or with 1 if a step failed or hung; a second signal
 * ends it at once. With the argument `prepare` it only runs the service's preparation.
 *
 * A configuration problem ends it with exit code 2 and lists every problem; any other error, at the start or later, with 1.
 */
export async function runService<Schema extends z.ZodType<z.output<typeof serviceSettings>>>(
  service: Service<Schema>,
  compose: (scope: ServiceScope<z.output<Schema>>) => Promise<void>,
): Promise<void> {
  const { name, settings, environment } = service;
  const isPreparing = readArguments(name, process.argv.slice(2));
  const config = readConfig(name, settings, environment);
  if (isPreparing) return prepareService(service, config);
  const logger = createLogger({ name, level: config.LOG_LEVEL });
  const clock = systemClock;
  const health = createHealth();
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const requests = createRequestMeter(metrics);
  const monotonicMs = () => performance.now();
  const delayMs = config.DRAIN_DELAY_MS;
  const shutdown = createShutdown({ withinMs: END_STEPS_MS + delayMs, clock, monotonicMs, logger });
  closeOnSignals({ shutdown, health, logger, withinMs: END_TIMEOUT_MS + delayMs });
  const abort = (error: Error) => {
    logger.fatal({ err: error }, 'cannot go on, ending the process');
    process.exit(1);
  };
  try {
    const operations = createOperationsApp({ health, metrics, logger });
    const port = await shutdown.open('operations port', createLatePort());
    const tracing = await startTracing({ service: name, config, metrics, clock });
    if (tracing) await shutdown.open('tracing', tracing);
    await compose({
      config,
      logger,
      metrics,
      requests,
      health,
      clock,
      random: systemRandom,
      ids: createIds(clock, systemRandom),
      crashPoint: createCrashPoints(config.CRASH_AT),
      operator: operations.operator,
      open: shutdown.open,
      abort,
    });
    const operators = createOperators(config.OPERATOR_TOKEN, config.OPERATORS);
    await shutdown.open('operator requests', mountOperator(operations, operators));
    const { HOST: host, OPERATIONS_PORT: operationsPort } = config;
    // Probes and scrapes would bury the traces of payments; operators' requests have their spans once it is known whose they are.
    const untraced = { ...requests, isTraced: false };
    const listening = { app: operations.app, host, port: operationsPort, requests: untraced };
    await port.listen({ ...listening, lingerMs: 0 });
    health.setServing(true);
    logger.info({ port: config.PORT, operationsPort }, 'ready');
  } catch (error) {
    // The end has begun: it ends the process, and is the reason why nothing more could be opened.
    if (shutdown.hasBegun()) return;
    logger.fatal({ err: error }, 'could not start');
    await shutdown.close();
    process.exit(1);
  }
}

/** Whether the service must only be prepared; an unknown argument is a problem of configuration. */
function readArguments(name: string, given: readonly string[]): boolean {
  const [first, ...others] = given;
  if (first === undefined) return false;
  if (first === 'prepare' && others.length === 0) return true;
  process.stderr.write(`${name}: unknown argument: give none to run the service, or prepare\n`);
  process.exit(2);
}

async function prepareService<Schema extends z.ZodType<z.output<typeof serviceSettings>>>(
  { name, prepare }: Service<Schema>,
  config: z.output<Schema>,
): Promise<void> {
  try {
    const done = (await prepare?.(config)) ?? 'there is nothing to prepare';
    process.stdout.write(`${name}: ${done}\n`);
  } catch (error) {
    createLogger({ name, level: config.LOG_LEVEL }).fatal({ err: error }, 'could not prepare');
    process.exit(1);
  }
}

/** Closes on a signal, or on an uncaught error. */
function closeOnSignals(deps: {
  readonly shutdown: Shutdown;
  readonly health: Pick<Health, 'setServing'>;
  readonly logger: Logger;
  readonly withinMs: number;
}): void {
  const { shutdown, logger } = deps;
  closeWithGrace(
    {
      delay: deps.withinMs,
      logger: false,
      onSecondSignal: (signal) => logger.warn({ signal }, 'ending at once'),
      onSecondError: (err) => logger.fatal({ err }, 'unexpected error while closing, ending at once'),
      onTimeout: () => logger.fatal('closing takes too long, ending at once'),
    },
    async ({ signal, err }) => {
      deps.health.setServing(false);
      if (err) logger.fatal({ err }, 'unexpected error, closing');
      else logger.info({ signal }, 'closing');
      const failed = await shutdown.close();
      if (failed.length > 0) throw new Error(`not closed in order: ${failed.join(', ')}`);
    },
  );
}

/** A port that is registered first and so closed last, so that probes and metrics see how everything else ends. */
function createLatePort(): AsyncDisposable & {
  readonly listen: (options: Parameters<typeof serveHttp>[0]) => Promise<void>;
} {
  let server: AsyncDisposable | undefined;
  return {
    listen: async (options) => {
      server = await serveHttp(options);
    },
    [Symbol.asyncDispose]: async () => {
      await server?.[Symbol.asyncDispose]();
    },
  };
}

function readConfig<Schema extends z.ZodType<z.output<typeof serviceSettings>>>(
  name: string,
  schema: Schema,
  environment: Readonly<Record<string, string | undefined>>,
): z.output<Schema> {
  try {
    const config = parseConfig(schema, environment);
    if (config.NODE_ENV === 'production' && config.CRASH_AT !== undefined) {
      throw new ConfigError('CRASH_AT is for tests: unset it in production');
    }
    const problem = operatorsProblem(config);
    if (problem !== undefined) throw new ConfigError(problem);
    const insecure = connectionProblems(config);
    if (insecure.length > 0) throw configError(insecure);
    return config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    process.stderr.write(`${name}: ${error.message}\n`);
    process.exit(2);
  }
}
