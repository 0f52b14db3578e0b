import { MINOR_UNITS_MAX } from '@pesewa/kernel';
import { accounts } from './accounts.ts';
import type { BatchState } from './books.ts';
import type { InstructionOf } from './instructions.ts';
import { alreadyApplied, causeOf, isAmount, isCost, type Outcome, park, posted } from './outcomes.ts';

/** The id of an entry that every credited collection has; a replay is recognised by it. */
export function collectEntryId({ reference, received, fee }: InstructionOf<'collect'>): string {
  // If the fee takes the whole collection, nothing is credited and only the fee is entered.
  return `${reference}/${received === fee ? 'fee' : 'collect'}`;
}

/** Credits a collection, less our fee. */
export function collect(books: BatchState, instruction: InstructionOf<'collect'>): Outcome {
  if (books.knows(collectEntryId(instruction))) return alreadyApplied;
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
  const domainEvent = {
    kind: 'collectionCredited',
    amountReceived: received,
    fee,
    rail,
    railCost: railFee,
  } as const;
  return posted({ ...causeOf(instruction), ...domainEvent }, wallet.sequence);
}
