import { isCurrency, unreachable } from '@pesewa/kernel';
import { type BatchState, type Folded, openBatchState, type Snapshot } from './books.ts';
import { collect } from './collection-postings.ts';
import type { Instruction } from './instructions.ts';
import { orderOfFloat, orderOfWallet } from './order-postings.ts';
import { type Outcome, park } from './outcomes.ts';
import { capture, hold, type PostingPolicy, refund, release } from './payout-postings.ts';

/**
 * Folds a batch of instructions, in order, over the stored state of their wallets, holds and entries.
 *
 * Available is never below zero after any entry. An instruction is applied completely or not at all, and only once.
 */
export function foldInstructions(
  snapshot: Snapshot,
  instructions: readonly Instruction[],
  policy: PostingPolicy,
): Folded & { readonly outcomes: readonly Outcome[] } {
  const books = openBatchState(snapshot);
  const outcomes = instructions.map((instruction) => postInstruction(books, instruction, policy));
  return { ...books.close(), outcomes };
}

/** Posts one instruction, unless it is known, refused or can't be applied. */
export function postInstruction(books: BatchState, instruction: Instruction, policy: PostingPolicy): Outcome {
  if (!isCurrency(instruction.currency)) return park('not a currency');
  switch (instruction.kind) {
    case 'hold':
      return hold(books, instruction);
    case 'capture':
      return capture(books, instruction);
    case 'release':
      return release(books, instruction);
    case 'refund':
      return refund(books, instruction, policy);
    case 'collect':
      return collect(books, instruction);
    case 'fund':
    case 'withdraw':
    case 'adjust':
      return orderOfWallet(books, instruction);
    case 'fundFloat':
    case 'withdrawFloat':
    case 'suspense':
      return orderOfFloat(books, instruction);
    default:
      return unreachable(instruction);
  }
}
