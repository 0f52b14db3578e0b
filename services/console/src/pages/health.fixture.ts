import type { HealthView } from '@pesewa/contracts';

/** A service of which all is well. */
export const well = {
  problems: {},
  outbox: { oldestAt: null },
  keepsUp: true,
  parked: { count: 0, isCut: false },
  waiting: {},
} satisfies HealthView;
