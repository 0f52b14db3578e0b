import { Partitioners, type PartitionMetadata } from './kafkajs.ts';

/** The queue of each partition: records are written in the order of the calls, however often a write is retried. */

/** One call of produce; it is done when all its pieces are written. */
export interface Entry {
  readonly source: string;
  pieces: number;
  dropped: boolean;
  readonly done: PromiseWithResolvers<void>;
}

/** The records of an entry for one partition. */
interface Piece {
  readonly entry: Entry;
  readonly bodies: Buffer[];
  bytes: number;
}

/** The queue of one partition, and its records in flight. */
export interface PartitionQueue {
  readonly id: string;
  readonly topic: string;
  readonly partition: number;
  pending: Piece[];
  inFlight: readonly Piece[];
  /** The number of failed attempts since the last success. */
  tries: number;
  notBeforeMs: number;
  /** After a refused batch: how many pieces are sent one by one, to find the piece that Kafka refuses. */
  singly: number;
  /** Sources whose next piece Kafka refuses, and when each is retried. */
  readonly refused: Map<string, { readonly untilMs: number; readonly times: number }>;
}

/** The outcome of an attempt. */
export type Outcome = 'written' | 'failed' | 'refused';

/** Error codes that a retry of the same bytes, or with the same rights, would meet again; all others are transient. */
const REFUSALS: ReadonlySet<number> = new Set([10, 17, 18, 29, 31, 32, 43, 44, 87]);
/** Less than a broker's limit for one batch of one partition (1 MiB). */
const BATCH_BYTES_MAX = 950 * 1_024;
const REQUEST_BYTES_MAX = 8 * 1_024 * 1_024;
const PAUSE_MS = { first: 50, last: 2_000 } as const;
/** How soon a source that may not send now is checked again. */
const GATE_PAUSE_MS = 100;
const REFUSED_PAUSE_MS = { first: 1_000, last: 30_000 } as const;
/** The most bytes that a record takes in addition to its body. */
const RECORD_OVERHEAD_BYTES = 16;

/** The queues of all partitions that were ever written to. */
export type PartitionQueues = ReturnType<typeof createPartitionQueues>;

/** Builds {@link PartitionQueues}. */
export function createPartitionQueues() {
  const queues = new Map<string, PartitionQueue>();
  let answered = Promise.withResolvers<void>();

  const isOnItsWay = (source: string) =>
    [...queues.values()].some(({ inFlight }) => inFlight.some(({ entry }) => entry.source === source));

  return {
    add: (entry: Entry, topic: string, partition: number, body: Buffer) => {
      const id = `${topic}/${partition}`;
      const queue = queues.get(id) ?? emptyQueue(id, topic, partition);
      queues.set(id, queue);
      addTo(queue, entry, body);
    },
    /** The queues with something to send, nothing in flight and no pause. */
    waiting: (nowMs: number): readonly PartitionQueue[] =>
      [...queues.values()].filter((queue) => isWaiting(queue) && queue.notBeforeMs <= nowMs),
    /** Takes what fits into one request and marks it as in flight; gives the queues that it was taken from. */
    take: (
      ready: readonly PartitionQueue[],
      maySend: (source: string) => boolean,
      nowMs: number,
    ): readonly PartitionQueue[] => {
      let bytes = 0;
      const taken: PartitionQueue[] = [];
      for (const queue of ready) {
        if (bytes >= REQUEST_BYTES_MAX) break;
        queue.inFlight = takeOf(queue, maySend, nowMs);
        for (const piece of queue.inFlight) bytes += piece.bytes;
        if (queue.inFlight.length > 0) taken.push(queue);
      }
      return taken;
    },
    /** Handles a partition's answer; `code` is undefined if there was none. */
    acknowledge: (queue: PartitionQueue, code: number | undefined, nowMs: number): Outcome => {
      const outcome = noteAnswer(queue, code, nowMs);
      answered.resolve();
      answered = Promise.withResolvers();
      return outcome;
    },
    /** When a queue must be checked again, unless something else triggers that. */
    nextAtMs: (nowMs: number, isBusy: (queue: PartitionQueue) => boolean) => {
      const times = [...queues.values()]
        .filter((queue) => isWaiting(queue) && !isBusy(queue))
        .map(({ notBeforeMs }) => (notBeforeMs > nowMs ? notBeforeMs : nowMs + GATE_PAUSE_MS));
      return times.length === 0 ? undefined : Math.min(...times);
    },
    topics: (): readonly string[] => [...new Set([...queues.values()].map(({ topic }) => topic))],
    /** Removes a source's pieces from all queues; gives the entries that are not done. */
    withdraw: (source: string): readonly Entry[] => {
      const entries = new Set<Entry>();
      for (const queue of queues.values()) {
        for (const { entry } of [...queue.inFlight, ...queue.pending]) {
          if (entry.source === source) entries.add(entry);
        }
        queue.pending = queue.pending.filter(({ entry }) => entry.source !== source);
        queue.refused.delete(source);
      }
      for (const entry of entries) entry.dropped = true;
      return [...entries];
    },
    /** Resolves when no piece of the source is in flight. */
    untilAnswered: async (source: string) => {
      while (isOnItsWay(source)) await answered.promise;
    },
  };
}

