import type { Merchant } from '@pesewa/directory';
import { createCounter } from '@pesewa/merchant-api';

/** The limits of each merchant, counted apart from every other's (docs/adr/0015). */
export interface RateLimits {
  /** Counts a request: whole seconds to wait where it is one too many, else nothing. */
  readonly countRequest: (merchant: Merchant) => Promise<number | undefined>;
  /** The same for name enquiries, which tell personal data. */
  readonly countNameEnquiry: (merchant: Merchant) => Promise<number | undefined>;
}

const ENQUIRIES_PER_MINUTE = 60;

/** Builds {@link RateLimits}; what is counted lives in this process, no longer than its window. */
export function createRateLimits(): RateLimits {
  const requests = createCounter(1);
  const enquiries = createCounter(60);
  return {
    countRequest: ({ id, limits }) => requests(id, limits.requestsPerSecond),
    countNameEnquiry: ({ id, limits }) =>
      enquiries(id, limits.nameEnquiriesPerMinute ?? ENQUIRIES_PER_MINUTE),
  };
}
