import { parkedTopic, type TopicName, topics } from '@pesewa/contracts';
import { withDeadline } from '@pesewa/kernel';
import type { ServiceScope } from '@pesewa/runtime';
import type { Db, MongoClient } from 'mongodb';
import { Counter } from 'prom-client';
import { commitSource } from './bundle.ts';
import { createCatchingUp } from './catching-up.ts';
import { measureClockSkewMs, startClockGuard } from './clock-guard.ts';
import { openCodec } from './codec.ts';
import { runConsumer } from './consumer.ts';
import { type ApplyGroup, createGroupCommit, type GroupCommit, type GroupLimits } from './group-commit.ts';
import { createGroupProgress, type TopicEnd } from './group-progress.ts';
import { createKafka } from './kafka.ts';
import { leasesOf } from './lease.ts';
import { createMessageEncoder } from './message-encoder.ts';
import { openDatabase } from './mongo.ts';
import { offsetsOf } from './offsets.ts';
import { outboxOf } from './outbox.ts';
import { gaugeOldestBundle } from './outbox-age.ts';
import type { TopicHandler } from './received.ts';
import { openRelay } from './relay.ts';
import { startSweeper } from './sweeper.ts';
import { createTransact } from './transact.ts';

/** The road between one service's database and Kafka (design 3). */
export interface Messaging {
  readonly client: MongoClient;
  readonly db: Db;
  /** Another database on the same server, with the prefix of this installation. */
  readonly database: (name: string) => Db;
  /** A unique name of this process, for leases and claims. */
  readonly owner: string;
  /** Lets concurrent work of one kind share transactions; `name` also names its crash points. */
  readonly groupCommit: <Item, Outcome>(
    name: string,
    apply: ApplyGroup<Item, Outcome>,
    limits?: GroupLimits<Item>,
  ) => GroupCommit<Item, Outcome>;
  /** Starts consuming; called once, last, when every handler's needs are open. */
  readonly consume: (handlers: readonly TopicHandler[]) => Promise<void>;
  /** Waits until this service has applied all that the topics hold now; false where it has not, or Kafka has not told, in time. */
  readonly caughtUp: (names: readonly TopicName[], timeoutMs: number) => Promise<boolean>;
  /** How far topics go now, for {@link Messaging.hasApplied}; nothing where Kafka has not told in time. */
  readonly ends: (names: readonly TopicName[], timeoutMs: number) => Promise<readonly TopicEnd[] | undefined>;
  /**
   * Whether another service has applied all before these ends, by what its consumer group has committed to Kafka; nothing
   * where Kafka has not told in time.
   */
  readonly hasApplied: (
    service: string,
    ends: readonly TopicEnd[],
    timeoutMs: number,
  ) => Promise<boolean | undefined>;
}

interface MessagingConfig {
  readonly MONGODB_URL: string;
  readonly KAFKA_BROKERS: readonly string[];
  readonly SCHEMA_REGISTRY_URL: string;
  readonly DATABASE_PREFIX: string;
  readonly TOPIC_PREFIX: string;
  readonly CONSUMER_SESSION_TIMEOUT_MS: number;
}

const CHUNK_MESSAGES_MAX = 250;
const PING_TIMEOUT_MS = 2_000;

/** What a service asks of its messaging. */
export interface MessagingOptions {
  /** The service's name: its consumer group, too. */
  readonly service: string;
  readonly database: string;
  readonly produces: readonly TopicName[];
  readonly chunkMessagesMax?: number;
  /** Whether a clock that is off the database's ends the process; otherwise the process is not ready meanwhile. */
  readonly endsOnClockSkew?: boolean;
}

