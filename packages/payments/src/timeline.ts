import { appendBounded, type BoundedItem } from '@pesewa/kernel';

/**
 * One step of a payment's timeline at its gateway, as operators see it: what happened, and at which attempt at the
 * rail.
 */
export interface TimelineStep extends Pick<BoundedItem, 'notKept'> {
  readonly what: string;
  /** When it was recorded, by the clock of the process that recorded it. */
  readonly atMs: number;
  /**
   * The attempt that the step belongs to, and when it was committed, by the database's clock or that of the process that
   * made it; absent before the first attempt.
   */
  readonly attempt?: { readonly number: number; readonly claimedAtMs: number };
}

/** A {@link TimelineStep} as MongoDB holds it. */
export interface TimelineStepDocument {
  readonly what: string;
  readonly at: Date;
  readonly attempt?: number;
  readonly claimedAt?: Date;
  readonly notKept?: number;
}

/** A payment may be sent again any number of times, so only its first steps and the newest are kept. */
const KEPT = { first: 10, newest: 30 } as const;

/** Adds a step; if there are too many, those in the middle are only counted. */
export function addStep(timeline: readonly TimelineStep[], step: TimelineStep): readonly TimelineStep[] {
  return appendBounded(timeline, step, KEPT);
}

/** A timeline as it is stored. */
export function timelineToDocument(timeline: readonly TimelineStep[]): readonly TimelineStepDocument[] {
  return timeline.map(({ what, atMs, attempt, notKept }) => ({
    what,
    at: new Date(atMs),
    ...(attempt && { attempt: attempt.number, claimedAt: new Date(attempt.claimedAtMs) }),
    ...(notKept !== undefined && { notKept }),
  }));
}

/** The steps as they were stored; payments stored before steps were recorded have none. */
export function timelineFromDocument(
  timeline: readonly TimelineStepDocument[] = [],
): readonly TimelineStep[] {
  return timeline.map(({ what, at, attempt: number, claimedAt, notKept }) => ({
    what,
    atMs: at.getTime(),
    ...(number !== undefined && claimedAt && { attempt: { number, claimedAtMs: claimedAt.getTime() } }),
    ...(notKept !== undefined && { notKept }),
  }));
}

/** Aggregation expression: of a stored timeline the last step alone, which says when a payment ended. */
export const lastStep = { $slice: [{ $ifNull: ['$timeline', []] }, -1] };
