/** What waits for Kafka, by partition: the order of each is that of the calls, whatever is tried again. */

/** One call of produce: done when none of its pieces is left. */
export interface Entry {
  readonly source: string;
  pieces: number;
  dropped: boolean;
  readonly done: PromiseWithResolvers<void>;
}

/** What an entry writes to one partition. */
interface Piece {
  readonly entry: Entry;
  readonly bodies: Buffer[];
  bytes: number;
}

/** One partition: what waits for it, and what is on its way. */
export interface Lane {
  readonly id: string;
  readonly topic: string;
  readonly partition: number;
  queue: Piece[];
  inFlight: readonly Piece[];
  /** Tries that failed since something was written last. */
  tries: number;
  notBeforeMs: number;
  /** After a refusal: how many pieces go one by one, until the one that is refused is known. */
  singly: number;
  /** Sources of which Kafka refuses the next piece, and when each is tried again. */
  readonly refused: Map<string, { readonly untilMs: number; readonly times: number }>;
}

/** What came of a try. */
export type Outcome = 'written' | 'failed' | 'refused';

/** Errors that the same bytes, or the same rights, will meet again; everything else passes. */
const REFUSALS: ReadonlySet<number> = new Set([10, 17, 18, 29, 31, 32, 43, 44, 87]);
/** Below what a broker takes for one batch of one partition (1 MiB). */
const BATCH_BYTES_MAX = 950 * 1_024;
const REQUEST_BYTES_MAX = 8 * 1_024 * 1_024;
const PAUSE_MS = { first: 50, last: 2_000 } as const;
/** A source that may not send is asked again after this. */
const GATE_PAUSE_MS = 100;
const REFUSED_PAUSE_MS = { first: 1_000, last: 30_000 } as const;
/** What a record takes beside its body, at most. */
const RECORD_OVERHEAD_BYTES = 16;

/** All partitions that were ever written to. */
export interface Lanes {
  readonly add: (entry: Entry, topic: string, partition: number, body: Buffer) => void;
  /** Those with something to send, nothing on its way and no pause. */
  readonly waiting: (nowMs: number) => readonly Lane[];
  /** Puts on its way what fits into one request; gives the lanes that have something in it. */
  readonly take: (
    lanes: readonly Lane[],
    maySend: (source: string) => boolean,
    nowMs: number,
  ) => readonly Lane[];
  /** Notes a partition's answer; without a code there was none. */
  readonly settle: (lane: Lane, code: number | undefined, nowMs: number) => Outcome;
  /** When to look again, where nothing else will cause a look. */
  readonly nextAtMs: (nowMs: number, isBusy: (lane: Lane) => boolean) => number | undefined;
  readonly topics: () => readonly string[];
  /** Takes a source's pieces out of all queues; gives the entries that are not done. */
  readonly withdraw: (source: string) => readonly Entry[];
  /** Resolves when no piece of the source is on its way. */
  readonly untilAnswered: (source: string) => Promise<void>;
}

/** Builds {@link Lanes}. */
export function createLanes(): Lanes {
  const lanes = new Map<string, Lane>();
  let answered = Promise.withResolvers<void>();

  const isOnItsWay = (source: string) =>
    [...lanes.values()].some(({ inFlight }) => inFlight.some(({ entry }) => entry.source === source));

  return {
    add: (entry, topic, partition, body) => {
      const id = `${topic}/${partition}`;
      const lane = lanes.get(id) ?? emptyLane(id, topic, partition);
      lanes.set(id, lane);
      addTo(lane, entry, body);
    },
    waiting: (nowMs) => [...lanes.values()].filter((lane) => isWaiting(lane) && lane.notBeforeMs <= nowMs),
    take: (ready, maySend, nowMs) => {
      let bytes = 0;
      const taken: Lane[] = [];
      for (const lane of ready) {
        if (bytes >= REQUEST_BYTES_MAX) break;
        lane.inFlight = takeOf(lane, maySend, nowMs);
        for (const piece of lane.inFlight) bytes += piece.bytes;
        if (lane.inFlight.length > 0) taken.push(lane);
      }
      return taken;
    },
    settle: (lane, code, nowMs) => {
      const outcome = settle(lane, code, nowMs);
      answered.resolve();
      answered = Promise.withResolvers();
      return outcome;
    },
    nextAtMs: (nowMs, isBusy) => {
      const times = [...lanes.values()]
        .filter((lane) => isWaiting(lane) && !isBusy(lane))
        .map(({ notBeforeMs }) => (notBeforeMs > nowMs ? notBeforeMs : nowMs + GATE_PAUSE_MS));
      return times.length === 0 ? undefined : Math.min(...times);
    },
    topics: () => [...new Set([...lanes.values()].map(({ topic }) => topic))],
    withdraw: (source) => {
      const entries = new Set<Entry>();
      for (const lane of lanes.values()) {
        for (const { entry } of [...lane.inFlight, ...lane.queue]) {
          if (entry.source === source) entries.add(entry);
        }
        lane.queue = lane.queue.filter(({ entry }) => entry.source !== source);
        lane.refused.delete(source);
      }
      for (const entry of entries) entry.dropped = true;
      return [...entries];
    },
    untilAnswered: async (source) => {
      while (isOnItsWay(source)) await answered.promise;
    },
  };
}

