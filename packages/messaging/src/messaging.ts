import { type MessagingService, type TopicName, topics } from '@pesewa/contracts';
import {
  createKafka,
  type KafkaOptions,
  type KafkaSettings,
  kafkaConnection,
  openPositions,
  openProducer,
} from '@pesewa/kafka';
import { beginTrace, sleepless, steady, withDeadline } from '@pesewa/kernel';
import { createThrottledLog, type ServiceScope } from '@pesewa/runtime';
import type { Db, MongoClient } from 'mongodb';
import { leasesOf } from './claims/lease.ts';
import { measureClockSkewMs, startClockGuard } from './database/clock-guard.ts';
import type { CollectionSchema } from './database/schema.ts';
import { runConsumer } from './inbox/consumer.ts';
import { offsetsOf } from './inbox/offsets.ts';
import { openParkedStore } from './inbox/parked-store.ts';
import { openProgress, type Progress } from './inbox/progress.ts';
import { showStoppedPartitions } from './inbox/stopped-partitions.ts';
import type { TopicHandler } from './inbox/topic-handler.ts';
import { openTopicHistory, type TopicHistory } from './inbox/topic-history.ts';
import { countConsumed, countEmitted, gaugeLag, gaugeOldestOutboxRecord } from './metrics.ts';
import { keepActions } from './operators/action-log.ts';
import { addHealthRoutes, type WaitingReads } from './operators/health-routes.ts';
import { addOperatorRoutes } from './operators/operator-routes.ts';
import { createServicePositions, type ServicePositions } from './operators/service-positions.ts';
import { createGroupCommit, type OpenGroupCommit } from './outbox/group-commit.ts';
import { createMessageEncoder } from './outbox/message-encoder.ts';
import { groupCommitSource, outboxOf, type Transaction } from './outbox/outbox.ts';
import { openOutboxBound } from './outbox/outbox-bound.ts';
import { createOwnership } from './outbox/ownership.ts';
import { openRelay } from './outbox/relay.ts';
import { startHeartbeat, startSweeper } from './outbox/sweeper.ts';
import {
  createSerialiser,
  createSharedTransact,
  createTransact,
  createTransactAll,
  type RunSerially,
} from './outbox/transact.ts';
import { checkHandlers, limitTo, type MessagingRole, roleOf, topicsWritten } from './role.ts';
import { openCodec } from './schemas/codec.ts';
import { type RegistrySettings, registryConnection } from './schemas/registry.ts';
import { openCheckedDatabase } from './start-checks.ts';

/** Connects a service's database with Kafka (ADR 2). */
export interface Messaging extends TopicHistory, Progress {
  readonly client: MongoClient;
  readonly db: Db;
  /** Another database on the same server, by its name without this installation's prefix. */
  readonly database: (name: string) => Db;
  /** A unique name of this process, for leases and claims. */
  readonly owner: string;
  /** Whether its last heartbeat is so recent that no repair of the database can have passed its pause. */
  readonly isAlive: () => boolean;
  /** Lets concurrent work of one kind share transactions. */
  readonly groupCommit: OpenGroupCommit;
  /** Runs work while no shared transaction is in progress. */
  readonly runSerially: RunSerially;
  /** The partitions that the service consumes, as its database and Kafka have them. */
  readonly positions: Pick<ServicePositions, 'list' | 'realign'>;
  /** Whether requests from outside may be accepted; false while too many events wait for Kafka. */
  readonly acceptsWork: () => boolean;
  /** Tells with the service's health what waits there for people. */
  readonly showWaiting: (reads: WaitingReads) => void;
  /** Starts consuming. Call it once and last, when everything the handlers need is open. */
  readonly consume: (handlers: readonly TopicHandler[]) => Promise<void>;
  /** Runs work in a majority transaction of its own; the work may run more than once. */
  readonly inTransaction: <Value>(work: (transaction: Transaction) => Promise<Value>) => Promise<Value>;
}

/** The settings of {@link openMessaging}. */
export interface MessagingConfig extends KafkaSettings, RegistrySettings {
  readonly MONGODB_URL: string;
  readonly DATABASE_PREFIX: string;
  readonly TOPIC_PREFIX: string;
  readonly CONSUMER_SESSION_TIMEOUT_MS: number;
  readonly PARKED_IN_A_ROW_MAX: number;
  readonly OUTBOX_WAITING_BYTES_MAX: number;
  readonly NODE_ENV: string;
}

