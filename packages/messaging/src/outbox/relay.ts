import type { Producer } from '@pesewa/kafka';
import type { Clock } from '@pesewa/kernel';
import type { CrashPoint, Logger } from '@pesewa/runtime';
import {
  bytesOf,
  isGroupCommit,
  type Outbox,
  type OutboxRecord,
  readOutboxRecords,
  sourceOf,
} from './outbox.ts';

/** Sends outbox records from the outbox to Kafka: each partition in the order of the calls, retrying without end. */
export type Relay = ReturnType<typeof openRelay>;

/** The dependencies of a relay. */
export interface RelayOptions {
  readonly producer: Producer;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly crashPoint: CrashPoint;
  /** How many bytes may wait in memory; outbox records beyond that are read again from the outbox once there is room. */
  readonly bytesWaitingMax?: number;
}

const BYTES_WAITING_MAX = 64 * 1_024 * 1_024;
const RECORDS_PER_READ = 8;
const READ_AGAIN_AFTER_MS = 5_000;
const CLOSE_TIMEOUT_MS = 5_000;
const REMOVED_AT_ONCE_MAX = 1_000;
/** How long sent outbox records wait for others to be removed with: a durable removal for each would cost too much. */
const REMOVAL_GATHER_MS = 50;
const REMOVAL_PAUSE_MS = { first: 100, last: 5_000 } as const;

/**
 * Opens the relay of a process. If the process dies, the sweeper sends its outbox records; an outbox record that does not fit into
 * memory while Kafka is away is read again from the outbox once there is room.
 */
export function openRelay(options: RelayOptions) {
  const { producer, clock, crashPoint, bytesWaitingMax = BYTES_WAITING_MAX } = options;
  const removal = createRemoval(options);
  // In order of arrival, the oldest first.
  const pendingSinceMs = new Map<string, number>();
  const addPending = (id: string) => {
    if (!pendingSinceMs.has(id)) pendingSinceMs.set(id, clock.nowMs());
  };
  const queues = createSendQueues((id) => removal.remove(id, () => pendingSinceMs.delete(id)));
  const sends = new Set<Promise<void>>();
  let waitingBytes = 0;
  let closed = false;
  const hasRoom = () => !closed && waitingBytes < bytesWaitingMax;
  const overflow = createOverflow(options, {
    hasRoom,
    sendNow: (outboxRecord) => void sendNow(outboxRecord).catch(() => undefined),
    // It was never committed, or another replica has sent it after this process was taken for dead.
    isGone: (id) => pendingSinceMs.delete(id),
  });

  function sendNow(outboxRecord: OutboxRecord): Promise<void> {
    const sent = produce(outboxRecord).finally(() => sends.delete(sent));
    sends.add(sent);
    return sent;
  }

  async function produce(outboxRecord: OutboxRecord): Promise<void> {
    const source = sourceOf(outboxRecord._id);
    const bytes = bytesOf(outboxRecord.messages);
    const isSent = queues.add(source, outboxRecord._id);
    addPending(outboxRecord._id);
    waitingBytes += bytes;
    crashPoint('relay.before-send', () =>
      outboxRecord.messages.map(({ body }) => body.toString('latin1')).join(),
    );
    try {
      await producer.produce({ source, records: outboxRecord.messages });
      crashPoint('relay.after-send');
      isSent();
    } finally {
      waitingBytes -= bytes;
      overflow.refill();
    }
  }

  const sendLater = (id: string) => {
    addPending(id);
    overflow.add(id);
  };

  return {
    /** Takes over a committed outbox record; resolves once Kafka has it on every in-sync replica. */
    send: async (outboxRecord: OutboxRecord): Promise<void> => {
      // Not sent, so its caller must not hear that it is: the next owner of its source sends it.
      if (closed) return new Promise(() => undefined);
      // Only group commits are bounded here: a consumer waits for its own events and so bounds itself.
      if (isGroupCommit(outboxRecord._id) && (!overflow.isEmpty() || !hasRoom())) sendLater(outboxRecord._id);
      else await sendNow(outboxRecord);
    },
    /**
     * Sends outbox records of group commits whose commit has no known outcome, if the outbox has them, before anything of a
     * group commit that is newer.
     */
    sendIfCommitted: (ids: readonly string[]) => {
      for (const id of ids) sendLater(id);
    },
    /**
     * Drops the waiting outbox records of a partition that was taken away, which stay in the outbox, and waits for those being
     * sent.
     */
    release: async (source: string) => {
      await producer.drop(source);
      for (const id of queues.drop(source)) pendingSinceMs.delete(id);
    },
    /** Whether this process is sending the outbox record or will; false says nothing of other processes. */
    isPending: (id: string) => pendingSinceMs.has(id),
    /** Since when the oldest outbox record of this process has waited for Kafka; undefined if none waits. */
    oldestPendingSinceMs: () => pendingSinceMs.values().next().value,
    [Symbol.asyncDispose]: async () => {
      const untilRemoved = Promise.allSettled(sends).then(() => removal.idle());
      await Promise.race([untilRemoved, timeout(CLOSE_TIMEOUT_MS)]);
      closed = true;
    },
  };
}