function emptyLane(id: string, topic: string, partition: number): Lane {
  const nothing = { queue: [], inFlight: [], tries: 0, notBeforeMs: 0, singly: 0 };
  return { id, topic, partition, ...nothing, refused: new Map() };
}

const isWaiting = ({ queue, inFlight }: Lane): boolean => queue.length > 0 && inFlight.length === 0;

function addTo(lane: Lane, entry: Entry, body: Buffer): void {
  const last = lane.queue.at(-1);
  const bytes = body.length + RECORD_OVERHEAD_BYTES;
  if (last?.entry === entry) {
    last.bodies.push(body);
    last.bytes += bytes;
  } else {
    lane.queue.push({ entry, bodies: [body], bytes });
    entry.pieces += 1;
  }
}

function takeOf(lane: Lane, maySend: (source: string) => boolean, nowMs: number): readonly Piece[] {
  const taken: Piece[] = [];
  const left: Piece[] = [];
  const passedOver = new Set<string>();
  const most = lane.singly > 0 ? 1 : Number.POSITIVE_INFINITY;
  let bytes = 0;
  for (const [index, piece] of lane.queue.entries()) {
    const { source } = piece.entry;
    const isHeld = (lane.refused.get(source)?.untilMs ?? 0) > nowMs;
    if (passedOver.has(source) || isHeld || !maySend(source)) {
      passedOver.add(source);
      left.push(piece);
    } else if (taken.length < most && (taken.length === 0 || bytes + piece.bytes <= BATCH_BYTES_MAX)) {
      taken.push(piece);
      bytes += piece.bytes;
    } else {
      left.push(...lane.queue.slice(index));
      break;
    }
  }
  lane.queue = left;
  return taken;
}

function settle(lane: Lane, code: number | undefined, nowMs: number): Outcome {
  const pieces = lane.inFlight;
  lane.inFlight = [];
  if (code === 0) {
    for (const { entry } of pieces) {
      lane.refused.delete(entry.source);
      entry.pieces -= 1;
      if (entry.pieces === 0) entry.done.resolve();
    }
    lane.tries = 0;
    lane.singly = Math.max(0, lane.singly - pieces.length);
    return 'written';
  }
  lane.queue = [...pieces.filter(({ entry }) => !entry.dropped), ...lane.queue];
  lane.tries += 1;
  if (code === undefined || !REFUSALS.has(code)) {
    lane.notBeforeMs = nowMs + Math.min(PAUSE_MS.first * 2 ** Math.min(lane.tries, 10), PAUSE_MS.last);
    return 'failed';
  }
  const [only] = pieces;
  if (pieces.length > 1 || !only) {
    lane.singly = pieces.length;
    return 'refused';
  }
  const times = (lane.refused.get(only.entry.source)?.times ?? 0) + 1;
  const waitMs = Math.min(REFUSED_PAUSE_MS.first * 2 ** (times - 1), REFUSED_PAUSE_MS.last);
  lane.refused.set(only.entry.source, { untilMs: nowMs + waitMs, times });
  lane.singly = Math.max(0, lane.singly - 1);
  return 'refused';
}
