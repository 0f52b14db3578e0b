import type { Clock } from '@pesewa/kernel';
import { beginRound, type Logger } from '@pesewa/runtime';
import type { Collection, Filter } from 'mongodb';
import { endLease, type Lease, RECOVERY, takeLease } from '../claims/lease.ts';
import { type Loop, startLoop } from '../loop.ts';
import {
  type Outbox,
  type OutboxRecordDocument,
  outboxRecordsOf,
  ownerOf,
  readOutboxRecords,
  recordsOfGroupCommits,
  sourceOf,
} from './outbox.ts';
import type { Ownership } from './ownership.ts';
import type { Relay } from './relay.ts';

const PAUSE_MS = 1_000;
/** A process without a heartbeat for this long is silent: dead, or suspended. */
const ALIVE_MS = 5_000;
/** The leases of dead processes are deleted after this time. */
const HEARTBEAT_KEPT_MS = 86_400_000;
/** A process counts as dead once it was seen silent for this long. */
const SILENT_MS = 2_000;
/** A process that gave no sign of life for this long does not run, or ends itself at its next one. */
export const SILENT_FOR_GOOD_MS = ALIVE_MS + SILENT_MS;
const SWEEPER_LEASE_MS = 15_000;
/**
 * After this time an outbox record of our own that the relay does not hold is sent: its commit had succeeded without our
 * knowing it.
 */
const OWN_UNSENT_AFTER_MS = 5_000;
const RECORDS_PER_READ = 8;
const RECORDS_AT_ONCE_MAX = 500;

/** The leases by which processes are alive. */
export const ALIVE_LEASES = /^alive\//;
const aliveLease = (owner: string) => `alive/${owner}`;
const SWEEPER_LEASE = 'outbox-sweeper';
const REPAIRED =
  'a repair of this database is in progress or was interrupted: run the program with the argument recover until it reports that it is done (docs/database-restored.md)';
const FORGOTTEN =
  'the database was repaired or replaced while this process was silent: what it remembers is of another one';

interface SweeperDeps {
  readonly outbox: Outbox;
  readonly leases: Collection<Lease>;
  readonly relay: Relay;
  readonly owner: string;
  readonly clock: Clock;
  /** The process's monotonic clock: by the wall clock a process could seem silent for longer than it is. */
  readonly monotonicMs: () => number;
  readonly logger: Logger;
}

/**
 * Sends the outbox records that dead processes left of their group commits: one sweeper at a time over all replicas, each
 * source in its order. A living process sends its own, even if they wait for long because Kafka is away.
 *
 * A partition's outbox records are sent by its next owner only: otherwise an old balance could arrive after a newer one.
 */
export function startSweeper(deps: SweeperDeps): Loop {
  const isDead = createDeathCheck(deps);
  const sweeping = new Map<string, Promise<void>>();
  let sweeps = false;
  /** Kafka may be slow or refuse a source, so neither this round nor another source waits for it. */
  const sweep = (source: string, send: () => Promise<void>) => {
    if (sweeping.has(source)) return;
    const sent = send()
      .catch((error: unknown) => deps.logger.error({ err: error, source }, 'a source cannot be swept yet'))
      .finally(() => sweeping.delete(source));
    sweeping.set(source, sent);
  };
  const loop = startLoop({
    name: 'outbox sweeper',
    pauseMs: PAUSE_MS,
    clock: deps.clock,
    logger: deps.logger,
    round: async (signal) => {
      const { leases, owner } = deps;
      // The lease is not needed while nothing is left of a dead process, and renewing it is a durable write.
      let granted: Promise<Lease | undefined> | undefined;
      for await (const source of sourcesOf(deps.outbox)) {
        if (signal.aborted) return false;
        if (ownerOf(source) === owner) sweep(source, () => sendOwnUnsent(deps, source));
        else if (await isDead(ownerOf(source))) {
          granted ??= takeLease(leases, { name: SWEEPER_LEASE, owner, durationMs: SWEEPER_LEASE_MS });
          sweeps = (await granted) !== undefined;
          if (!sweeps) continue;
          sweep(source, () =>
            sendLeftBehind(deps, source, async () => sweeps && !signal.aborted && isDead(ownerOf(source))),
          );
        }
      }
      return false;
    },
  });
  return endingLease(loop, deps, SWEEPER_LEASE);
}

/** A loop that ends its lease when it is closed, so that others can take it. */
function endingLease(
  loop: Loop,
  { leases, owner }: Pick<SweeperDeps, 'leases' | 'owner'>,
  name: string,
): Loop {
  return {
    wake: loop.wake,
    [Symbol.asyncDispose]: async () => {
      await loop[Symbol.asyncDispose]();
      await endLease(leases, { name, owner });
    },
  };
}

/** The dependencies of a process's heartbeat. */
export interface HeartbeatDeps extends Omit<SweeperDeps, 'outbox' | 'relay' | 'monotonicMs'> {
  readonly ownership: Pick<Ownership, 'nowMs' | 'heartbeatSafeUntil'>;
  /** Ends the process. */
  readonly abort: (error: Error) => void;
  /** Whether the process itself repairs the database, or looks at it. */
  readonly isRecovering: boolean;
}

/**
 * Renews the process's lease for as long as it lives, so that no other process sends its outbox records; resolves after
 * the first time.
 *
 * A process that was silent for too long, because it was suspended or without its database, sends all that it still has
 * after the next renewal: outbox records that were swept meanwhile are in Kafka twice, but none comes for the first time after
 * a newer one. A process that ends in order ends its lease, so that others can send its outbox records at once.
 *
 * It ends once a repair of the database has begun, or if its lease is gone or older than it was, because a repair came to
 * its end or a backup was restored meanwhile: what it remembers is of another database. A repair ends once another one has
 * its lock.
 */
