import { readFileSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';

// Runs as its own process. Its standard input is a pipe from the process that it guards. When that process ends,
// however it ends, the pipe closes, and the watchdog ends and removes everything that is still listed here.

interface Group {
  readonly pid: number;
  readonly signal: NodeJS.Signals;
}

const graceMs = 5_000;
const pollMs = 25;
const groups: Group[] = [];
const directories = new Set<string>();

function signalGroup(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(-pid, signal);
    return true;
  } catch {
    return false;
  }
}

/** Whether a group still runs; a dead leader that is not reaped yet does not count. */
function groupRuns(pid: number): boolean {
  if (!signalGroup(pid, 0)) return false;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return stat.charAt(stat.lastIndexOf(')') + 2) !== 'Z';
  } catch {
    return true;
  }
}

async function takeDown(): Promise<void> {
  const newestFirst = groups.toReversed();
  for (const group of newestFirst) signalGroup(group.pid, group.signal);
  const deadline = performance.now() + graceMs;
  while (newestFirst.some((group) => groupRuns(group.pid)) && performance.now() < deadline) {
    await delay(pollMs);
  }
  for (const group of newestFirst) signalGroup(group.pid, 'SIGKILL');
  for (const directory of directories) {
    rmSync(directory, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
  }
}

function obey(line: string): void {
  const [verb = '', ...words] = line.split(' ');
  const rest = words.join(' ');
  if (verb === 'guard') {
    const [pid = '', signal] = words;
    groups.push({ pid: Number(pid), signal: signal === 'SIGKILL' ? 'SIGKILL' : 'SIGTERM' });
  } else if (verb === 'forget') {
    const index = groups.findIndex((group) => group.pid === Number(rest));
    if (index >= 0) groups.splice(index, 1);
  } else if (verb === 'remove') {
    directories.add(rest);
  } else if (verb === 'keep') {
    directories.delete(rest);
  }
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
const lines = createInterface({ input: process.stdin });
lines.on('line', obey);
lines.on('close', () => void takeDown());
