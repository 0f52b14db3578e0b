import type { ReadEntry } from './entries.ts';
import type { Findings } from './findings.ts';
import { createHolds, type OpenHold } from './holds.ts';
import type { WalletRecord } from './records.ts';
import { createResequencer, type SequencedWallets } from './resequencer.ts';
import { applyEntry, checkStored, emptyWalletState, type WalletState } from './wallet-state.ts';

/** How many entries may wait for their turn: more than the clock differences of the writers can cause. */
const EARLY_MAX = 500_000;

/** Adds up the entries of every wallet in the wallet's own order (L3, L4), and their holds (L5, L10). */
export function createWallets(
  findings: Findings,
  {
    sequenced,
    openHolds,
  }: { readonly sequenced: SequencedWallets; readonly openHolds: Map<string, OpenHold> },
  waitingMax = EARLY_MAX,
) {
  const holds = createHolds(findings, openHolds);
  const { folds } = sequenced;
  const apply = (fold: WalletState, entry: ReadEntry) => {
    applyEntry(findings, fold, entry);
    holds.entry(entry);
  };
  const inOrder = createResequencer(findings, waitingMax, apply, sequenced);
  return {
    /** Takes an entry that may touch a wallet; lower numbers may come later from other chains. */
    entry: (entry: ReadEntry) => {
      if (entry.wallet !== undefined) inOrder.push(entry.wallet, entry);
    },
    /** Compares with every stored wallet. */
    close: (stored: readonly WalletRecord[]) => {
      inOrder.close();
      holds.close();
      const compared = new Set<string>();
      for (const wallet of stored) {
        const fold = folds.get(wallet._id) ?? emptyWalletState();
        compared.add(wallet._id);
        checkStored(findings, wallet, fold, holds.heldOf(wallet._id));
      }
      for (const [wallet, { sequence }] of folds) {
        if (!compared.has(wallet))
          findings.report('L3', wallet, `has ${sequence} entries, but is not stored`);
      }
    },
    openHolds: () => holds.count(),
    /** The number of wallets that entries touch. */
    count: () => folds.size,
  };
}
