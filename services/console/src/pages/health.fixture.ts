import type { HealthView } from '@pesewa/contracts';

const none = { count: 0, isCut: false };

/** A service of which all is well; each in fact tells a part of what waits. */
export const well = {
  problems: {},
  outbox: { oldestAt: null },
  keepsUp: true,
  parked: none,
  waiting: {
    orders: none,
    settings: none,
    decisions: none,
    givenUpWebhooks: none,
    disabledEndpoints: [],
    pauses: [],
    books: { suspense: [], lowFloats: [] },
  },
} satisfies HealthView;
