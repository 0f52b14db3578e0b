import { walletKeyOf } from '@pesewa/contracts';
import type { Clock } from '@pesewa/kernel';
import type { BatchTransaction } from '@pesewa/messaging';
import { repeatAnswer } from './domain/answers.ts';
import { type Instruction, postingId } from './domain/instructions.ts';
import type { Outcome } from './domain/outcomes.ts';
import { topicOf } from './domain/own-events.ts';
import { holdPostingIds, type PostingPolicy } from './domain/payout-postings.ts';
import { foldInstructions } from './domain/posting.ts';
import { balanceEventOf, eventOf, pageEventOf } from './events.ts';
import type { ReadSet } from './snapshots.ts';
import type { LedgerStore } from './store.ts';

/** Posts the instructions of events. */
export interface Postings {
  /**
   * Applies a batch within its transaction: reads what it concerns, folds, writes, emits. Instructions that can't be
   * applied are parked by their index. `topic` and the transaction's partition identify the only writer of a chain of
   * pages and of its accounts' buckets.
   */
  readonly post: (
    instructions: readonly Instruction[],
    topic: string,
    transaction: BatchTransaction,
  ) => Promise<void>;
}

/** Builds {@link Postings}. */
export function createPostings(deps: {
  readonly store: LedgerStore;
  readonly clock: Clock;
  readonly policy: PostingPolicy;
}): Postings {
  const { store } = deps;
  return {
    post: async (instructions, topic, transaction) => {
      // Read in the transaction: the other topics write to the same wallets, and a conflict must rerun all of this.
      const fold = async (assumesNew: boolean) => {
        const readSet = readSetOf(instructions, assumesNew);
        const { snapshot, newestMs } = await store.read(readSet, transaction.session);
        return { newestMs, snapshot, folded: foldInstructions(snapshot, instructions, deps.policy) };
      };
      // Payouts are nearly always new: looking each up first costs the database more than discovering a rare repetition
      // late.
      const optimistic = transaction.isRetry ? undefined : await fold(true);
      const { folded, newestMs, snapshot } =
        optimistic && provesHoldsNew(instructions, optimistic.folded.outcomes)
          ? optimistic
          : await fold(false);
      const chain = `${topic}/${transaction.partition}`;
      // Not before the newest posting of any wallet, which a process whose clock is ahead may have written.
      const atMs = Math.max(deps.clock.nowMs(), newestMs);
      const repeated = instructions.filter((_, index) => folded.outcomes[index]?.kind === 'alreadyApplied');
      // Rare, and read before anything is written: the answers to this batch's new instructions are published anyway.
      const answers = repeated.length > 0 && (await store.readAnswers(repeated, transaction.session));
      await store.write(folded, { chain, atMs }, transaction, (at, page) => {
        const answeredAgain = new Set<string>();
        for (const [index, instruction] of instructions.entries()) {
          const outcome = folded.outcomes[index];
          if (outcome?.kind === 'posted') transaction.emit(eventOf(outcome.domainEvent, at));
          if (outcome?.kind === 'parked') transaction.park(index, outcome.reason);
          if (outcome?.kind !== 'alreadyApplied' || !answers) continue;
          const answer = repeatAnswer(instruction, answers);
          if (!answer) continue;
          transaction.emit(eventOf(answer.domainEvent, answer.at));
          if ('merchantId' in instruction)
            answeredAgain.add(walletKeyOf(instruction.merchantId, instruction.currency));
        }
        // Emitted last of the page's events: a reader who has it has all the others.
        if (page) transaction.emit(pageEventOf(page, folded.outcomes, at));
        for (const change of folded.wallets.values()) transaction.emit(balanceEventOf(change, at));
        // A service that lost the answer may have lost the balance too: it is published again as it was.
        for (const walletKey of answeredAgain) {
          const after = folded.wallets.has(walletKey) ? undefined : snapshot.wallets.get(walletKey);
          const newest = answers ? answers.newest.get(walletKey) : undefined;
          if (after && newest)
            transaction.emit(balanceEventOf({ after, causationId: newest.causationId }, newest.at));
        }
      });
    },
  };
}

/**
 * Whether the write itself proves that all holds assumed to be new are new: each then writes a posting whose id can
 * exist once. A hold that writes none, because it is refused or parked, must be looked up.
 */
function provesHoldsNew(instructions: readonly Instruction[], outcomes: readonly Outcome[]): boolean {
  return outcomes.every((outcome, index) => {
    if (instructions[index]?.kind !== 'hold' || outcome.kind === 'alreadyApplied') return true;
    return outcome.kind === 'posted' && outcome.domainEvent.kind === 'holdPlaced';
  });
}

/** What must be read for the instructions; if `assumesNew`, no hold is looked up: each is taken for one that is not placed yet. */
export function readSetOf(instructions: readonly Instruction[], assumesNew: boolean): ReadSet {
  const wallets = new Set<string>();
  const postingIds = new Set<string>();
  const refusableIds = new Set<string>();
  for (const instruction of instructions) {
    if ('merchantId' in instruction) wallets.add(walletKeyOf(instruction.merchantId, instruction.currency));
    if (topicOf(instruction.kind) === 'payouts') {
      refusableIds.add(postingId({ reference: instruction.reference, kind: 'hold' }));
      if (assumesNew && instruction.kind === 'hold') continue;
      for (const id of holdPostingIds(instruction)) postingIds.add(id);
      continue;
    }
    postingIds.add(postingId(instruction));
    if (topicOf(instruction.kind) === 'ledgerCommands') refusableIds.add(postingId(instruction));
  }
  return { wallets: [...wallets], postingIds: [...postingIds], refusableIds: [...refusableIds] };
}
