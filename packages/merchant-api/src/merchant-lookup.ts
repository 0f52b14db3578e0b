import { type Directory, DirectoryError, type Merchant } from '@pesewa/directory';
import type { Logger } from '@pesewa/runtime';

/**
 * Finds the merchant of a key header's value. `unavailable` means that the directory can't be reached, which is no
 * reason to refuse a key.
 */
export type MerchantLookup = (
  headerValue: string,
) => Promise<{ readonly merchant: Merchant | undefined } | 'unavailable'>;

/** Builds {@link MerchantLookup}; it rejects if a stored merchant can't be read, which is breakage. */
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
