import type { Merchant } from '@pesewa/directory';
import { createRateLimiter } from '@pesewa/merchant-api';

const ENQUIRIES_PER_MINUTE = 60;

/** Each merchant's rate limits, counted separately. */
export type RateLimits = ReturnType<typeof createRateLimits>;

/**
 * Builds {@link RateLimits}. Counts live in this process, for one window at most; counting gives the whole seconds to
 * wait if it was one too many, else undefined.
 */
export function createRateLimits() {
  const requests = createRateLimiter(1);
  const enquiries = createRateLimiter(60);
  return {
    limitRequest: ({ id, limits }: Merchant) => requests(id, limits.requestsPerSecond),
    /** Counts a name enquiry, which reveals personal data. */
    limitNameEnquiry: ({ id, limits }: Merchant) =>
      enquiries(id, limits.nameEnquiriesPerMinute ?? ENQUIRIES_PER_MINUTE),
  };
}
