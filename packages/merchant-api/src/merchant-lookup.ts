import { type Directory, DirectoryError, type Merchant } from '@pesewa/directory';
import type { Logger } from '@pesewa/runtime';

/**
 * Finds the merchant of a key header's value. `unavailable` means that the directory can't be reached, which is no
 * reason to refuse a key.
 */
type MerchantLookup = (
  headerValue: string,
) => Promise<{ readonly merchant: Merchant | undefined } | 'unavailable'>;

/** The dependencies of {@link createMerchantLookup}. */
export interface MerchantLookupDeps {
  readonly identify: Directory['identify'];
  readonly logger: Pick<Logger, 'error'>;
}

/** Builds {@link MerchantLookup}; it rejects if a stored merchant can't be read, which is breakage. */
export function createMerchantLookup(deps: MerchantLookupDeps): MerchantLookup {
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
