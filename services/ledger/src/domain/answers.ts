import { unreachable } from '@pesewa/kernel';
import type { EntryKind, Posting, Refusal } from './books.ts';
import { type Instruction, type LedgerDomainEvent, postingId } from './instructions.ts';
import { domainEventOfOrder } from './order-postings.ts';
import { causeOf, type Unnumbered } from './outcomes.ts';

/** The fields of a stored posting that the answer was made from. */
export type StoredPosting = Pick<Posting, 'entries' | 'causationId' | 'walletSequence' | 'fee' | 'rail'> & {
  readonly at: Date;
};

/** The fields of a stored refusal. */
export type StoredRefusal = Omit<Refusal, 'id' | 'merchantId' | 'currency'> & { readonly at: Date };

/** What is stored of instructions that were applied or refused before. */
export interface StoredAnswers {
  /** Keyed by id. */
  readonly postings: ReadonlyMap<string, StoredPosting>;
  /** Keyed by the id of the posting that was not written. */
  readonly refusals: ReadonlyMap<string, StoredRefusal>;
  /** The newest posting of each of their wallets, keyed by wallet: its balances were published with it. */
  readonly newest: ReadonlyMap<string, Pick<StoredPosting, 'causationId' | 'at'>>;
}

/** An answer that was given before, and when. */
export interface RepeatedAnswer {
  readonly domainEvent: LedgerDomainEvent;
  readonly at: Date;
}

/**
 * The answer to a repeated instruction, the same as the first time, because the sender may never have received
 * the first one. Undefined if it was not answered before.
 */
export function repeatAnswer(instruction: Instruction, stored: StoredAnswers): RepeatedAnswer | undefined {
  const id = postingId(instruction);
  const refused = stored.refusals.get(id);
  if (refused) return refuseAgain(instruction, refused);
  const posting = stored.postings.get(id);
  if (!posting) return undefined;
  const { causationId, walletSequence: sequence = 0n, at } = posting;
  return { domainEvent: { ...answerOf(instruction, posting), causationId, sequence }, at };
}

function answerOf(instruction: Instruction, { entries, fee = 0n, rail = '' }: StoredPosting): Unnumbered {
  const amountOf = (kind: EntryKind) => entries.find((entry) => entry.kind === kind)?.amount ?? 0n;
  switch (instruction.kind) {
    case 'hold':
      return { ...causeOf(instruction), kind: 'holdPlaced', held: amountOf('hold'), fee, rail };
    case 'capture': {
      const paid = { amount: amountOf('capture'), fee: amountOf('fee'), railCost: amountOf('railCost') };
      return { ...causeOf(instruction), kind: 'holdCaptured', ...paid, rail };
    }
    case 'release':
      return { ...causeOf(instruction), kind: 'holdReleased', held: amountOf('release') };
    case 'refund': {
      const returned = { amount: amountOf('refund'), fee: amountOf('refundFee') };
      return { ...causeOf(instruction), kind: 'payoutRefunded', ...returned, rail };
    }
    case 'collect': {
      const kept = { fee: amountOf('fee'), railCost: amountOf('railCost') };
      const amountReceived = amountOf('collect') + kept.fee;
      return { ...causeOf(instruction), kind: 'collectionCredited', amountReceived, ...kept, rail };
    }
    case 'fund':
    case 'withdraw':
    case 'adjust':
    case 'fundFloat':
    case 'withdrawFloat':
    case 'suspense':
      return domainEventOfOrder(instruction);
    default:
      return unreachable(instruction);
  }
}

function refuseAgain(
  instruction: Instruction,
  { amount, fee = 0n, rail = '', reason, causationId, sequence, at }: StoredRefusal,
): RepeatedAnswer | undefined {
  if (instruction.kind === 'hold') {
    const refusal = { held: amount + fee, fee, rail, reason, causationId, sequence };
    return { domainEvent: { ...causeOf(instruction), kind: 'holdRefused', ...refusal }, at };
  }
  if (instruction.kind !== 'fund' && instruction.kind !== 'withdraw' && instruction.kind !== 'adjust')
    return undefined;
  const { kind: order, reference: commandId, merchantId: owner, currency } = instruction;
  const refusal = { causationId, currency, amount, commandId, owner, reason, order, sequence };
  return { domainEvent: { ...refusal, kind: 'commandRefused' }, at };
}
