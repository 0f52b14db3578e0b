import { readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { Child } from './children.ts';
import { messageOf, StartError } from './errors.ts';

const pollMs = 40;
/**
 * How long a daemon may take until it answers. Generous, because one that ends instead is noticed at once, and a first
 * start beside a compiler and tests on two cores takes minutes.
 */
export const startTimeoutMs = 300_000;
/** How long one question to a starting daemon may take: its first answers are slow, and a busy asker reads them late. */
export const startProbeTimeoutMs = 15_000;

/** Retries until `attempt` resolves; after `timeoutMs` it rejects with a StartError that ends with the last error. */
export async function waitUntil<Value>(
  what: string,
  timeoutMs: number,
  attempt: () => Promise<Value>,
): Promise<Value> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    try {
      return await attempt();
    } catch (error) {
      if (performance.now() >= deadline) {
        throw new StartError(
          `${what} did not answer within ${Math.round(timeoutMs / 1000)} s (${messageOf(error)})`,
        );
      }
    }
    await delay(pollMs);
  }
}

const causes: readonly (readonly [RegExp, string])[] = [
  [/address already in use|port already bound|EADDRINUSE/i, 'its port was taken meanwhile: start again'],
  [/no space left/i, 'the disk is full: free some space and start again'],
  [
    /OutOfMemoryError|cannot allocate memory|insufficient memory/i,
    'no memory left: close something and start again',
  ],
  [/UnsupportedClassVersionError/, 'the Java found is too old: install Java 17 or newer'],
];

/** One line that says why a daemon ended during its start, from the end of its log. */
export function startFailure(name: string, how: string, log: string): string {
  const known = causes.find(([pattern]) => pattern.test(log));
  if (known !== undefined) return `${name} stopped while starting: ${known[1]}`;
  return `${name} stopped while starting (${how}): ${lastFault(log)}`;
}

/** The line of a log that says best what went wrong: the last one about an error, else the last one. */
export function lastFault(log: string): string {
  const lines = log.split('\n').filter((line) => line.trim() !== '');
  const found = lines.findLast((line) => /error|fatal|exception/i.test(line)) ?? lines.at(-1);
  return (found ?? 'its log is empty').trim().slice(0, 300);
}

/** Waits until a daemon answers; if it ends instead, rejects at once with a line from its log. */
export async function waitForDaemon(
  daemon: Child,
  logFile: string,
  attempt: () => Promise<void>,
): Promise<void> {
  const readLog = async () => (await readFile(logFile, 'utf8').catch(() => '')).slice(-20_000);
  const ended = daemon.exited.then(async (exit): Promise<never> => {
    const how = exit.signal === null ? `exit code ${exit.code ?? -1}` : exit.signal;
    throw new StartError(startFailure(daemon.name, how, await readLog()));
  });
  const answered = waitUntil(daemon.name, startTimeoutMs, async () => {
    if (!daemon.running()) return;
    await attempt();
  }).catch(async (error: unknown): Promise<never> => {
    throw new StartError(`${messageOf(error)}; its log: ${lastFault(await readLog())}`);
  });
  // The promise that loses the race must not become an unhandled rejection.
  ended.catch(() => undefined);
  answered.catch(() => undefined);
  await Promise.race([ended, answered]);
  if (!daemon.running()) await ended;
}
