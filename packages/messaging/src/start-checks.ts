import { topics } from '@pesewa/contracts';
import {
  checkTopics,
  createKafka,
  describeTopics,
  type KafkaOptions,
  type StartCheckResult,
} from '@pesewa/kafka';
import { withDeadline } from '@pesewa/kernel';
import type { ServiceScope } from '@pesewa/runtime';
import { type MongoClient, MongoServerError } from 'mongodb';
import { checkServer } from './database/database-checks.ts';
import { connectClient, type Database, openDatabase } from './database/mongo.ts';
import {
  type CollectionSchema,
  databaseSchemaOf,
  ensureDatabaseSchema,
  readCollections,
} from './database/schema.ts';
import { startLoop } from './loop.ts';
import { type MessagingRole, topicsWritten } from './role.ts';

/** Production must not run with what was found; each reason is in the log. */
class UnsafeError extends Error {
  override readonly name = 'UnsafeError';
}

/** What a service declares, all of which is checked. */
interface Declared extends MessagingRole {
  /** The service's own collections. */
  readonly databaseSchema?: readonly CollectionSchema[];
  readonly kafka: KafkaOptions;
}

type Scope = Pick<
  ServiceScope<{
    readonly MONGODB_URL: string;
    readonly DATABASE_PREFIX: string;
    readonly TOPIC_PREFIX: string;
    readonly NODE_ENV: string;
  }>,
  'config' | 'clock' | 'logger' | 'abort' | 'open'
>;

/** `database` is the database's name with the installation's prefix. */
interface Deps extends Declared {
  readonly scope: Scope;
}

/** Opens the database of a service: in production after {@link checkStart}, elsewhere with all collections it declares. */
export async function openCheckedDatabase(scope: Scope, declared: Declared): Promise<Database> {
  const { config, clock } = scope;
  const database = `${config.DATABASE_PREFIX}${declared.database}`;
  const isProduction = config.NODE_ENV === 'production';
  if (isProduction) await checkStart({ ...declared, database, scope });
  const opened = await scope.open(
    'database',
    openDatabase({ url: config.MONGODB_URL, database, appName: declared.service, clock }),
  );
  if (!isProduction) await ensureDatabaseSchema(opened.db, databaseSchemaOf(declared.databaseSchema));
  return opened;
}

/** Long enough for a healthy cluster; without Kafka a service starts all the same (ADR 4). */
const KAFKA_TIMEOUT_MS = 5_000;
const KAFKA_PAUSE_MS = 15_000;

/**
 * Refuses to start in production if money could be lost: one log line for each reason, then an {@link UnsafeError}. If
 * Kafka does not answer now, its topics are checked as soon as it does, and a problem with them ends the process.
 */
async function checkStart(deps: Deps): Promise<void> {
  const { logger, open } = deps.scope;
  const [server, kafka] = await Promise.all([
    askServer(deps),
    askKafka(deps).catch((error: unknown) => {
      logger.warn({ err: error }, 'Kafka does not answer: its topics are checked once it does');
    }),
  ]);
  refuse(logger, [server, ...(kafka ? [kafka] : [])]);
  if (!kafka) await open('topic check', checkLater(deps));
}

function checkLater(deps: Deps): AsyncDisposable {
  const { clock, logger, abort } = deps.scope;
  let isChecked = false;
  return startLoop({
    name: 'topic check',
    pauseMs: KAFKA_PAUSE_MS,
    clock,
    logger,
    round: async () => {
      if (isChecked) return false;
      // If this rejects, the loop logs it and repeats the round.
      const result = await askKafka(deps);
      isChecked = true;
      try {
        refuse(logger, [result]);
      } catch (error) {
        if (!(error instanceof UnsafeError)) throw error;
        abort(error);
      }
      return false;
    },
  });
}

function refuse(logger: Scope['logger'], results: readonly StartCheckResult[]): void {
  for (const unchecked of results.flatMap((one) => one.unchecked)) logger.warn(unchecked);
  const problems = results.flatMap((one) => one.problems);
  for (const { message, remedy } of problems) logger.error({ remedy }, message);
  if (problems.length > 0)
    throw new UnsafeError(`production must not run like this: ${problems.length} problem(s), each logged`);
}

async function askServer({ scope, database, service, ...deps }: Deps): Promise<StartCheckResult> {
  const client = await connectClient({ url: scope.config.MONGODB_URL, appName: service });
  try {
    const declared = databaseSchemaOf(deps.databaseSchema);
    const [hello, transactionLifetimeS, collections] = await Promise.all([
      client.db('admin').command({ hello: 1 }),
      readLifetime(client),
      readCollections(client.db(database), declared),
    ]);
    return checkServer({ hello, transactionLifetimeS, database, collections }, declared);
  } finally {
    await client.close();
  }
}

async function readLifetime(client: MongoClient): Promise<number | undefined> {
  const name = 'transactionLifetimeLimitSeconds';
  try {
    const answer = await client.db('admin').command({ getParameter: 1, [name]: 1 });
    return Number(answer[name]);
  } catch (error) {
    // The parameter can't be read without the right to it, and a mongos does not have it.
    if (error instanceof MongoServerError) return undefined;
    throw error;
  }
}

async function askKafka(deps: Deps): Promise<StartCheckResult> {
  const { consumes = [], readsOutsideGroup = [] } = deps;
  const used = [...topicsWritten(deps), ...[...consumes, ...readsOutsideGroup].map((name) => topics[name])];
  const names = [...new Set(used.map(({ name }) => deps.scope.config.TOPIC_PREFIX + name))];
  const kafka = createKafka({ ...deps.kafka, log: () => undefined }, 1);
  return checkTopics(
    names,
    await withDeadline(describeTopics(kafka, names), KAFKA_TIMEOUT_MS, deps.scope.clock),
  );
}