function emptyQueue(id: string, topic: string, partition: number): PartitionQueue {
  const nothing = { pending: [], inFlight: [], tries: 0, notBeforeMs: 0, singly: 0 };
  return { id, topic, partition, ...nothing, refused: new Map() };
}

const isWaiting = ({ pending, inFlight }: PartitionQueue): boolean =>
  pending.length > 0 && inFlight.length === 0;

function addTo(queue: PartitionQueue, entry: Entry, body: Buffer): void {
  const last = queue.pending.at(-1);
  const bytes = body.length + RECORD_OVERHEAD_BYTES;
  if (last?.entry === entry) {
    last.bodies.push(body);
    last.bytes += bytes;
  } else {
    queue.pending.push({ entry, bodies: [body], bytes });
    entry.pieces += 1;
  }
}

function takeOf(
  queue: PartitionQueue,
  maySend: (source: string) => boolean,
  nowMs: number,
): readonly Piece[] {
  const taken: Piece[] = [];
  const left: Piece[] = [];
  const passedOver = new Set<string>();
  const most = queue.singly > 0 ? 1 : Number.POSITIVE_INFINITY;
  let bytes = 0;
  for (const [index, piece] of queue.pending.entries()) {
    const { source } = piece.entry;
    const isHeld = (queue.refused.get(source)?.untilMs ?? 0) > nowMs;
    if (passedOver.has(source) || isHeld || !maySend(source)) {
      passedOver.add(source);
      left.push(piece);
    } else if (taken.length < most && (taken.length === 0 || bytes + piece.bytes <= BATCH_BYTES_MAX)) {
      taken.push(piece);
      bytes += piece.bytes;
    } else {
      left.push(...queue.pending.slice(index));
      break;
    }
  }
  queue.pending = left;
  return taken;
}

function noteAnswer(queue: PartitionQueue, code: number | undefined, nowMs: number): Outcome {
  const pieces = queue.inFlight;
  queue.inFlight = [];
  if (code === 0) {
    for (const { entry } of pieces) {
      queue.refused.delete(entry.source);
      entry.pieces -= 1;
      if (entry.pieces === 0) entry.done.resolve();
    }
    queue.tries = 0;
    queue.singly = Math.max(0, queue.singly - pieces.length);
    return 'written';
  }
  queue.pending = [...pieces.filter(({ entry }) => !entry.dropped), ...queue.pending];
  queue.tries += 1;
  if (code === undefined || !REFUSALS.has(code)) {
    queue.notBeforeMs = nowMs + Math.min(PAUSE_MS.first * 2 ** Math.min(queue.tries, 10), PAUSE_MS.last);
    return 'failed';
  }
  const [only] = pieces;
  if (pieces.length > 1 || !only) {
    queue.singly = pieces.length;
    return 'refused';
  }
  const times = (queue.refused.get(only.entry.source)?.times ?? 0) + 1;
  const waitMs = Math.min(REFUSED_PAUSE_MS.first * 2 ** (times - 1), REFUSED_PAUSE_MS.last);
  queue.refused.set(only.entry.source, { untilMs: nowMs + waitMs, times });
  queue.singly = Math.max(0, queue.singly - 1);
  return 'refused';
}

const KEYS_REMEMBERED_MAX = 50_000;

/** Assigns a key to one of a topic's partitions: Kafka's own partitioning with a cache by key, so that a wallet's key is hashed once and not per event. */
export function createPartitioner(): (topic: string, key: string, partitions: number) => number {
  const choose = Partitioners.DefaultPartitioner();
  const remembered = new Map<number, Map<string, number>>();
  return (topic, key, partitions) => {
    const byKey = remembered.get(partitions) ?? new Map<string, number>();
    if (byKey.size === 0 || byKey.size > KEYS_REMEMBERED_MAX) {
      byKey.clear();
      remembered.set(partitions, byKey);
    }
    const known = byKey.get(key);
    if (known !== undefined) return known;
    const chosen = choose({
      topic,
      partitionMetadata: metadataOf(partitions),
      message: { key, value: null },
    });
    byKey.set(key, chosen);
    return chosen;
  };
}

/** Metadata with this number of partitions, of which the partitioner needs nothing else. */
function metadataOf(partitions: number): PartitionMetadata[] {
  return Array.from({ length: partitions }, (_, partitionId) => ({
    partitionId,
    partitionErrorCode: 0,
    leader: 0,
    replicas: [],
    isr: [],
  }));
}
