import { accept, type Result, refuse } from '@pesewa/kernel';

/** What a close is about: the payments that ended from one time until before another, at one rail or at all. */
export interface CloseWindow {
  readonly from: Date;
  readonly to: Date;
  /** Null is all. */
  readonly rail: string | null;
}

/** Why there can be no close over a window. */
export type WindowRefusal = 'window.empty' | 'window.too_long' | 'window.not_over';

/** The longest window: a month. */
export const WINDOW_DAYS_MAX = 31;

const DAY_MS = 86_400_000;

/** The window of a day, UTC, as its midnight. */
export function dayFrom(midnight: Date, rail: string | null): CloseWindow {
  return { from: midnight, to: new Date(midnight.getTime() + DAY_MS), rail };
}

/**
 * Judges a window: it must be over, and a settle time more, so that the owners' events of it have been read.
 *
 * @param settleMs how long their events may take
 */
export function judgeWindow(
  { from, to }: CloseWindow,
  nowMs: number,
  settleMs: number,
): Result<true, WindowRefusal> {
  const lengthMs = to.getTime() - from.getTime();
  if (lengthMs <= 0) return refuse('window.empty');
  if (lengthMs > WINDOW_DAYS_MAX * DAY_MS) return refuse('window.too_long');
  return to.getTime() + settleMs > nowMs ? refuse('window.not_over') : accept(true);
}

/** The name of the close over a window, so that each has one: `2026-11-20`, or `<from>--<to>`, and the rail behind a dot. */
export function closeIdOf(window: CloseWindow): string {
  const { from, to, rail } = window;
  const [start, end] = [from.toISOString(), to.toISOString()];
  const span = isDay(window) ? start.slice(0, 10) : `${start}--${end}`;
  return rail === null ? span : `${span}.${rail}`;
}

/** Whether a window is a whole day, UTC. */
function isDay({ from, to }: CloseWindow): boolean {
  return from.getTime() % DAY_MS === 0 && to.getTime() - from.getTime() === DAY_MS;
}

/**
 * The days that the nightly close is about: yesterday, and those before it that no night has closed, at most a month of them.
 *
 * @param newest the midnight of the newest day that was closed; nothing where none was
 */
export function daysToClose(newest: Date | undefined, nowMs: number): readonly Date[] {
  const yesterdayMs = nowMs - (nowMs % DAY_MS) - DAY_MS;
  const earliestMs = yesterdayMs - (WINDOW_DAYS_MAX - 1) * DAY_MS;
  const firstMs = newest ? Math.max(newest.getTime() + DAY_MS, earliestMs) : yesterdayMs;
  const days: Date[] = [];
  for (let dayMs = firstMs; dayMs <= yesterdayMs; dayMs += DAY_MS) days.push(new Date(dayMs));
  return days;
}
