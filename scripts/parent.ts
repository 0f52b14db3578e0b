const PAUSE_MS = 500;

/** Calls back once when this process has lost its parent, so that a killed `npm start` leaves no stack behind. */
export function whenOrphaned(orphaned: () => void): void {
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    orphaned();
  }, PAUSE_MS);
  timer.unref();
}
