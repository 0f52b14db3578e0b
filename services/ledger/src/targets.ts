import type { Directory } from '@pesewa/directory';
import { isWalletOrder, type OperatorRequest } from './domain/orders.ts';

/** Why an order has no existing target, with the remedy. */
export interface UnknownTarget {
  readonly code: 'unknown_merchant' | 'unknown_wallet' | 'unknown_rail';
  readonly message: string;
}

/** Checks that an order's merchant or rail exists: a mistyped name would move money to an account without an owner. */
export interface Targets {
  readonly whyUnknown: (request: OperatorRequest) => Promise<UnknownTarget | undefined>;
}

/** Builds {@link Targets} over the directory and the names of the rails; without names any rail is accepted. */
export function createTargets(deps: {
  readonly directory: Pick<Directory, 'find'>;
  readonly railNames: readonly string[];
}): Targets {
  const { directory, railNames } = deps;
  return {
    whyUnknown: async ({ kind, target, currency }) => {
      if (!isWalletOrder(kind)) {
        if (railNames.length === 0 || railNames.includes(target)) return undefined;
        const message = `there is no rail ${target}: the rails are ${railNames.join(', ')} (RAIL_NAMES)`;
        return { code: 'unknown_rail', message };
      }
      const merchant = await directory.find(target);
      if (!merchant) {
        const message = `there is no merchant ${target}: write its id, as in the list of merchants`;
        return { code: 'unknown_merchant', message };
      }
      if (merchant.wallets.some((wallet) => wallet.currency === currency)) return undefined;
      const message = `${target} has no wallet in ${currency}: add one to its settings first`;
      return { code: 'unknown_wallet', message };
    },
  };
}