/** Opens the database, the codec, the relay and the sweeper of a service; everything closes with the scope. */
export async function openMessaging(
  scope: ServiceScope<MessagingConfig>,
  options: MessagingOptions,
): Promise<Messaging> {
  const parts = await openParts(scope, options);
  const { client, db, owner, transact } = parts;
  const { clock } = scope;
  const progress = createGroupProgress({ kafka: kafkaOf(scope, owner), clock });
  const untilApplied = createCatchingUp({ progress, offsets: offsetsOf(db), group: options.service, clock });
  const prefixed = (names: readonly TopicName[]) =>
    names.map((name) => parts.topicPrefix + topics[name].name);
  /** What Kafka tells in time, and nothing else. */
  const told = <Value>(answer: Promise<Value>, timeoutMs: number): Promise<Value | undefined> =>
    withDeadline(answer, timeoutMs, clock).catch((error: unknown) => {
      scope.logger.warn({ err: error }, 'how far the topics go is not known');
      return undefined;
    });
  let sequence = 0;
  const nextSequence = () => {
    sequence += 1;
    return sequence;
  };
  return {
    client,
    db,
    database: (name) => client.db(`${scope.config.DATABASE_PREFIX}${name}`),
    owner,
    groupCommit: (name, apply, limits) =>
      createGroupCommit({
        ...limits,
        name,
        source: commitSource(name, owner),
        transact,
        nextSequence,
        apply,
      }),
    consume: async (handlers) => {
      const counters = createCounters(scope);
      const { ids, logger, health, abort, config } = scope;
      const consumer = runConsumer({
        ...parts,
        clock,
        ids,
        logger,
        health,
        abort,
        handlers,
        offsets: offsetsOf(db),
        group: options.service,
        kafka: kafkaOf(scope, owner),
        sessionTimeoutMs: config.CONSUMER_SESSION_TIMEOUT_MS,
        chunkMessagesMax: options.chunkMessagesMax ?? CHUNK_MESSAGES_MAX,
        parked: (topic) => counters.inc({ topic, outcome: 'parked' }),
        applied: (topic, messages) => counters.inc({ topic, outcome: 'applied' }, messages),
      });
      await scope.open(consumer);
    },
    caughtUp: async (names, timeoutMs) =>
      (await told(untilApplied(prefixed(names), timeoutMs), timeoutMs)) ?? false,
    ends: (names, timeoutMs) => told(progress.ends(prefixed(names), timeoutMs), timeoutMs),
    hasApplied: (service, ends, timeoutMs) =>
      told(progress.isPast(parts.topicPrefix + service, ends, timeoutMs), timeoutMs),
  };
}

async function openParts(scope: ServiceScope<MessagingConfig>, options: MessagingOptions) {
  const { config, logger, clock, random, ids, crashPoint, health } = scope;
  const topicPrefix = config.TOPIC_PREFIX;
  const owner = `${options.service}-${ids.next('rn')}`;
  const database = `${config.DATABASE_PREFIX}${options.database}`;
  const { client, db } = await scope.open(
    openDatabase({ url: config.MONGODB_URL, database, appName: options.service, clock }),
  );
  health.addReadiness('mongodb', async () => {
    // The driver's own bounds are those of work; readiness is asked for every few seconds.
    await withDeadline(client.db('admin').command({ ping: 1 }), PING_TIMEOUT_MS, clock);
  });
  const guard = startClockGuard({
    measure: () => measureClockSkewMs(client, clock),
    clock,
    logger,
    skewed: (error) => {
      if (options.endsOnClockSkew) scope.abort(error);
      else logger.error({ err: error }, 'not ready');
    },
  });
  health.addReadiness('clock', (await scope.open(guard)).check);
  const codec = await openCodec({
    registryUrl: config.SCHEMA_REGISTRY_URL,
    topicPrefix,
    produces: [...options.produces.map((name) => topics[name]), parkedTopic(options.service)],
  });
  const outbox = outboxOf(db);
  const relay = await scope.open(openRelay({ kafka: kafkaOf(scope, owner), outbox, logger, crashPoint }));
  await scope.open(startSweeper({ outbox, leases: leasesOf(db), relay, owner, clock, logger }));
  gaugeOldestBundle({ outbox, registry: scope.metrics, clock });
  const encoder = createMessageEncoder(codec, topicPrefix);
  const transact = createTransact({ client, outbox, relay, encoder, clock, random, crashPoint });
  return { client, db, owner, topicPrefix, codec, encoder, outbox, relay, transact };
}

/** A client of its own for each user: two consumers must not share one (research/kafka-mongo D16). */
function kafkaOf({ config, logger }: ServiceScope<MessagingConfig>, clientId: string) {
  return createKafka({
    brokers: config.KAFKA_BROKERS,
    clientId,
    log: (level, message, fields) => logger[level](fields, message),
  });
}

function createCounters(scope: ServiceScope<unknown>): Counter<'topic' | 'outcome'> {
  return new Counter({
    name: 'messages_consumed_total',
    help: 'Messages consumed, by topic and outcome.',
    labelNames: ['topic', 'outcome'],
    registers: [scope.metrics],
  });
}
