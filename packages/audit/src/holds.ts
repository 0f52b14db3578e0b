import type { ReadEntry } from './entries.ts';
import type { Findings } from './findings.ts';

/** A hold that has not ended. */
export interface OpenHold {
  readonly wallet: string;
  readonly amount: bigint;
  readonly fee: bigint;
  /** What is still held; between a capture and its fee this is less than the hold's amount. */
  remaining: bigint;
  captured: boolean;
}

/**
 * The open holds, and checks on how holds end (L5, L10). An ended hold is forgotten: the ledger keeps the ids of its ends
 * unique.
 */
export function createHolds(findings: Findings, holds: Map<string, OpenHold>) {
  const heldByWallet = new Map<string, bigint>();
  const { report } = findings;

  function addHeld(wallet: string, amount: bigint): void {
    heldByWallet.set(wallet, (heldByWallet.get(wallet) ?? 0n) + amount);
  }

  for (const { wallet, remaining } of holds.values()) addHeld(wallet, remaining);

  function place({ id, reference, wallet = '', amount, fee }: ReadEntry): void {
    if (holds.has(reference)) {
      report('L5', id, `is a second hold of ${reference}, whose first is still open`);
      return;
    }
    if (fee >= amount) report('L10', id, `holds ${amount}, of which ${fee} is fee: nothing is left to pay`);
    holds.set(reference, { wallet, amount, fee, remaining: amount, captured: false });
    addHeld(wallet, amount);
  }

  function take(hold: OpenHold, reference: string, amount: bigint): void {
    hold.remaining -= amount;
    addHeld(hold.wallet, -amount);
    if (hold.remaining !== 0n) return;
    holds.delete(reference);
  }

  function capture({ id, reference, amount }: ReadEntry, hold: OpenHold): void {
    if (hold.captured) report('L5', id, `captures the hold of ${reference} a second time`);
    const payable = hold.amount - hold.fee;
    if (amount !== payable) {
      report('L10', id, `captures ${amount}; ${payable} was held besides a fee of ${hold.fee}`);
    }
    hold.captured = true;
    take(hold, reference, amount);
  }

  function takeFee({ id, reference, amount }: ReadEntry, hold: OpenHold): void {
    if (!hold.captured) report('L5', id, `takes the fee of ${reference}, whose hold was not captured`);
    else if (amount !== hold.fee) report('L10', id, `takes a fee of ${amount}; ${hold.fee} was held for it`);
    take(hold, reference, amount);
  }

  function release({ id, reference, amount }: ReadEntry, hold: OpenHold): void {
    if (hold.captured) report('L5', id, `releases the hold of ${reference}, which was captured`);
    else if (amount !== hold.amount) report('L5', id, `releases ${amount}; ${hold.amount} was held`);
    take(hold, reference, amount);
  }

  const ends = { capture, fee: takeFee, release } as const;

  return {
    /** Takes the next entry of a wallet, in the wallet's own order. */
    entry: (entry: ReadEntry) => {
      const { id, kind, reference, wallet, debit } = entry;
      if (kind === 'hold') place(entry);
      // A collection's fee is taken from the float and ends no hold.
      else if (debit?.role === 'held' && (kind === 'capture' || kind === 'fee' || kind === 'release')) {
        const hold = holds.get(reference);
        if (!hold) report('L5', id, `is the ${kind} of ${reference}, which has no open hold`);
        else {
          if (hold.wallet !== wallet) report('L5', id, `ends a hold of the wallet ${hold.wallet}`);
          ends[kind](entry, hold);
        }
      }
    },
    /** The sum of a wallet's open holds. */
    heldOf: (wallet: string) => heldByWallet.get(wallet) ?? 0n,
    close: () => {
      for (const [reference, { captured, fee, remaining }] of holds) {
        if (captured) {
          report(
            'L10',
            `${reference}/capture`,
            `left ${remaining} of the hold; its fee of ${fee} was not taken`,
          );
        }
      }
    },
    /** Open holds. */
    count: () => holds.size,
  };
}
