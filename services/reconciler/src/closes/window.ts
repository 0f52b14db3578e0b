import { accept, DAY_MS, type Result, refuse } from '@pesewa/kernel';
import type { Window } from '../matching/payments.ts';

/** Why a window can't be closed: the code is for programs, the message for people. */
export interface WindowRefusal {
  readonly code: 'invalid' | 'not_over';
  readonly message: string;
}

/** The longest window: a month. */
const WINDOW_DAYS_MAX = 31;

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
  if (lengthMs <= 0) return refuse({ code: 'invalid', message: 'from must be before to' });
  if (lengthMs > WINDOW_DAYS_MAX * DAY_MS)
    return refuse({ code: 'invalid', message: `to: a close is about ${WINDOW_DAYS_MAX} days at most` });
  const overAt = new Date(to.getTime() + lagMs);
  if (overAt.getTime() <= nowMs) return accept(true);
  const message = `to: events of this time may still be on their way: it can be closed from ${overAt.toISOString()} on`;
  return refuse({ code: 'not_over', message });
}

/** The name of the close over a window, which is unique: `2026-11-20`, or `<from>--<to>`, and the rail after a dot. */
export function closeIdOf({ from, to, rail }: Window): string {
  const [start, end] = [from.toISOString(), to.toISOString()];
  const isDay = from.getTime() % DAY_MS === 0 && to.getTime() - from.getTime() === DAY_MS;
  const span = isDay ? start.slice(0, 10) : `${start}--${end}`;
  return rail === null ? span : `${span}.${rail}`;
}

/**
 * The days that the nightly close is about, the oldest first, as windows over all rails: yesterday, and those of the last
 * month from the oldest payment on that nothing has compared.
 */
export function nightlyDays(nowMs: number, oldestUncompared?: Date): readonly Window[] {
  const yesterdayMs = nowMs - (nowMs % DAY_MS) - DAY_MS;
  const month = Array.from({ length: WINDOW_DAYS_MAX }, (_, before) =>
    dayFrom(new Date(yesterdayMs - before * DAY_MS), null),
  );
  const mayHaveUncompared = ({ to }: Window) => oldestUncompared !== undefined && to > oldestUncompared;
  return month.filter((day, before) => before === 0 || mayHaveUncompared(day)).toReversed();
}