interface PendingSend {
  readonly id: string;
  isSent: boolean;
}

/**
 * The outbox records of each source that are being sent. An outbox record is done only after those before it, so that none is ever
 * sent again after a newer one.
 */
function createSendQueues(done: (id: string) => void) {
  const queues = new Map<string, PendingSend[]>();
  return {
    /** Adds an outbox record behind the others of its source; gives the function to call once Kafka has it. */
    add: (source: string, id: string): (() => void) => {
      const queue = queues.get(source) ?? [];
      queues.set(source, queue);
      const added: PendingSend = { id, isSent: false };
      queue.push(added);
      return () => {
        added.isSent = true;
        const first = queue.findIndex(({ isSent }) => !isSent);
        for (const sent of queue.splice(0, first < 0 ? queue.length : first)) done(sent.id);
        if (queue.length === 0 && queues.get(source) === queue) queues.delete(source);
      };
    },
    /** Forgets a source; gives the ids of its outbox records that are not done. */
    drop: (source: string): readonly string[] => {
      const left = queues.get(source) ?? [];
      queues.delete(source);
      return left.map(({ id }) => id);
    },
  };
}

/** The ids of outbox records that are read again before they are sent, in the order in which they were committed. */
function createOverflow(
  options: RelayOptions,
  relay: {
    readonly hasRoom: () => boolean;
    readonly sendNow: (outboxRecord: OutboxRecord) => void;
    readonly isGone: (id: string) => void;
  },
) {
  const { outbox, clock, logger } = options;
  const ids: string[] = [];
  let refilling: Promise<void> | undefined;

  async function read(): Promise<void> {
    while (ids.length > 0 && relay.hasRoom()) {
      const some = ids.slice(0, RECORDS_PER_READ);
      const outboxRecords = await readOutboxRecords(outbox, some);
      for (const [index, id] of ids.splice(0, some.length).entries()) {
        const outboxRecord = outboxRecords[index];
        if (outboxRecord) relay.sendNow(outboxRecord);
        else relay.isGone(id);
      }
    }
  }

  function refill(): void {
    if (ids.length === 0 || !relay.hasRoom()) return;
    refilling ??= read()
      .catch((error: unknown) => {
        logger.warn({ err: error, outboxRecords: ids.length }, 'outbox records that wait cannot be read yet');
        return clock.sleep(READ_AGAIN_AFTER_MS);
      })
      .finally(() => {
        refilling = undefined;
        refill();
      });
  }

  return {
    isEmpty: () => ids.length === 0 && refilling === undefined,
    add: (id: string): void => {
      ids.push(id);
      refill();
    },
    refill,
  };
}

function timeout(durationMs: number): Promise<void> {
  return new Promise((resolve) => {
    setTimeout(resolve, durationMs).unref();
  });
}

/**
 * Removes sent outbox records from the outbox in the background: no caller waits for it. It removes with a majority
 * write: a failover could undo any other removal, and the outbox record would be sent again, perhaps days later. Failed
 * removals are retried.
 */
function createRemoval({ outbox, clock, logger, crashPoint }: RelayOptions) {
  const sent: { readonly id: string; readonly removed: () => void }[] = [];
  let removing: Promise<void> | undefined;
  const closing = new AbortController();

  async function removeAll(): Promise<void> {
    let pauseMs: number = REMOVAL_PAUSE_MS.first;
    while (sent.length > 0) {
      await clock.sleep(REMOVAL_GATHER_MS, closing.signal);
      const some = sent.slice(0, REMOVED_AT_ONCE_MAX);
      try {
        await outbox.deleteMany({ _id: { $in: some.map(({ id }) => id) } });
        crashPoint('relay.after-removal', () => some.map(({ id }) => id).join());
        sent.splice(0, some.length);
        for (const { removed } of some) removed();
        pauseMs = REMOVAL_PAUSE_MS.first;
      } catch (error) {
        logger.warn({ err: error, outboxRecords: sent.length }, 'sent outbox records cannot be removed yet');
        await clock.sleep(pauseMs);
        pauseMs = Math.min(pauseMs * 2, REMOVAL_PAUSE_MS.last);
      }
    }
  }

  return {
    remove: (id: string, removed: () => void): void => {
      sent.push({ id, removed });
      removing ??= removeAll().finally(() => {
        removing = undefined;
      });
    },
    /** Removes at once what is left from now on; resolves when nothing is left. */
    idle: async (): Promise<void> => {
      closing.abort();
      while (removing) await removing;
    },
  };
}
