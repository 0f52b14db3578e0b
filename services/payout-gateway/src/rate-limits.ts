import type { Merchant } from '@pesewa/directory';
import { createCounter } from '@pesewa/merchant-api';

/** Each merchant's rate limits, counted separately (docs/adr/0015). */
export interface RateLimits {
  /** Counts a request; gives the whole seconds to wait if it is one too many, else undefined. */
  readonly countRequest: (merchant: Merchant) => Promise<number | undefined>;
  /** Counts a name enquiry, which reveals personal data, in the same way. */
  readonly countNameEnquiry: (merchant: Merchant) => Promise<number | undefined>;
}

const ENQUIRIES_PER_MINUTE = 60;

/** Builds {@link RateLimits}. Counts live in this process, for one window at most. */
export function createRateLimits(): RateLimits {
  const requests = createCounter(1);
  const enquiries = createCounter(60);
  return {
    countRequest: ({ id, limits }) => requests(id, limits.requestsPerSecond),
    countNameEnquiry: ({ id, limits }) =>
      enquiries(id, limits.nameEnquiriesPerMinute ?? ENQUIRIES_PER_MINUTE),
  };
}
