import { isCurrency, MINOR_UNITS_MAX, unreachable } from '@pesewa/kernel';
import { accounts } from './accounts.ts';
import { type Books, type Folded, holdEndings, openBooks, type Snapshot } from './books.ts';
import type { Happening, Instruction, Payment } from './instructions.ts';

/** What the operator decides about the ledger. */
export interface PostingPolicy {
  /** Whether a reversed payout gives our fee back besides the amount (design 5). */
  readonly refundFee: boolean;
}

/** What became of one instruction. */
export type Outcome =
  | { readonly kind: 'posted'; readonly happening: Happening }
  /** Applied before, or nothing to do: a replay changes nothing. */
  | { readonly kind: 'known' }
  /** Can't be applied, now or later; people must look at it. */
  | { readonly kind: 'parked'; readonly reason: string };

type InstructionOf<Kind extends Instruction['kind']> = Extract<Instruction, { readonly kind: Kind }>;

const known: Outcome = { kind: 'known' };

/**
 * Folds a chunk of instructions, in order, over what is stored of their wallets, holds and entries (design 5).
 *
 * Available is never below zero after any entry; an instruction is applied whole or not at all, and only once.
 */
export function foldInstructions(
  snapshot: Snapshot,
  instructions: readonly Instruction[],
  policy: PostingPolicy,
): Folded & { readonly outcomes: readonly Outcome[] } {
  const books = openBooks(snapshot);
  const outcomes = instructions.map((instruction) => post(books, instruction, policy));
  return { ...books.close(), outcomes };
}

/** The id of the one entry that every applied instruction leaves, where no hold tells; replays are known by it. */
export function firstEntryId(instruction: InstructionOf<'collect' | 'fund' | 'fundFloat'>): string {
  if (instruction.kind !== 'collect') return `${instruction.reference}/${instruction.kind}`;
  // A collection that the fee takes whole credits nothing.
  return `${instruction.reference}/${instruction.received === instruction.fee ? 'fee' : 'collect'}`;
}

/** The ids of the entries that tell what became of a payout's hold, as far as the instruction must know. */
export function holdEntryIds({
  kind,
  reference,
}: InstructionOf<'hold' | 'capture' | 'release' | 'refund'>): readonly string[] {
  const placed = `${reference}/hold`;
  return kind === 'hold' ? [placed] : [placed, ...holdEndings.map((ending) => `${reference}/${ending.kind}`)];
}

function post(books: Books, instruction: Instruction, policy: PostingPolicy): Outcome {
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
    case 'fundFloat':
      return fund(books, instruction);
    default:
      return unreachable(instruction);
  }
}

function hold(books: Books, instruction: InstructionOf<'hold'>): Outcome {
  if (books.holdOf(instruction.reference)) return known;
  const { reference, amount, fee, rail } = instruction;
  if (!isAmount(amount) || !isCost(fee)) return park('amount or fee out of range');
  const held = amount + fee;
  const { walletKey, wallet } = books.wallet(instruction);
  const kept = { reference, merchantId: wallet.merchantId, currency: wallet.currency, amount, fee, rail };
  if (wallet.available < held) {
    // Remembered, so that a replay does not find more money and change its mind.
    books.saveHold({ ...kept, status: 'refused' });
    return posted(
      { ...causeOf(instruction), kind: 'holdRefused', held, reason: 'Insufficient funds' },
      wallet.sequence,
    );
  }
  books.saveHold({ ...kept, status: 'open' });
  books.move(instruction, 'hold', accounts.available(walletKey), accounts.held(walletKey), held, {
    wallet,
    available: -held,
    held,
  });
  return posted({ ...causeOf(instruction), kind: 'holdPlaced', held }, wallet.sequence);
}

function capture(books: Books, instruction: InstructionOf<'capture'>): Outcome {
  const { currency, rail, railFee } = instruction;
  const found = books.holdOf(instruction.reference);
  if (!found) return park('completed without a hold');
  if (found.status === 'captured' || found.status === 'refunded') return known;
  if (found.status !== 'open') return park(`completed, but its hold is ${found.status}`);
  if (!matches(found, instruction)) return park('completed with other money than was held');
  if (!isCost(railFee)) return park('rail fee out of range');
  const { amount, fee } = found;
  const { walletKey, wallet } = books.wallet(instruction);
  const heldAccount = accounts.held(walletKey);
  const float = accounts.float(rail, currency);
  books.move(instruction, 'capture', heldAccount, float, amount, { wallet, available: 0n, held: -amount });
  books.move(instruction, 'fee', heldAccount, accounts.feeIncome(currency), fee, {
    wallet,
    available: 0n,
    held: -fee,
  });
  books.move(instruction, 'railCost', accounts.railCost(currency), float, railFee);
  books.saveHold({ ...found, rail, status: 'captured' });
  return posted(
    { ...causeOf(instruction), kind: 'holdCaptured', amount, fee, rail, railCost: railFee },
    wallet.sequence,
  );
}

