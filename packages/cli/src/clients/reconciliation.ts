import {
  comparisonOperations,
  type StatusView,
  statusOperations,
  type WalletComparisonView,
} from '@pesewa/contracts';
import type { Caller } from './call.ts';

/** The result of a requested comparison. */
export interface Compared {
  readonly runs: readonly WalletComparisonView[];
  /**
   * Known wallets that were not compared, with their latest comparison: their rail or our own topics did not answer.
   * Wallets of rails that are no longer configured are left out.
   */
  readonly notCompared: readonly WalletComparisonView[];
}

/** The operators' actions on the reconciler as a whole. */
export interface Reconciliation {
  readonly status: () => Promise<StatusView>;
  /** The latest comparison of every wallet. */
  readonly drift: () => Promise<readonly WalletComparisonView[]>;
  /** Compares every wallet now. */
  readonly compare: () => Promise<Compared>;
}

/** Builds {@link Reconciliation}. */
export function createReconciliation({ call }: Caller): Reconciliation {
  const service = 'reconciler';
  const drift = async () => (await call(service, comparisonOperations.drift, {})).items;
  return {
    status: () => call(service, statusOperations.show, {}),
    drift,
    compare: async () => {
      const { items: runs } = await call(service, comparisonOperations.compare, {});
      const compared = new Set(runs.map(({ rail, currency }) => `${rail}:${currency}`));
      const known = await drift();
      return {
        runs,
        notCompared: known.filter(
          ({ rail, configured, currency }) => configured && !compared.has(`${rail}:${currency}`),
        ),
      };
    },
  };
}
