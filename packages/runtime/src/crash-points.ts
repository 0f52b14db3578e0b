/** A named line at which a test may kill the process; free when none is armed. */
export type CrashPoint = (name: string) => void;

/**
 * Arms one crash point from `name:n` (the n-th time it is passed, default the first).
 *
 * The process dies by SIGKILL, so that no handler runs: the crash a power cut would be.
 */
export function createCrashPoints(armed: string | undefined): CrashPoint {
  if (armed === undefined) return () => undefined;
  const separator = armed.lastIndexOf(':');
  const name = separator === -1 ? armed : armed.slice(0, separator);
  let remaining = separator === -1 ? 1 : Number(armed.slice(separator + 1));
  return (passed) => {
    if (passed !== name) return;
    remaining -= 1;
    if (remaining === 0) process.kill(process.pid, 'SIGKILL');
  };
}
