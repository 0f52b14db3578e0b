import type { HealthView } from '@pesewa/contracts';

const none = { count: 0, isCut: false };

/** What a service says of itself if all is well; each service in fact tells a part of what waits. */
export const well = {
  problems: {},
  outbox: { oldestAt: null },
  keepsUp: true,
  parked: none,
  waiting: {
    orders: none,
    decisions: none,
    settings: none,
    givenUpWebhooks: none,
    books: { suspense: [], lowFloats: [] },
  },
} satisfies HealthView;
