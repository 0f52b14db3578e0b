import { accounts } from './accounts.ts';
import { type BatchState, type Entry, entriesOf } from './books.ts';
import type { InstructionOf } from './instructions.ts';
import {
  alreadyApplied,
  causeOf,
  isAmount,
  isCost,
  isOverfull,
  type Outcome,
  park,
  posted,
} from './outcomes.ts';

/** Credits a collection, less our fee; if the fee takes all of it, only the fee is entered. */
export function collect(books: BatchState, instruction: InstructionOf<'collect'>): Outcome {
  const { currency, received, fee, rail, railFee } = instruction;
  const { walletKey, wallet } = books.wallet(instruction);
  const float = accounts.float(rail, currency);
  const net = received - fee;
  const movements = [
    ['collect', float, accounts.available(walletKey), net],
    ['fee', float, accounts.feeIncome(currency), fee],
    ['railCost', accounts.railCost(currency), float, railFee],
  ] as const;
  const known = books.known(instruction);
  if (known && textOf(known.entries) !== textOf(entriesOf(movements)))
    return park('credited before with other money');
  if (known) return alreadyApplied;
  if (!isAmount(received) || !isCost(fee) || !isCost(railFee)) return park('amount or fee out of range');
  if (fee > received) return park('the fee exceeds the amount received');
  if (isOverfull(wallet, net)) return park('the wallet would hold too much');
  books.post(instruction, movements, { rail });
  const domainEvent = {
    kind: 'collectionCredited',
    amountReceived: received,
    fee,
    rail,
    railCost: railFee,
  } as const;
  // A posting that leaves its wallet as it was has no number of it either, by which the answer could be given again.
  return posted({ ...causeOf(instruction), ...domainEvent }, net === 0n ? 0n : wallet.sequence);
}

/** What entries move, as a text to compare. */
function textOf(entries: readonly Entry[]): string {
  return entries.map(({ debit, credit, amount }) => `${debit} ${credit} ${amount}`).join();
}
