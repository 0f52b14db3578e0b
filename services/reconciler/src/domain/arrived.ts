/**
 * A time throughout which whatever our services sent to each other arrived, as far as anybody can tell by now: before it
 * something was on its way for longer than it should be, or nobody looked; milliseconds.
 */
export interface ArrivedTime {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/** The time after a look found that all that was on its way at `levelAtMs` has arrived: it goes on, or begins anew after a gap. */
export function arrivedBy(before: ArrivedTime | null, levelAtMs: number, limitMs: number): ArrivedTime {
  const goesOn = before !== null && levelAtMs - before.untilMs <= limitMs;
  return { sinceMs: goesOn ? before.sinceMs : levelAtMs, untilMs: levelAtMs };
}

/** The time as of now: nothing once no look has found so for longer than messages may take. */
export function arrivedAsOf(time: ArrivedTime | null, nowMs: number, limitMs: number): ArrivedTime | null {
  return time !== null && nowMs - time.untilMs <= limitMs ? time : null;
}

/** For how long something has been waited for since then while what could bring it arrived: late is not lost (ADR 42). */
export function waitedMs(
  { polledAtMs, arrived }: { readonly polledAtMs: number; readonly arrived: ArrivedTime | null },
  sinceMs: number,
): number {
  if (arrived === null) return 0;
  return Math.max(0, Math.min(polledAtMs, arrived.untilMs) - Math.max(sinceMs, arrived.sinceMs));
}
