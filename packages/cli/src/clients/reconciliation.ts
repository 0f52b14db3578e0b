import { comparisonOperations, statusOperations, type WalletComparisonView } from '@pesewa/contracts';
import { type Caller } from '@pesewa/operator-client';

/** The result of a requested comparison. */
export interface Compared {
  readonly runs: readonly WalletComparisonView[];
  /**
   * Known wallets that were not compared, with their latest comparison: their rail or our own topics did not answer.
   * Wallets of rails that are no longer configured are left out.
   */
  readonly notCompared: readonly WalletComparisonView[];
}

/** Builds the client of the reconciler as a whole. */
export function createReconciliation({ call }: Caller) {
  const service = 'reconciler';
  /** The latest comparison of every wallet. */
  const drift = async () => (await call(service, comparisonOperations.drift, {})).items;
  return {
    status: () => call(service, statusOperations.show, {}),
    drift,
    /** Compares every wallet now. */
    compare: async (): Promise<Compared> => {
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
