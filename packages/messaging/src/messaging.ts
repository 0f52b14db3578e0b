import { parkedTopic, type TopicName, topics } from '@pesewa/contracts';
import type { ServiceScope } from '@pesewa/runtime';
import type { Db, MongoClient } from 'mongodb';
import { Counter } from 'prom-client';
import { openCodec } from './codec.ts';
import { runConsumer } from './consumer.ts';
import { type ApplyGroup, createGroupCommit, type GroupCommit } from './group-commit.ts';
import { createKafka } from './kafka.ts';
import { leasesOf } from './lease.ts';
import { openDatabase } from './mongo.ts';
import { offsetsOf } from './offsets.ts';
import { outboxOf } from './outbox.ts';
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
    limits?: { readonly itemsMax?: number; readonly groupsMax?: number },
  ) => GroupCommit<Item, Outcome>;
  /** Starts consuming; called once, last, when every handler's needs are open. */
  readonly consume: (handlers: readonly TopicHandler[]) => Promise<void>;
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

/** Opens the database, the codec, the relay and the sweeper of a service; everything closes with the scope. */
export async function openMessaging(
  scope: ServiceScope<MessagingConfig>,
  options: {
    /** The service's name: its consumer group, too. */
    readonly service: string;
    readonly database: string;
    readonly produces: readonly TopicName[];
    readonly chunkMessagesMax?: number;
  },
): Promise<Messaging> {
  const { config, logger, clock, ids, crashPoint, health } = scope;
  const topicPrefix = config.TOPIC_PREFIX;
  const owner = `${options.service}-${ids.next('rn')}`;
  const named = (name: string) => `${config.DATABASE_PREFIX}${name}`;
  const { client, db } = await scope.open(
    openDatabase({ url: config.MONGODB_URL, database: named(options.database), appName: options.service }),
  );
  health.addReadiness('mongodb', async () => void (await client.db('admin').command({ ping: 1 }, { timeoutMS: 2_000 })));
  const codec = await openCodec({
    registryUrl: config.SCHEMA_REGISTRY_URL,
    topicPrefix,
    produces: [...options.produces.map((name) => topics[name]), parkedTopic(options.service)],
  });
  const kafka = () =>
    createKafka({
      brokers: config.KAFKA_BROKERS,
      clientId: owner,
      log: (level, message, fields) => logger[level](fields, message),
    });
  const outbox = outboxOf(db);
  const relay = await scope.open(openRelay({ kafka: kafka(), outbox, logger, crashPoint }));
  await scope.open(startSweeper({ outbox, leases: leasesOf(db), relay, owner, clock, logger }));
  const now = () => new Date(clock.nowMs());
  const transact = createTransact({ client, outbox, relay, codec, topicPrefix, now, crashPoint });
  const counters = createCounters(scope);
  let sequence = 0;
  return {
    client,
    db,
    database: (name) => client.db(named(name)),
    owner,
    groupCommit: (name, apply, limits) =>
      createGroupCommit({
        ...limits,
        name,
        source: `${name}/${owner}`,
        transact,
        nextSequence: () => {
          sequence += 1;
          return sequence;
        },
        apply,
      }),
    consume: async (handlers) => {
      await scope.open(
        runConsumer({
          ...{ client, offsets: offsetsOf(db), outbox, relay, codec, owner, topicPrefix, clock, ids, logger, crashPoint },
          ...{ health, abort: scope.abort, handlers, kafka: kafka(), group: options.service },
          sessionTimeoutMs: config.CONSUMER_SESSION_TIMEOUT_MS,
          chunkMessagesMax: options.chunkMessagesMax ?? CHUNK_MESSAGES_MAX,
          parked: (topic) => counters.inc({ topic, outcome: 'parked' }),
          applied: (topic, messages) => counters.inc({ topic, outcome: 'applied' }, messages),
        }),
      );
    },
  };
}

function createCounters(scope: ServiceScope<unknown>): Counter<'topic' | 'outcome'> {
  return new Counter({
    name: 'messages_consumed_total',
    help: 'Messages consumed, by topic and outcome.',
    labelNames: ['topic', 'outcome'],
    registers: [scope.metrics],
  });
}
