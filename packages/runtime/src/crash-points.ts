import { readFileSync, rmSync, writeSync } from 'node:fs';

/**
 * A named line at which a test may kill or freeze the process; it does nothing unless it is armed. What is passed there
 * is read only if the point is armed for a text in it.
 */
export type CrashPoint = (name: string, content?: () => string) => void;

/** Written to the process's log right before the crash, so that a test knows where it died. */
const announce = (passed: string) => void writeSync(process.stderr.fd, `crash point ${passed}\n`);

/** What a file holds; undefined where there is none. */
function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return undefined;
  }
}

/**
 * Arms one crash point from `name:n` (the n-th time it is passed, default the first), or `name:n:freeze`, or
 * `name:n:freeze:text` (the n-th time it is passed with a content that has the text); or from `@file`, which may say so at
 * any time while the process runs, and is removed when its point strikes.
 *
 * The process dies by SIGKILL, so that no handler runs: the crash a power cut would be. A frozen one stops by SIGSTOP
 * until someone sends SIGCONT: the pause of a machine that swaps or moves, after which it believes no time has passed.
 */
export function createCrashPoints(armed: string | undefined): CrashPoint {
  if (armed === undefined) return () => undefined;
  if (!armed.startsWith('@')) return strikeAt(armed, () => undefined);
  const file = armed.slice(1);
  let said: string | undefined;
  let strike: CrashPoint = () => undefined;
  return (passed, content) => {
    const now = readIfThere(file);
    if (now !== said) strike = now === undefined ? () => undefined : strikeAt(now, () => rmSync(file));
    said = now;
    strike(passed, content);
  };
}

function strikeAt(armed: string, disarm: () => void): CrashPoint {
  const [name, times = '1', how, text = ''] = armed.split(':');
  let remaining = Number(times);
  return (passed, content = () => '') => {
    if (passed !== name || !content().includes(text)) return;
    remaining -= 1;
    if (remaining !== 0) return;
    disarm();
    announce(passed);
    process.kill(process.pid, how === 'freeze' ? 'SIGSTOP' : 'SIGKILL');
  };
}
