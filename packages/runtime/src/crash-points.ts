import { writeSync } from 'node:fs';

/** A named line at which a test may kill the process, or freeze it; free when none is armed. */
export type CrashPoint = (name: string) => void;

/** The line that goes to the process's log right before, so that a test can tell where it died. */
const announce = (passed: string) => void writeSync(process.stderr.fd, `crash point ${passed}\n`);

/**
 * Arms one crash point from `name:n` (the n-th time it is passed, default the first), or `name:n:freeze`.
 *
 * The process dies by SIGKILL, so that no handler runs: the crash a power cut would be. A frozen one stops by SIGSTOP
 * until someone sends SIGCONT: the pause of a machine that swaps or moves, after which it believes no time has passed.
 */
export function createCrashPoints(armed: string | undefined): CrashPoint {
  if (armed === undefined) return () => undefined;
  const [name, times = '1', how] = armed.split(':');
  let remaining = Number(times);
  return (passed) => {
    if (passed !== name) return;
    remaining -= 1;
    if (remaining !== 0) return;
    announce(passed);
    process.kill(process.pid, how === 'freeze' ? 'SIGSTOP' : 'SIGKILL');
  };
}
