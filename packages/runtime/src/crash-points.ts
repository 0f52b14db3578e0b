import { writeSync } from 'node:fs';

/** A named line at which a test may kill or freeze the process; it does nothing unless it is armed. */
export type CrashPoint = (name: string) => void;

/** Written to the process's log right before the crash, so that a test knows where it died. */
const announce = (passed: string) => void writeSync(process.stderr.fd, `crash point ${passed}\n`);

/**
 * Arms one crash point from `name:n` (the n-th time it is reached, by default the first), or `name:n:freeze`.
 *
 * The process dies by SIGKILL, so that no handler runs, as in a power cut. To freeze, it stops by SIGSTOP until
 * somebody sends SIGCONT, like a machine that swaps or is moved: afterwards it believes that no time has passed.
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
