import type { AvailabilityView, RailAvailabilityView } from '@pesewa/contracts';

/** What a hundred payments at a rail gave. */
export const measuredRail = {
  rail: 'upstream',
  operatorCode: null,
  completed: 97,
  failed: { customer: 2, rail: 1, other: 0 },
  reversed: 0,
  successRate: 0.97,
  medianMs: 4_200,
  p95Ms: 90_000,
  topFailure: { reason: 'CUSTOMER DECLINED', count: 2 },
  openTooLong: { count: 3, isCut: true, afterMs: 90_000 },
} satisfies RailAvailabilityView;

/** A gateway's answer for the hour before the time of tests. */
export const availability = (...items: readonly RailAvailabilityView[]) =>
  ({
    at: '2026-11-27T12:00:00.000Z',
    from: '2026-11-27T11:00:00.000Z',
    isSample: false,
    items: [...items],
  }) satisfies AvailabilityView;