const BATCH_MESSAGES_MAX = 250;
/** A consumer that can't reach its cluster gives up within seconds and is replaced. */
const CONSUMER_RETRIES_MAX = 5;
const PING_TIMEOUT_MS = 2_000;

/** Settings of a service's messaging, in addition to its role. */
export interface MessagingTuning {
  /**
   * The service's own collections. They are created at the start, except in production, where they must exist.
   */
  readonly databaseSchema?: readonly CollectionSchema[];
  readonly batchMessagesMax?: number;
  /**
   * Whether one transaction at a time applies all batches that wait, together with the group commits that say so. For
   * a service whose partitions must be applied in parallel to be fast enough, it is wrong.
   */
  readonly batchesShareTransactions?: boolean;
  /** How many bytes of events may wait for Kafka in memory. */
  readonly bytesWaitingMax?: number;
  /** Whether a clock too far from the database's ends the process; if not, the process is not ready meanwhile. */
  readonly endsOnClockSkew?: boolean;
  /** Whether the process repairs the database while the service is stopped: it sends nothing that others have left. */
  readonly isRecovering?: boolean;
}

/**
 * Opens the database, the codec, the relay and the sweeper of a service; all of them close with the scope. The service
 * may use only what `services` of the contracts declares for it.
 */
export function openMessaging(
  scope: ServiceScope<MessagingConfig>,
  options: MessagingTuning & { readonly service: MessagingService },
): Promise<Messaging> {
  return openMessagingAs(scope, { ...options, ...roleOf(options.service) });
}

/** What {@link openMessagingAs} opens. */
export type MessagingOptions = MessagingRole & MessagingTuning;

/** Does the same in a role that the caller gives: for tests, which play other services. */
export async function openMessagingAs(
  scope: ServiceScope<MessagingConfig>,
  options: MessagingOptions,
): Promise<Messaging> {
  const parts = await openParts(scope, options);
  keepActions(scope.operator, { ...scope, db: parts.db });
  const { client, db, owner, topicPrefix, transact, kafka } = parts;
  const { clock } = scope;
  const positions = await scope.open('positions', openPositions({ ...kafka, clock }));
  const group = options.service;
  const byTopic = (name: TopicName) => [topicPrefix + topics[name].name, name] as const;
  const consumed = new Map((options.consumes ?? []).map(byTopic));
  const servicePositions = createServicePositions({ ...parts, positions, clock, consumed, group });
  const progress = openProgress(clock, positions, { ...parts, group });
  const keepsUp = async (timeoutMs: number) =>
    consumed.size === 0 || progress.keepsUp([...consumed.values()], timeoutMs);
  const showWaiting = addHealthRoutes(scope, { ...parts, keepsUp });
  const { groupCommit, shared, runSerially, nextSequence } = createCommits(parts);
  return {
    client,
    db,
    owner,
    isAlive: parts.ownership.isAlive,
    groupCommit,
    runSerially,
    positions: servicePositions,
    showWaiting,
    inTransaction: async (work) =>
      (await transact(null, { source: groupCommitSource('alone', owner), sequence: nextSequence() }, work))
        .value,
    acceptsWork: parts.bound.acceptsWork,
    consume: async (handlers) => {
      checkHandlers(options, handlers);
      const counters = countConsumed(scope.metrics);
      const { logger, health, config, metrics: registry } = scope;
      const parkedStore = openParkedStore(db);
      for (const { topic } of handlers) consumed.set(...byTopic(topic));
      const operated = { ...parts, group, handlers, servicePositions, store: parkedStore, groupCommit };
      addOperatorRoutes(scope, operated);
      const consumer = runConsumer({
        ...scope,
        ...parts,
        transact: options.batchesShareTransactions ? shared : transact,
        handlers,
        positions,
        offsets: offsetsOf(db),
        parkedStore,
        parkedInARowMax: config.PARKED_IN_A_ROW_MAX,
        group,
        connect: () => createKafka(kafka, CONSUMER_RETRIES_MAX),
        monotonicMs: () => performance.now(),
        sessionTimeoutMs: config.CONSUMER_SESSION_TIMEOUT_MS,
        readyOnceJoined: options.readyOnceJoined ?? false,
        batchMessagesMax: options.batchMessagesMax ?? BATCH_MESSAGES_MAX,
        stopped: showStoppedPartitions({ group, health, metrics: registry, logger }),
        followed: gaugeLag({ positions, group: topicPrefix + group, registry, clock }),
        parked: (topic) => counters.inc({ topic, outcome: 'parked' }),
        applied: (topic, messages) => counters.inc({ topic, outcome: 'applied' }, messages),
      });
      await scope.open('consumer', consumer);
    },
    ...limitTo(options, {
      database: (name) => client.db(`${scope.config.DATABASE_PREFIX}${name}`),
      since: openTopicHistory(positions, parts),
      ...progress,
    }),
  };
}

