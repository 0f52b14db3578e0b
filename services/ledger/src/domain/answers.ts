import { unreachable } from '@pesewa/kernel';
import { collectEntryId } from './collection-postings.ts';
import type { Instruction, InstructionOf, LedgerDomainEvent } from './instructions.ts';
import { domainEventOfOrder, orderEntryId } from './order-postings.ts';
import { causeOf, insufficientFunds, type Unnumbered } from './outcomes.ts';

/** The fields of a stored entry that the answer was made from. */
export interface StoredEntry {
  readonly amount: bigint;
  readonly causationId: string;
  /** The wallet's sequence after the entry; absent if it touches none. */
  readonly walletSequence?: bigint | undefined;
  /** For a hold: our fee in it. */
  readonly fee?: bigint | undefined;
  /** For a hold and a capture: the rail that the money goes or went to. */
  readonly rail?: string | undefined;
  readonly at: Date;
}

/** The fields of a stored refusal. */
export interface StoredRefusal {
  /** The requested amount in minor units; for a payout without the fee. */
  readonly amount: bigint;
  readonly fee?: bigint;
  readonly rail?: string;
  readonly reason?: string;
  readonly causationId: string;
  readonly sequence: bigint;
  readonly at: Date;
}

/** What is stored of instructions that were applied or refused before. */
export interface StoredAnswers {
  /** Keyed by id. */
  readonly entries: ReadonlyMap<string, StoredEntry>;
  /** Refused holds by the payout's reference, refused orders by the id of the entry that was not written. */
  readonly refusals: ReadonlyMap<string, StoredRefusal>;
}

/** An answer that was given before, and when. */
export interface RepeatedAnswer {
  readonly domainEvent: LedgerDomainEvent;
  readonly at: Date;
}

const ENTRY_KINDS = {
  hold: ['hold'],
  capture: ['capture', 'fee', 'railCost'],
  release: ['release'],
  refund: ['refund', 'refundFee', 'capture', 'hold'],
  collect: ['collect', 'fee', 'railCost'],
} as const;

/** The ids of the entries that show how an instruction was answered. */
export function answerEntryIds(instruction: Instruction): readonly string[] {
  const { kind, reference } = instruction;
  const parts: readonly string[] =
    kind in ENTRY_KINDS ? ENTRY_KINDS[kind as keyof typeof ENTRY_KINDS] : [kind];
  return parts.map((part) => `${reference}/${part}`);
}

/**
 * The answer to a repeated instruction, the same as the first time, because the sender may never have received
 * the first one. Undefined if it was not answered before.
 */
export function repeatAnswer(instruction: Instruction, stored: StoredAnswers): RepeatedAnswer | undefined {
  const { reference } = instruction;
  const entryOf = (kind: string) => stored.entries.get(`${reference}/${kind}`);
  switch (instruction.kind) {
    case 'hold':
      return heldAgain(instruction, stored);
    case 'capture': {
      const { fee, railCost } = { fee: entryOf('fee'), railCost: entryOf('railCost') };
      return answer(entryOf('capture'), fee, (captured) => ({
        ...causeOf(instruction),
        kind: 'holdCaptured',
        amount: captured.amount,
        fee: fee?.amount ?? 0n,
        rail: captured.rail ?? instruction.rail,
        railCost: railCost?.amount ?? 0n,
      }));
    }
    case 'release':
      return answer(entryOf('release'), undefined, ({ amount: held }) => ({
        ...causeOf(instruction),
        kind: 'holdReleased',
        held,
      }));
    case 'refund': {
      const fee = entryOf('refundFee');
      const rail = entryOf('capture')?.rail ?? entryOf('hold')?.rail ?? '';
      return answer(entryOf('refund'), fee, ({ amount }) => ({
        ...causeOf(instruction),
        kind: 'payoutRefunded',
        amount,
        fee: fee?.amount ?? 0n,
        rail,
      }));
    }
    case 'collect': {
      const fee = entryOf('fee');
      const net = entryOf('collect')?.amount ?? 0n;
      return answer(stored.entries.get(collectEntryId(instruction)), undefined, () => ({
        ...causeOf(instruction),
        kind: 'collectionCredited',
        amountReceived: net + (fee?.amount ?? 0n),
        fee: fee?.amount ?? 0n,
        rail: instruction.rail,
        railCost: entryOf('railCost')?.amount ?? 0n,
      }));
    }
    case 'fund':
    case 'withdraw':
    case 'adjust': {
      const { merchantId: owner } = instruction;
      const refused = stored.refusals.get(orderEntryId(instruction));
      if (!refused)
        return answer(entryOf(instruction.kind), undefined, () => domainEventOfOrder(instruction));
      const { amount, reason = '', causationId, sequence, at } = refused;
      const common = { causationId, currency: instruction.currency, amount, commandId: reference };
      const refusal = { owner, reason, order: instruction.kind, sequence };
      return { domainEvent: { ...common, kind: 'commandRefused', ...refusal }, at };
    }
    case 'fundFloat':
    case 'withdrawFloat':
    case 'suspense':
      return answer(entryOf(instruction.kind), undefined, () => domainEventOfOrder(instruction));
    default:
      return unreachable(instruction);
  }
}

function heldAgain(instruction: InstructionOf<'hold'>, stored: StoredAnswers): RepeatedAnswer | undefined {
  const cause = causeOf(instruction);
  const refused = stored.refusals.get(instruction.reference);
  if (refused) {
    const { causationId, sequence, at, amount, fee = 0n, rail = '' } = refused;
    const terms = { held: amount + fee, fee, rail };
    const common = { ...cause, kind: 'holdRefused', ...terms, reason: insufficientFunds } as const;
    return { domainEvent: { ...common, causationId, sequence }, at };
  }
  const entry = stored.entries.get(`${instruction.reference}/hold`);
  return answer(entry, undefined, ({ amount: held, fee = 0n, rail = '' }) => ({
    ...cause,
    kind: 'holdPlaced',
    held,
    fee,
    rail,
  }));
}

/** The answer that an entry stands for. If a later entry belongs to it, that one has the wallet's final sequence. */
function answer(
  entry: StoredEntry | undefined,
  later: StoredEntry | undefined,
  toDomainEvent: (entry: StoredEntry) => Unnumbered,
): RepeatedAnswer | undefined {
  if (!entry) return undefined;
  const sequence = later?.walletSequence ?? entry.walletSequence ?? 0n;
  return { domainEvent: { ...toDomainEvent(entry), causationId: entry.causationId, sequence }, at: entry.at };
}
