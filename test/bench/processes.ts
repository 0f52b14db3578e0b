import { readFile } from 'node:fs/promises';

/** Processes by name. */
export type Pids = Readonly<Record<string, number>>;

/** The unit of the kernel's counters, on every Linux that Node runs on. */
const TICKS_PER_SECOND = 100;
const BYTES_PER_MIB = 1_024 * 1_024;
const LOOK_MS = 200;

/** The seconds of CPU that each process has used; processes without a value (no Linux, ended) are left out. */
export async function cpuSeconds(pids: Pids): Promise<ReadonlyMap<string, number>> {
  const used = new Map<string, number>();
  for (const [name, pid] of Object.entries(pids)) {
    const text = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '');
    // The name of the program may hold blanks; what follows it does not.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const ticks = Number(fields[11]) + Number(fields[12]);
    if (Number.isFinite(ticks)) used.set(name, ticks / TICKS_PER_SECOND);
  }
  return used;
}

/** What each process used between two readings, in seconds. */
export function cpuBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
): readonly (readonly [string, number])[] {
  return [...after].map(([name, seconds]) => [name, seconds - (before.get(name) ?? 0)] as const);
}

/** The present resident memory of a process, in MiB; undefined if it can't be read. */
export async function residentMib(pid: number): Promise<number | undefined> {
  const text = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(text)?.[1];
  return kib === undefined ? undefined : (Number(kib) * 1_024) / BYTES_PER_MIB;
}

/** The peak resident memory of a process while it was watched. */
export interface MemoryWatch extends Disposable {
  /** In MiB; NaN if it can't be read. */
  readonly peakMib: () => number;
}

/** Reads the memory of a process a few times a second until it is closed. */
export function watchMemory(pid: number): MemoryWatch {
  let peakMib = Number.NaN;
  const look = () =>
    void residentMib(pid).then((mib) => {
      if (mib !== undefined) peakMib = Number.isNaN(peakMib) ? mib : Math.max(peakMib, mib);
    });
  look();
  const looks = setInterval(look, LOOK_MS);
  return { peakMib: () => peakMib, [Symbol.dispose]: () => clearInterval(looks) };
}
