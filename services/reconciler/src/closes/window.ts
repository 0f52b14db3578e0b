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

/** For how many days the nightly close checks again for ends reported late. */
const LATE_DAYS = 7;

/**
 * The days that the nightly close is about: yesterday, and missing days of the month before it, but none before the
 * first day that was ever closed.
 *
 * @param closed the ids of all days that were closed over all rails, the oldest first
 */
export function daysToClose(closed: readonly string[], nowMs: number): readonly Date[] {
  const [oldest] = closed;
  const known = new Set(closed);
  const month = daysBefore(nowMs, WINDOW_DAYS_MAX);
  const since = oldest === undefined ? month.slice(-1) : month.filter((day) => day >= new Date(oldest));
  return since.filter((day) => !known.has(idOfDay(day)));
}

/** The ids of the newest days, over all rails, whose ends may have been reported after they were closed. */
export function daysWithLate(nowMs: number): readonly string[] {
  return daysBefore(nowMs, LATE_DAYS).map(idOfDay);
}

/** The midnights of so many days up to yesterday. */
function daysBefore(nowMs: number, count: number): readonly Date[] {
  const todayMs = nowMs - (nowMs % DAY_MS);
  return Array.from({ length: count }, (_, index) => new Date(todayMs - (count - index) * DAY_MS));
}

function idOfDay(day: Date): string {
  return closeIdOf(dayFrom(day, null));
}
