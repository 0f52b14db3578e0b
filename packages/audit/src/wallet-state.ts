import type { ReadEntry } from './entries.ts';
import type { Findings } from './findings.ts';
import { readWhole, type WalletRecord } from './records.ts';

/** A wallet's state after the entries so far. */
export interface WalletState {
  available: bigint;
  held: bigint;
  /** The number of the newest entry that was folded. */
  sequence: number;
  /** Its time. */
  atMs: number;
}

/** The state of a wallet without entries. */
export function emptyWalletState(): WalletState {
  return { available: 0n, held: 0n, sequence: 0, atMs: 0 };
}

const sides = ['available', 'held'] as const;

/** Applies the next entry of a wallet and checks the balances after it, where they are stated (L3, L4). */
export function applyEntry(findings: Findings, fold: WalletState, entry: ReadEntry): void {
  const { id, wallet = '', debit, credit, amount, sequence, after, atMs } = entry;
  if (debit?.wallet === wallet) fold[debit.role === 'held' ? 'held' : 'available'] -= amount;
  if (credit?.wallet === wallet) fold[credit.role === 'held' ? 'held' : 'available'] += amount;
  fold.sequence = sequence;
  if (atMs < fold.atMs)
    findings.report('L3', wallet, `its entry ${sequence}, ${id}, is of a time before entry ${sequence - 1}`);
  fold.atMs = atMs;
  for (const side of sides) {
    if (fold[side] < 0n) {
      findings.report('L4', wallet, `after ${id}, its entry ${sequence}, ${side} is ${fold[side]}`);
    }
    if (after && after[side] !== fold[side]) {
      const stated = `${id}, its entry ${sequence}, leaves ${after[side]} ${side}`;
      findings.report('L3', wallet, `${stated}; its entries come to ${fold[side]}`);
    }
  }
}

/** Compares a stored wallet with the state from its entries and with its open holds (L3, L4, L5, L8, L9). */
export function checkStored(
  findings: Findings,
  stored: WalletRecord,
  fold: WalletState,
  openHolds: bigint,
): void {
  const { _id: id, merchantId, currency } = stored;
  const { report } = findings;
  if (id !== `${merchantId}:${currency}`) {
    report('L9', id, `is stored as the ${currency} wallet of ${merchantId}`);
  }
  for (const side of sides) {
    const value = readWhole(findings, id, side, stored[side]);
    if (value < 0n) report('L4', id, `${side} is stored as ${value}`);
    if (value !== fold[side]) {
      report('L3', id, `${side} is stored as ${value}; its entries come to ${fold[side]}`);
    }
    if (side === 'held' && value !== openHolds) {
      report('L5', id, `held is stored as ${value}; its open holds come to ${openHolds}`);
    }
  }
  const sequence = readWhole(findings, id, 'sequence', stored.sequence);
  if (sequence !== BigInt(fold.sequence)) {
    report('L3', id, `its sequence is stored as ${sequence}; its newest entry is number ${fold.sequence}`);
  }
  if (!(stored.at instanceof Date) || stored.at.getTime() !== fold.atMs) {
    report('L3', id, `its time is not that of its newest entry, ${new Date(fold.atMs).toISOString()}`);
  }
}
