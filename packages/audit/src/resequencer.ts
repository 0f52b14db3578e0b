import type { ReadEntry } from './entries.ts';
import type { Findings } from './findings.ts';
import { emptyWalletState, type WalletState } from './wallet-state.ts';

/** The wallets as far as their entries were applied. */
export interface SequencedWallets {
  readonly folds: Map<string, WalletState>;
  /** Entries that came before their turn, keyed by their number. */
  readonly early: Map<WalletState, Map<number, ReadEntry>>;
}

/**
 * Sorts the entries of every wallet into the wallet's own order: three topics, each with its own chains, write to one
 * wallet. `apply` gets each entry in its order, and a number that is missing or duplicate is reported
 * (L3). If more than `earlyMax` entries wait, the missing number that most of them wait for is reported and skipped.
 */
export function createResequencer(
  findings: Findings,
  waitingMax: number,
  apply: (fold: WalletState, entry: ReadEntry) => void,
  { folds, early }: SequencedWallets,
) {
  let waiting = [...early.values()].reduce((sum, entries) => sum + entries.size, 0);

  function applyEarly(fold: WalletState): void {
    const entries = early.get(fold);
    if (!entries) return;
    for (let next = entries.get(fold.sequence + 1); next; next = entries.get(fold.sequence + 1)) {
      entries.delete(next.sequence);
      waiting -= 1;
      apply(fold, next);
    }
    if (entries.size === 0) early.delete(fold);
  }

  function skipGap(fold: WalletState, entries: ReadonlyMap<number, ReadEntry>): void {
    let next: ReadEntry | undefined;
    for (const entry of entries.values()) if (!next || entry.sequence < next.sequence) next = entry;
    if (!next) return;
    const gap = `has no entry ${fold.sequence + 1}: after ${fold.sequence} comes ${next.sequence}, ${next.id}`;
    findings.report('L3', next.wallet ?? '', gap);
    fold.sequence = next.sequence - 1;
    applyEarly(fold);
  }

  function skipLongestWait(): void {
    let longest: readonly [WalletState, ReadonlyMap<number, ReadEntry>] | undefined;
    for (const candidate of early) if (candidate[1].size > (longest?.[1].size ?? 0)) longest = candidate;
    if (longest) skipGap(...longest);
  }

  function wait(fold: WalletState, entry: ReadEntry): void {
    const entries = early.get(fold) ?? new Map<number, ReadEntry>();
    early.set(fold, entries);
    entries.set(entry.sequence, entry);
    waiting += 1;
    if (waiting > waitingMax) skipLongestWait();
  }

  return {
    push: (wallet: string, entry: ReadEntry) => {
      const { sequence } = entry;
      let fold = folds.get(wallet);
      if (!fold) {
        fold = emptyWalletState();
        folds.set(wallet, fold);
      }
      if (sequence === fold.sequence + 1) {
        apply(fold, entry);
        if (waiting > 0) applyEarly(fold);
      } else if (sequence <= fold.sequence || early.get(fold)?.has(sequence)) {
        findings.report('L3', wallet, `has two entries numbered ${sequence}, ${entry.id} is the second`);
      } else wait(fold, entry);
    },
    /** Stops waiting for numbers that never came, and goes on after each gap. */
    close: () => {
      for (const [fold, entries] of early) while (entries.size > 0) skipGap(fold, entries);
    },
  };
}
