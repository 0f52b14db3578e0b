import { type Directory, DirectoryError, type Merchant } from '@pesewa/directory';
import type { Logger } from '@pesewa/runtime';

/** Whom a key header's value names; `unavailable` where what is known of merchants is out of reach, which refuses nobody. */
export type MerchantLookup = (
  headerValue: string,
) => Promise<{ readonly merchant: Merchant | undefined } | 'unavailable'>;

/** Builds {@link MerchantLookup}; it rejects on a stored merchant that can't be read, which is breakage. */
export function createMerchantLookup(deps: {
  readonly identify: Directory['identify'];
  readonly logger: Pick<Logger, 'error'>;
}): MerchantLookup {
  return async (headerValue) => {
    try {
      return { merchant: await deps.identify(headerValue) };
    } catch (error) {
      if (error instanceof DirectoryError) throw error;
      deps.logger.error({ err: error }, 'a merchant could not be read');
      return 'unavailable';
    }
  };
}