export async function startHeartbeat(deps: HeartbeatDeps): Promise<Loop> {
  const { leases, owner, clock, logger, ownership, abort, isRecovering } = deps;
  const name = aliveLease(owner);
  let hadLock = false;
  let renewedUntil: Date | undefined;
  /** Gives the reason why the process must end, if there is one. */
  const renew = async (): Promise<string | undefined> => {
    // The lease counts from when the server gets the request, so it ends no earlier than this.
    const untilMs = ownership.nowMs() + ALIVE_MS;
    const lease = await takeLease(leases, { name, owner, durationMs: ALIVE_MS, renewedUntil });
    renewedUntil = lease?.until ?? renewedUntil;
    const lock = await leases.findOne({ _id: RECOVERY });
    hadLock ||= lock?.owner === owner;
    if (lock && lock.owner !== owner && (hadLock || !isRecovering)) return REPAIRED;
    if (!lease) return FORGOTTEN;
    ownership.heartbeatSafeUntil(untilMs);
    return undefined;
  };
  // By the server's clock: whoever finds its lease gone ends, so a wrong clock must not delete any.
  const isOld = { $lt: ['$until', { $subtract: ['$$NOW', HEARTBEAT_KEPT_MS] }] };
  await leases.deleteMany({ _id: ALIVE_LEASES, $expr: isOld });
  const refused = await renew();
  if (refused !== undefined) {
    await endLease(leases, { name, owner });
    throw new Error(refused);
  }
  const loop = startLoop({
    name: 'heartbeat',
    pauseMs: ALIVE_MS / 4,
    clock,
    logger,
    round: async () => {
      const reason = await renew();
      if (reason !== undefined) abort(new Error(reason));
      return false;
    },
  });
  return endingLease(loop, deps, name);
}

/**
 * The sources of group commits that have outbox records, found by one step in the index for each, however many outbox records they
 * have.
 */
async function* sourcesOf(outbox: Outbox): AsyncGenerator<string> {
  let after: string = recordsOfGroupCommits._id.$gte;
  for (;;) {
    const next = await outbox.findOne(
      { _id: { $gte: after, $lt: recordsOfGroupCommits._id.$lt } },
      { projection: { _id: 1 }, sort: { _id: 1 } },
    );
    if (!next) return;
    const source = sourceOf(next._id);
    yield source;
    after = outboxRecordsOf(source)._id.$lt;
  }
}

/**
 * Builds the check whether a process is dead: its lease has run out, and it stays silent for a while longer.
 * After a failover all processes have been silent for as long as there was no primary.
 */
function createDeathCheck({ leases, monotonicMs }: SweeperDeps): (owner: string) => Promise<boolean> {
  const silent = new Map<string, { readonly untilMs: number; readonly sinceMs: number }>();
  return async (owner) => {
    const [lease] = await leases
      .aggregate<{ readonly until: Date; readonly isOver: boolean }>([
        { $match: { _id: aliveLease(owner) } },
        { $project: { until: 1, isOver: { $lt: ['$until', '$$NOW'] } } },
      ])
      .toArray();
    if (lease && !lease.isOver) {
      silent.delete(owner);
      return false;
    }
    const untilMs = lease?.until.getTime() ?? 0;
    const before = silent.get(owner);
    if (before?.untilMs === untilMs) return monotonicMs() - before.sinceMs >= SILENT_MS;
    silent.set(owner, { untilMs, sinceMs: monotonicMs() });
    return false;
  };
}

async function sendOwnUnsent(deps: SweeperDeps, source: string): Promise<void> {
  const before = new Date(deps.clock.nowMs() - OWN_UNSENT_AFTER_MS);
  await send(deps, await findUnsentIds(deps, source, { createdAt: { $lt: before } }), async () => true);
}

/** Checks `goesOn` before each read, because a process that lives again sends its own outbox records. */
async function sendLeftBehind(
  deps: SweeperDeps,
  source: string,
  goesOn: () => Promise<boolean>,
): Promise<void> {
  while (await goesOn()) {
    const ids = await findUnsentIds(deps, source);
    if (ids.length === 0) return;
    await send(deps, ids, goesOn);
  }
}

/** The first outbox records of a source that our relay does not hold. */
async function findUnsentIds(
  { outbox, relay }: SweeperDeps,
  source: string,
  filter: Filter<OutboxRecordDocument> = {},
): Promise<string[]> {
  const left = await outbox
    .find({ ...outboxRecordsOf(source), ...filter })
    .project<Pick<OutboxRecordDocument, '_id'>>({ _id: 1 })
    .sort({ _id: 1 })
    .limit(RECORDS_AT_ONCE_MAX)
    .toArray();
  return left.map(({ _id }) => _id).filter((id) => !relay.isPending(id));
}

async function send(
  { outbox, relay, clock, logger }: SweeperDeps,
  ids: readonly string[],
  goesOn: () => Promise<boolean>,
): Promise<void> {
  if (ids.length === 0) return;
  logger.warn({ outboxRecords: ids.length }, 'sending what a crash left behind');
  const { processed, end } = beginRound('outbox sweeper', clock);
  for (let start = 0; start < ids.length && (await goesOn()); start += RECORDS_PER_READ) {
    const outboxRecords = await readOutboxRecords(outbox, ids.slice(start, start + RECORDS_PER_READ));
    await Promise.all(
      outboxRecords.flatMap((outboxRecord) => (outboxRecord ? relay.send(outboxRecord) : [])),
    );
  }
  processed(ids.length);
  end();
}
