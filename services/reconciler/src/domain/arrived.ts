/**
 * A period throughout which everything our services sent to one another arrived, as far as can be known by now. Before
 * it something was on its way for too long, or there was no check; milliseconds.
 */
export interface ArrivedTime {
  readonly sinceMs: number;
  readonly untilMs: number;
}

/**
 * The period after a check found that everything on its way at `levelAtMs` has arrived: it is extended, or begins anew
 * after a gap.
 */
export function arrivedBy(before: ArrivedTime | undefined, levelAtMs: number, limitMs: number): ArrivedTime {
  const goesOn = before && levelAtMs - before.untilMs <= limitMs;
  return { sinceMs: goesOn ? before.sinceMs : levelAtMs, untilMs: levelAtMs };
}

/**
 * How long something has been awaited since a time while the messages that could bring it were arriving: what is merely
 * late is not lost (ADR 27).
 */
export function waitedMs(
  { askedAtMs, arrived }: { readonly askedAtMs: number; readonly arrived: ArrivedTime | null },
  sinceMs: number,
): number {
  if (arrived === null) return 0;
  return Math.max(0, Math.min(askedAtMs, arrived.untilMs) - Math.max(sinceMs, arrived.sinceMs));
}