function release(books: Books, instruction: InstructionOf<'release'>): Outcome {
  const found = books.holdOf(instruction.reference);
  // A refused hold ends its payout as failed: there is nothing to give back.
  if (!found || found.status === 'refused' || found.status === 'released') return known;
  if (found.status !== 'open') return park(`failed, but its hold is ${found.status}`);
  if (!matches(found, instruction)) return park('failed with other money than was held');
  const held = found.amount + found.fee;
  const { walletKey, wallet } = books.wallet(instruction);
  books.move(instruction, 'release', accounts.held(walletKey), accounts.available(walletKey), held, {
    wallet,
    available: held,
    held: -held,
  });
  books.saveHold({ ...found, status: 'released' });
  return posted({ ...causeOf(instruction), kind: 'holdReleased', held }, wallet.sequence);
}

function refund(books: Books, instruction: InstructionOf<'refund'>, policy: PostingPolicy): Outcome {
  const found = books.holdOf(instruction.reference);
  if (!found) return park('reversed without a hold');
  if (found.status === 'refunded') return known;
  if (found.status !== 'captured') return park(`reversed, but its hold is ${found.status}`);
  if (!matches(found, instruction)) return park('reversed with other money than was captured');
  const { amount, rail } = found;
  const fee = policy.refundFee ? found.fee : 0n;
  const { walletKey, wallet } = books.wallet(instruction);
  if (wallet.available + amount + fee > MINOR_UNITS_MAX) return park('the wallet would hold too much');
  const available = accounts.available(walletKey);
  const feeIncome = accounts.feeIncome(found.currency);
  const float = accounts.float(rail, found.currency);
  books.move(instruction, 'refund', float, available, amount, { wallet, available: amount, held: 0n });
  books.move(instruction, 'refundFee', feeIncome, available, fee, { wallet, available: fee, held: 0n });
  books.saveHold({ ...found, status: 'refunded' });
  return posted({ ...causeOf(instruction), kind: 'payoutRefunded', amount, fee, rail }, wallet.sequence);
}

function collect(books: Books, instruction: InstructionOf<'collect'>): Outcome {
  if (books.knows(firstEntryId(instruction))) return known;
  const { currency, received, fee, rail, railFee } = instruction;
  if (!isAmount(received) || !isCost(fee) || !isCost(railFee)) return park('amount or fee out of range');
  if (fee > received) return park('the fee exceeds the amount received');
  const net = received - fee;
  const { walletKey, wallet } = books.wallet(instruction);
  if (wallet.available + net > MINOR_UNITS_MAX) return park('the wallet would hold too much');
  const float = accounts.float(rail, currency);
  books.move(instruction, 'collect', float, accounts.available(walletKey), net, {
    wallet,
    available: net,
    held: 0n,
  });
  books.move(instruction, 'fee', float, accounts.feeIncome(currency), fee);
  books.move(instruction, 'railCost', accounts.railCost(currency), float, railFee);
  const happening = {
    kind: 'collectionCredited',
    amountReceived: received,
    fee,
    rail,
    railCost: railFee,
  } as const;
  return posted({ ...causeOf(instruction), ...happening }, wallet.sequence);
}

function fund(books: Books, instruction: InstructionOf<'fund' | 'fundFloat'>): Outcome {
  if (books.knows(firstEntryId(instruction))) return known;
  const { currency, amount, causationId } = instruction;
  if (!isAmount(amount)) return park('amount out of range');
  const treasury = accounts.treasury(currency);
  if (instruction.kind === 'fundFloat') {
    const { rail } = instruction;
    books.move(instruction, 'fundFloat', accounts.float(rail, currency), treasury, amount);
    return posted({ kind: 'floatFunded', causationId, rail, currency, amount }, 0n);
  }
  const { walletKey, wallet } = books.wallet(instruction);
  if (wallet.available + amount > MINOR_UNITS_MAX) return park('the wallet would hold too much');
  books.move(instruction, 'fund', treasury, accounts.available(walletKey), amount, {
    wallet,
    available: amount,
    held: 0n,
  });
  const { merchantId } = instruction;
  return posted({ kind: 'walletFunded', causationId, merchantId, currency, amount }, wallet.sequence);
}

type Unnumbered<H> = H extends Happening ? Omit<H, 'sequence'> : never;

function posted(happening: Unnumbered<Happening>, sequence: bigint): Outcome {
  return { kind: 'posted', happening: { ...happening, sequence } };
}

function park(reason: string): Outcome {
  return { kind: 'parked', reason };
}

function causeOf({ causationId, reference, merchantId, currency }: Payment): Payment {
  return { causationId, reference, merchantId, currency };
}

interface Stake {
  readonly merchantId: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly fee: bigint;
}

function matches(found: Stake, told: Stake): boolean {
  return (
    found.amount === told.amount &&
    found.fee === told.fee &&
    found.merchantId === told.merchantId &&
    found.currency === told.currency
  );
}

function isAmount(minor: bigint): boolean {
  return minor > 0n && minor <= MINOR_UNITS_MAX;
}

function isCost(minor: bigint): boolean {
  return minor >= 0n && minor <= MINOR_UNITS_MAX;
}
