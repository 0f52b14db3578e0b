import { createReadStream } from 'node:fs';
import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';

/** An append-only file of lines that can be found by any of their keys. */
export interface IndexedLog extends AsyncDisposable {
  /** Appends a line, which is on disk once {@link IndexedLog.flushed} has resolved. */
  readonly append: (line: string, keys: readonly string[]) => void;
  /** Appends a line that no caller waits for; it reaches the disk within a fraction of a second. */
  readonly appendLazily: (line: string, keys: readonly string[]) => void;
  /** Resolves when every line appended (not lazily) up to now is on disk. */
  readonly flushed: () => Promise<void>;
  /** The lines with a key, or all of them, in the order in which they were appended. */
  readonly read: (key: string | undefined) => Promise<readonly string[]>;
}

interface Place {
  readonly offset: number;
  readonly length: number;
}

const LAZY_FLUSH_MS = 100;
const READ_BYTES_MAX = 1_048_576;
const NEWLINE = 0x0a;

/**
 * Opens a log and hands every line in it to `restore`, which gives the line's keys.
 *
 * Concurrent appends share one write and one fsync, so that durability is cheap under load. A last line that a crash
 * cut short was never acknowledged, and is removed. A failed write is reported once to `onBroken`.
 */
export async function openIndexedLog(options: {
  readonly path: string;
  readonly restore: (line: string) => readonly string[];
  readonly onBroken: (error: Error) => void;
}): Promise<IndexedLog> {
  await mkdir(dirname(options.path), { recursive: true });
  const file = await open(options.path, 'a+');
  const index = createLineIndex();
  await restoreLines(options.path, index, options.restore);
  await file.truncate(index.end());
  const writer = createGroupWriter(file, options.onBroken);
  let closed = false;
  return {
    append: (line, keys) => {
      if (closed) return;
      index.add(line, keys);
      writer.write(line);
    },
    appendLazily: (line, keys) => {
      if (closed) return;
      index.add(line, keys);
      writer.writeLazily(line);
    },
    flushed: writer.flushed,
    read: async (key) => {
      const places = index.find(key);
      await writer.flushAll();
      return readLines(file, places);
    },
    [Symbol.asyncDispose]: async () => {
      // Everything later is treated as if the process had died before it: it is never answered.
      closed = true;
      await writer.flushAll();
      await file.close();
    },
  };
}

function createLineIndex() {
  const offsets = new Map<string, number[]>();
  const starts: number[] = [];
  let end = 0;
  // Positions are stored as line numbers: one small integer per key and line.
  const placeOf = (line: number): Place => {
    const offset = starts[line] ?? end;
    return { offset, length: (starts[line + 1] ?? end) - offset };
  };
  return {
    end: () => end,
    add: (line: string, keys: readonly string[]) => {
      for (const key of new Set(keys)) {
        const known = offsets.get(key);
        if (known) known.push(starts.length);
        else offsets.set(key, [starts.length]);
      }
      starts.push(end);
      end += Buffer.byteLength(line) + 1;
    },
    find: (key: string | undefined): readonly Place[] =>
      key === undefined ? starts.map((_, line) => placeOf(line)) : (offsets.get(key) ?? []).map(placeOf),
  };
}

async function restoreLines(
  path: string,
  index: ReturnType<typeof createLineIndex>,
  restore: (line: string) => readonly string[],
): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(NEWLINE); end !== -1; end = bytes.indexOf(NEWLINE, start)) {
      const line = bytes.toString('utf8', start, end);
      index.add(line, restore(line));
      start = end + 1;
    }
    rest = bytes.subarray(start);
  }
}

function createGroupWriter(file: FileHandle, onBroken: (error: Error) => void) {
  let waiting: string[] = [];
  let next: Promise<void> | undefined;
  let last: Promise<void> = Promise.resolve();
  let durable: Promise<void> = last;
  let lazyTimer: NodeJS.Timeout | undefined;
  let broken = false;

  const writeBatch = async (previous: Promise<void>) => {
    await previous;
    next = undefined;
    clearTimeout(lazyTimer);
    lazyTimer = undefined;
    const batch = waiting;
    waiting = [];
    await file.appendFile(`${batch.join('\n')}\n`);
    await file.datasync();
  };
  /** The batch that has not begun yet; appends during another write share it. */
  const nextBatch = (): Promise<void> => {
    if (next !== undefined) return next;
    next = writeBatch(last);
    last = next;
    next.catch((error: unknown) => {
      if (!broken) onBroken(error instanceof Error ? error : new Error('the log cannot be written'));
      broken = true;
    });
    return next;
  };
  return {
    write: (line: string) => {
      waiting.push(line);
      durable = nextBatch();
    },
    writeLazily: (line: string) => {
      waiting.push(line);
      lazyTimer ??= setTimeout(() => void (waiting.length > 0 && nextBatch()), LAZY_FLUSH_MS);
    },
    flushed: () => durable,
    flushAll: () => (waiting.length > 0 ? nextBatch() : last),
  };
}

async function readLines(file: FileHandle, places: readonly Place[]): Promise<readonly string[]> {
  const lines: string[] = [];
  for (const { offset, length } of joinNeighbours(places)) {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset);
    lines.push(...buffer.toString('utf8', 0, Math.max(0, bytesRead - 1)).split('\n'));
  }
  return lines;
}

/** Reads neighbouring lines at once, up to a limit. */
function joinNeighbours(places: readonly Place[]): readonly Place[] {
  const runs: Place[] = [];
  for (const place of places) {
    const run = runs.at(-1);
    if (run && run.offset + run.length === place.offset && run.length < READ_BYTES_MAX) {
      runs[runs.length - 1] = { offset: run.offset, length: run.length + place.length };
    } else runs.push(place);
  }
  return runs;
}