function createCommits({ owner, transact, transactAll }: Awaited<ReturnType<typeof openParts>>) {
  let sequence = 0;
  const nextSequence = () => (sequence += 1);
  const runSerially = createSerialiser();
  const shared = createSharedTransact(transactAll, runSerially);
  const groupCommit: OpenGroupCommit = (name, apply, limits = {}) =>
    createGroupCommit({
      ...limits,
      name,
      source: groupCommitSource(name, owner),
      transact: limits.sharesTransactions ? shared : transact,
      nextSequence,
      apply,
    });
  return { groupCommit, shared, runSerially, nextSequence };
}

async function openParts(scope: ServiceScope<MessagingConfig>, options: MessagingOptions) {
  const { config, logger, clock, ids, crashPoint, health } = scope;
  const topicPrefix = config.TOPIC_PREFIX;
  const owner = `${options.service}-${ids.next('rn')}`;
  const kafka = kafkaOptions(scope, owner);
  const { client, db } = await openCheckedDatabase(scope, { ...options, kafka });
  health.addReadiness('mongodb', async () => {
    // The driver's own timeouts are made for work; readiness is checked every few seconds and needs a shorter one.
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
  health.addReadiness('clock', (await scope.open('clock guard', guard)).check);
  const codec = await openCodec({
    ...registryConnection(config),
    topicPrefix,
    produces: topicsWritten(options),
  });
  const outbox = outboxOf(db);
  const monotonicMs = () => performance.now();
  const ownership = createOwnership(owner, sleepless(clock));
  const leases = leasesOf(db);
  // Opened before the producer and so closed after it: this process must count as alive for as long as it may be
  // sending.
  const { isRecovering = false } = options;
  const { abort } = scope;
  const heartbeat = { leases, owner, clock, logger, ownership, abort, isRecovering };
  await scope.open('heartbeat', startHeartbeat(heartbeat));
  const producer = await scope.open(
    'producer',
    openProducer({
      ...kafka,
      clock: steady(clock),
      partitionsOf: partitionCounts(topicPrefix),
      maySend: ownership.maySend,
    }),
  );
  const { bytesWaitingMax } = options;
  const relay = await scope.open(
    'relay',
    openRelay({
      producer,
      outbox,
      clock,
      logger,
      crashPoint,
      ...(bytesWaitingMax !== undefined && { bytesWaitingMax }),
    }),
  );
  if (!isRecovering)
    await scope.open('sweeper', startSweeper({ outbox, leases, relay, owner, clock, monotonicMs, logger }));
  const bytesMax = config.OUTBOX_WAITING_BYTES_MAX;
  const watched = { outbox, registry: scope.metrics, clock };
  gaugeOldestOutboxRecord(watched);
  const bound = await scope.open(
    'outbox bound',
    openOutboxBound({ ...watched, relay, bytesMax, health, logger }),
  );
  const encoder = createMessageEncoder(codec, topicPrefix, () => beginTrace(ids));
  const emitted = countEmitted(scope.metrics);
  const transactAll = createTransactAll({ ...scope, client, outbox, relay, encoder, emitted });
  const transact = createTransact(transactAll);
  const sending = { codec, encoder, outbox, ownership, relay, transact, transactAll, bound };
  return { client, db, owner, topicPrefix, kafka, ...sending };
}

function kafkaOptions(
  { config, logger, clock }: ServiceScope<MessagingConfig>,
  clientId: string,
): KafkaOptions {
  return {
    ...kafkaConnection(config, clock),
    clientId,
    log: createThrottledLog(logger, clock),
  };
}

/** How many partitions a topic has for ever, by its full name. Kafka's own answer may be wrong or changed. */
function partitionCounts(prefix: string): (topic: string) => number {
  const counts = new Map(Object.values(topics).map(({ name, partitions }) => [prefix + name, partitions]));
  // What an earlier version has left may go to a topic of one partition that it parked messages in.
  return (topic) => counts.get(topic) ?? 1;
}
