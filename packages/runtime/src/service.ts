import { type Clock, createIds, type Ids, type Random, systemClock, systemRandom } from '@pesewa/kernel';
import type { Hono } from 'hono';
import { Registry } from 'prom-client';
import type { z } from 'zod';
import { ConfigError, configError, parseConfig, type serviceSettings } from './config.ts';
import { connectionProblems } from './connection-settings.ts';
import { type CrashPoint, createCrashPoints } from './crash-points.ts';
import { createHealth, type Health } from './health.ts';
import { serveHttp } from './http.ts';
import { createLogger, type Logger } from './logger.ts';
import { createOperationsApp, mountOperator, serveOperatorDocument } from './operations.ts';
import { createTokenVerifier } from './operator-tokens.ts';
import { createOperators, operatorsProblem } from './operators.ts';
import { createRequestMeter, type RequestMeter } from './requests.ts';
import { createShutdown, type Shutdown } from './shutdown.ts';

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

/** A service: its settings, and how it is put together. */
export interface Service<Schema extends z.ZodType> {
  readonly name: string;
  readonly settings: Schema;
  /** The work that must be done once before the service runs; gives a line that reports it. */
  readonly prepare?: (config: z.output<Schema>) => Promise<string>;
  /** Repairs the database after a restore, while the service is stopped; gives a line that reports it. */
  readonly recover?: (scope: ServiceScope<z.output<Schema>>, options: RecoverOptions) => Promise<string>;
  readonly compose: (scope: ServiceScope<z.output<Schema>>) => Promise<void>;
}

/** How a restored database is repaired. */
export interface RecoverOptions {
  /** Whether only what would be done is reported. */
  readonly isDryRun: boolean;
  /** Whether it goes on without events that the topics no longer have. */
  readonly passesGaps: boolean;
  /** Whether people say that the database was restored from a backup: Kafka does not always show it. */
  readonly isRestored: boolean;
  /** Shows a line of progress. */
  readonly report: (line: string) => void;
}

/** Variables by their names. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** A service that a process can run. */
export interface RunnableService {
  readonly name: string;
  /** Reads the settings; a {@link ConfigError} lists every problem. */
  readonly configure: (environment: Environment) => ConfiguredService;
}

/** A service whose settings have been read. */
export interface ConfiguredService {
  readonly name: string;
  readonly config: z.output<typeof serviceSettings>;
  readonly logger: Logger;
  /** Does the work that must be done once; gives a line that reports it. */
  readonly prepare: () => Promise<string>;
  readonly open: (closing: { readonly withinMs: number }) => OpenService;
}

/** A service that has what its process provides, and can be put together and closed. */
export interface OpenService extends Pick<ConfiguredService, 'name' | 'logger'> {
  readonly metrics: Registry;
  readonly health: Pick<Health, 'setServing'>;
  readonly shutdown: Shutdown;
  /**
   * Puts it together, then opens the operations port; `first` comes before the composition, and what it opens is closed
   * after it.
   */
  readonly start: (first: () => Promise<unknown>) => Promise<void>;
  /** Repairs its database instead; gives a line that reports it. */
  readonly recover: (options: RecoverOptions) => Promise<string>;
}

/** Makes a service one that {@link runServices} can run. */
export function defineService<Schema extends z.ZodType<z.output<typeof serviceSettings>>>(
  service: Service<Schema>,
): RunnableService {
  const { name, settings, prepare } = service;
  return {
    name,
    configure: (environment) => {
      const config = readConfig(settings, environment);
      const logger = createLogger({ name, level: config.LOG_LEVEL });
      return {
        name,
        config,
        logger,
        prepare: async () => (await prepare?.(config)) ?? 'there is nothing to prepare',
        open: (closing) => openService(service, config, logger, closing),
      };
    },
  };
}

function openService<Schema extends z.ZodType<z.output<typeof serviceSettings>>>(
  { name, compose, recover }: Service<Schema>,
  config: z.output<Schema>,
  logger: Logger,
  closing: { readonly withinMs: number },
): OpenService {
  const clock = systemClock;
  const health = createHealth();
  const metrics = new Registry();
  const monotonicMs = () => performance.now();
  const shutdown = createShutdown({ ...closing, clock, monotonicMs, logger });
  const requests = createRequestMeter(metrics);
  const operations = createOperationsApp({ health, metrics, logger });
  const scope: ServiceScope<z.output<Schema>> = {
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
    abort: (error) => {
      logger.fatal({ err: error }, 'cannot go on, ending the process');
      process.exit(1);
    },
  };
  return {
    name,
    logger,
    metrics,
    health,
    shutdown,
    recover: async (options) => (await recover?.(scope, options)) ?? 'there is nothing to recover',
    start: async (first) => {
      const port = await shutdown.open('operations port', createLatePort());
      await first();
      await compose(scope);
      const operators = createOperators(
        config.OPERATOR_TOKEN,
        config.OPERATORS,
        config.NODE_ENV !== 'production',
        createTokenVerifier(config, { clock, monotonicMs, logger }),
      );
      serveOperatorDocument(operations, name);
      await shutdown.open('operator requests', mountOperator(operations, operators));
      const { OPERATIONS_HOST: host = config.HOST, OPERATIONS_PORT: operationsPort } = config;
      // Probes and scrapes would bury the traces of payments; operators' requests have their spans once it is known whose they are.
      const untraced = { ...requests, isTraced: false };
      const listening = { app: operations.app, host, port: operationsPort, requests: untraced };
      await port.listen({ ...listening, lingerMs: 0 });
      health.setServing(true);
      logger.info({ port: config.PORT, operationsPort }, 'ready');
    },
  };
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
  schema: Schema,
  environment: Environment,
): z.output<Schema> {
  const config = parseConfig(schema, environment);
  if (config.NODE_ENV === 'production' && config.CRASH_AT !== undefined) {
    throw new ConfigError('CRASH_AT is for tests: unset it in production');
  }
  const problem = operatorsProblem(config);
  if (problem !== undefined) throw new ConfigError(problem);
  const insecure = connectionProblems(config);
  if (insecure.length > 0) throw configError(insecure);
  return config;
}
