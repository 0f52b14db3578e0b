import { type Clock, createIds, type Ids, type Random, systemClock, systemRandom } from '@pesewa/kernel';
import closeWithGrace from 'close-with-grace';
import type { Hono } from 'hono';
import { collectDefaultMetrics, Registry } from 'prom-client';
import type { z } from 'zod';
import { ConfigError, configError, parseConfig, type serviceSettings } from './config.ts';
import { connectionProblems } from './connections.ts';
import { type CrashPoint, createCrashPoints } from './crash-points.ts';
import { createHealth, type Health } from './health.ts';
import { serveHttp } from './http.ts';
import { createLogger, type Logger } from './logger.ts';
import { createOperationsApp, mountOperator } from './operations.ts';
import { createOperators, operatorsProblem } from './operators.ts';
import { createRequestMeter, type RequestMeter } from './requests.ts';
import { startTracing } from './tracing.ts';

/** What a composition root is given: everything of the process that others must not reach for themselves. */
export interface ServiceScope<Config> {
  readonly config: Config;
  readonly logger: Logger;
  readonly metrics: Registry;
  /** Counts, times and traces the requests of the public API. */
  readonly requests: RequestMeter;
  readonly health: Health;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
  readonly crashPoint: CrashPoint;
  /** The operator routes of this service, behind the operators' tokens; `operatorOf` tells them who calls. */
  readonly operator: Hono;
  /** Registers a resource to be closed, in the reverse order of opening. */
  readonly open: <Resource extends AsyncDisposable>(
    resource: Resource | Promise<Resource>,
  ) => Promise<Resource>;
  /** Ends the process for good: breakage that a restart mends better than we do. */
  readonly abort: (error: Error) => void;
}

const CLOSE_TIMEOUT_MS = 25_000;

/** One service as its process runs it. */
export interface Service<Schema extends z.ZodType> {
  readonly name: string;
  readonly settings: Schema;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** What must be done once before the service runs, by `node src/main.ts prepare`; gives a line that says what was done. */
  readonly prepare?: (config: z.output<Schema>) => Promise<string>;
}

/**
 * Runs one service: configuration, logging, the operations port, then `compose`; closes in reverse on a signal. With the
 * argument `prepare` it does what the service prepares, and nothing else.
 *
 * A configuration problem ends with exit code 2 and every problem listed; breakage at start or later with 1.
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
  const resources = new AsyncDisposableStack();
  const health = createHealth();
  const metrics = new Registry();
  collectDefaultMetrics({ register: metrics });
  const requests = createRequestMeter(metrics);
  closeWithGrace({ delay: CLOSE_TIMEOUT_MS, logger: false }, async ({ signal, err }) => {
    health.setServing(false);
    if (err) logger.fatal({ err }, 'unexpected error, closing');
    else logger.info({ signal }, 'closing');
    await resources.disposeAsync();
  });
  const abort = (error: Error) => {
    logger.fatal({ err: error }, 'cannot go on, ending the process');
    process.exit(1);
  };
  try {
    resources.use(await startTracing({ service: name, config, metrics, clock: systemClock }));
    const operations = createOperationsApp({ health, metrics, logger });
    await compose({
      config,
      logger,
      metrics,
      requests,
      health,
      clock: systemClock,
      random: systemRandom,
      ids: createIds(systemClock, systemRandom),
      crashPoint: createCrashPoints(config.CRASH_AT),
      operator: operations.operator,
      open: async (resource) => resources.use(await resource),
      abort,
    });
    mountOperator(operations, createOperators(config.OPERATOR_TOKEN, config.OPERATORS));
    const { HOST: host, OPERATIONS_PORT: port } = config;
    // Probes and scrapes would bury the traces of payments.
    const untraced = { ...requests, isTraced: false };
    resources.use(await serveHttp({ app: operations.app, host, port, requests: untraced }));
    health.setServing(true);
    logger.info({ port: config.PORT, operationsPort: config.OPERATIONS_PORT }, 'ready');
  } catch (error) {
    logger.fatal({ err: error }, 'could not start');
    await resources.disposeAsync();
    process.exit(1);
  }
}

/** Whether the service is to be prepared; an argument that nobody knows is a problem of configuration. */
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
