import { accept, DAY_MS, type Result, refuse } from '@pesewa/kernel';
import type { Window } from '../matching/payments.ts';

/** Why a window can't be closed. */
export type WindowRefusal = 'window.empty' | 'window.too_long' | 'window.not_over';

/** The longest window: a month. */
export const WINDOW_DAYS_MAX = 31;

/** The window of a day, UTC, as its midnight. */
export function dayFrom(midnight: Date, rail: string | null): Window {
  return { from: midnight, to: new Date(midnight.getTime() + DAY_MS), rail };
}

/**
 * Checks a window: it must have ended at least the allowed lag ago, so that the owners' events about it have been read.
 *
 * @param lagMs how late their events may be
 */
export function judgeWindow({ from, to }: Window, nowMs: number, lagMs: number): Result<true, WindowRefusal> {
  const lengthMs = to.getTime() - from.getTime();
  if (lengthMs <= 0) return refuse('window.empty');
  if (lengthMs > WINDOW_DAYS_MAX * DAY_MS) return refuse('window.too_long');
  return to.getTime() + lagMs > nowMs ? refuse('window.not_over') : accept(true);
}

/** The name of the close over a window, which is unique: `2026-11-20`, or `<from>--<to>`, and the rail after a dot. */
export function closeIdOf(window: Window): string {
  const { from, to, rail } = window;
  const [start, end] = [from.toISOString(), to.toISOString()];
  const span = isDay(window) ? start.slice(0, 10) : `${start}--${end}`;
  return rail === null ? span : `${span}.${rail}`;
}

/** Whether a window is a whole day, UTC. */
function isDay({ from, to }: Window): boolean {
  return from.getTime() % DAY_MS === 0 && to.getTime() - from.getTime() === DAY_MS;
}

/**
 * What the nightly close is about among the days of the last month, as windows over all rails: yesterday and missing days,
 * but none before the first day that was ever closed, or that has a payment to compare; and the ids of the days that may
 * have payments to compare although they were closed.
 *
 * @param closed the ids of all days that were closed over all rails, the oldest first
 * @param oldestUncompared when the oldest payment ended that nothing has compared; undefined if there is none
 */
export function nightlyDays(closed: readonly string[], nowMs: number, oldestUncompared?: Date) {
  const yesterdayMs = nowMs - (nowMs % DAY_MS) - DAY_MS;
  const month = Array.from({ length: WINDOW_DAYS_MAX }, (_, before) =>
    dayFrom(new Date(yesterdayMs - before * DAY_MS), null),
  ).toReversed();
  const [first] = closed;
  const known = new Set(closed);
  const mayHaveLate = ({ to }: Window) => oldestUncompared !== undefined && to > oldestUncompared;
  const isDue = (day: Window) =>
    (first !== undefined && day.from >= new Date(first)) || mayHaveLate(day) || day === month.at(-1);
  return {
    missing: month.filter((day) => !known.has(closeIdOf(day)) && isDue(day)),
    late: month.filter(mayHaveLate).map(closeIdOf),
  };
}
