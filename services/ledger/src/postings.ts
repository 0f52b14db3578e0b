import { walletKeyOf } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import type { ChunkTransaction } from '@pesewa/messaging';
import type { Instruction } from './domain/instructions.ts';
import { firstEntryId, foldInstructions, holdEntryIds, type PostingPolicy } from './domain/posting.ts';
import type { LedgerEvents } from './events.ts';
import type { LedgerStore } from './store.ts';

/** What the ledger does: posts what events ask for. */
export interface Postings {
  /**
   * Applies a chunk within its transaction: reads what it speaks of, folds, writes, emits.
   * `topic` and the transaction's partition name the one writer of the shared accounts' buckets.
   */
  readonly post: (
    instructions: readonly Instruction[],
    topic: string,
    transaction: ChunkTransaction,
  ) => Promise<void>;
}

/** Builds {@link Postings}. */
export function createPostings(deps: {
  readonly store: LedgerStore;
  readonly events: LedgerEvents;
  readonly clock: Clock;
  readonly policy: PostingPolicy;
}): Postings {
  const { store, events } = deps;
  return {
    post: async (instructions, topic, transaction) => {
      // Read in the transaction: the other topics write the same wallets, and a conflict must rerun all of this.
      const snapshot = await store.read(wishOf(instructions), transaction.session);
      const folded = foldInstructions(snapshot, instructions, deps.policy);
      const bucket = `${topic}/${transaction.partition}`;
      await store.write(folded, { bucket, at: new Date(deps.clock.nowMs()) }, transaction.session);
      for (const [index, outcome] of folded.outcomes.entries()) {
        if (outcome.kind === 'posted') transaction.emit(events.happened(outcome.happening));
        const causationId = instructions[index]?.causationId;
        if (outcome.kind === 'parked' && causationId !== undefined)
          transaction.park(causationId, outcome.reason);
      }
      for (const change of folded.wallets.values()) transaction.emit(events.balanceChanged(change));
    },
  };
}

function wishOf(instructions: readonly Instruction[]) {
  const wallets = new Set<string>();
  const references = new Set<string>();
  const entryIds = new Set<string>();
  for (const instruction of instructions) {
    if (instruction.kind !== 'fundFloat')
      wallets.add(walletKeyOf(instruction.merchantId, instruction.currency));
    if (instruction.kind === 'collect' || instruction.kind === 'fund' || instruction.kind === 'fundFloat') {
      entryIds.add(firstEntryId(instruction));
    } else {
      references.add(instruction.reference);
      for (const id of holdEntryIds(instruction)) entryIds.add(id);
    }
  }
  return { wallets: [...wallets], references: [...references], entryIds: [...entryIds] };
}
