import { walletKeyOf } from '@pesewa/contracts';
import { type Clock, unreachable } from '@pesewa/kernel';
import type { ChunkTransaction } from '@pesewa/messaging';
import { collectEntryId } from './domain/collection-postings.ts';
import type { Instruction } from './domain/instructions.ts';
import { orderEntryId } from './domain/order-postings.ts';
import type { Outcome } from './domain/outcomes.ts';
import { holdEntryIds, type PostingPolicy } from './domain/payout-postings.ts';
import { foldInstructions } from './domain/posting.ts';
import type { LedgerEvents } from './events.ts';
import type { Question } from './snapshots.ts';
import type { LedgerStore } from './store.ts';

/** What the ledger does: posts what events ask for. */
export interface Postings {
  /**
   * Applies a chunk within its transaction: reads what it speaks of, folds, writes, emits.
   * `topic` and the transaction's partition name the one writer of a chain of pages and of its accounts' buckets.
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
      const fold = async (trusting: boolean) => {
        const question = questionOf(instructions, trusting);
        const { snapshot, newestMs } = await store.read(question, transaction.session);
        return { newestMs, folded: foldInstructions(snapshot, instructions, deps.policy) };
      };
      // Payouts are new, but for rare repetitions: to look each up first costs the database more than to find out late.
      const trusting = transaction.careful ? undefined : await fold(true);
      const { folded, newestMs } =
        trusting && provesItself(instructions, trusting.folded.outcomes) ? trusting : await fold(false);
      const chain = `${topic}/${transaction.partition}`;
      // Not before the newest entry of any wallet: another process, whose clock is ahead, may have written it.
      const atMs = Math.max(deps.clock.nowMs(), newestMs);
      await store.write(folded, { chain, atMs }, transaction, () => {
        for (const [index, outcome] of folded.outcomes.entries()) {
          if (outcome.kind === 'posted') transaction.emit(events.happened(outcome.happening));
          const causationId = instructions[index]?.causationId;
          if (outcome.kind === 'parked' && causationId !== undefined)
            transaction.park(causationId, outcome.reason);
        }
        for (const change of folded.wallets.values()) transaction.emit(events.balanceChanged(change));
      });
    },
  };
}

/**
 * Whether all holds that were taken for new are so if the chunk can be written: each then leaves an entry whose id can
 * exist once. One that leaves none, being refused or parked, must be looked up.
 */
function provesItself(instructions: readonly Instruction[], outcomes: readonly Outcome[]): boolean {
  return outcomes.every((outcome, index) => {
    if (instructions[index]?.kind !== 'hold' || outcome.kind === 'known') return true;
    return outcome.kind === 'posted' && outcome.happening.kind === 'holdPlaced';
  });
}

/** What the instructions speak of; trusting, that a hold is not placed yet is taken for granted. */
function questionOf(instructions: readonly Instruction[], trusting: boolean): Question {
  const wallets = new Set<string>();
  const references = new Set<string>();
  const entryIds = new Set<string>();
  const orderIds = new Set<string>();
  const addWallet = (of: { readonly merchantId: string; readonly currency: string }) =>
    wallets.add(walletKeyOf(of.merchantId, of.currency));
  const addOrder = (entryId: string) => {
    entryIds.add(entryId);
    orderIds.add(entryId);
  };
  for (const instruction of instructions) {
    switch (instruction.kind) {
      case 'hold':
      case 'capture':
      case 'release':
      case 'refund':
        addWallet(instruction);
        references.add(instruction.reference);
        if (trusting && instruction.kind === 'hold') break;
        for (const id of holdEntryIds(instruction)) entryIds.add(id);
        break;
      case 'collect':
        addWallet(instruction);
        entryIds.add(collectEntryId(instruction));
        break;
      case 'fund':
      case 'withdraw':
      case 'adjust':
        addWallet(instruction);
        addOrder(orderEntryId(instruction));
        break;
      case 'fundFloat':
      case 'withdrawFloat':
      case 'suspense':
        addOrder(orderEntryId(instruction));
        break;
      default:
        unreachable(instruction);
    }
  }
  return {
    wallets: [...wallets],
    references: [...references],
    entryIds: [...entryIds],
    orderIds: [...orderIds],
  };
}
