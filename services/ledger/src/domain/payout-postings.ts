import { accounts } from './accounts.ts';
import { type BatchState, holdEndings } from './books.ts';
import { type Instruction, type InstructionOf, postingId } from './instructions.ts';
import {
  alreadyApplied,
  causeOf,
  insufficientFunds,
  isAmount,
  isCost,
  isOverfull,
  noEffect,
  type Outcome,
  park,
  posted,
} from './outcomes.ts';

/** The operator's settings for the ledger. */
export interface PostingPolicy {
  /** Whether a reversed payout returns our fee in addition to the amount. */
  readonly refundFee: boolean;
}

/** The ids of the postings that show the outcome of a payout's hold, as far as the instruction depends on it. */
export function holdPostingIds({
  kind,
  reference,
}: Pick<Instruction, 'kind' | 'reference'>): readonly string[] {
  const placed = postingId({ reference, kind: 'hold' });
  if (kind === 'hold') return [placed];
  return [placed, ...holdEndings.map((ending) => postingId({ reference, kind: ending.kind }))];
}

/** Sets a payout's amount and fee aside, or refuses to. */
export function hold(books: BatchState, instruction: InstructionOf<'hold'>): Outcome {
  if (books.holdOf(instruction.reference)) return alreadyApplied;
  const { reference, amount, fee, rail } = instruction;
  if (!isAmount(amount) || !isCost(fee)) return park('amount or fee out of range');
  const held = amount + fee;
  const { walletKey, wallet } = books.wallet(instruction);
  const { merchantId, currency, sequence } = wallet;
  const terms = { merchantId, currency, amount, fee, rail };
  if (wallet.available < held) {
    // Stored, so that a replay does not find more money and decide differently.
    const [id, reason, { causationId }] = [postingId(instruction), insufficientFunds, instruction];
    books.saveHold({ reference, ...terms, status: 'refused' });
    books.refuse({ id, ...terms, reason, causationId, sequence });
    return posted({ ...causeOf(instruction), kind: 'holdRefused', held, fee, rail, reason }, sequence);
  }
  books.saveHold({ reference, ...terms, status: 'open' });
  const movement = ['hold', accounts.available(walletKey), accounts.held(walletKey), held] as const;
  books.post(instruction, [movement], { fee, rail });
  return posted({ ...causeOf(instruction), kind: 'holdPlaced', held, fee, rail }, wallet.sequence);
}

/** Takes the held money for good. */
export function capture(books: BatchState, instruction: InstructionOf<'capture'>): Outcome {
  const { currency, rail, railFee } = instruction;
  const found = books.holdOf(instruction.reference);
  if (!found) return park('completed without a hold');
  if (!matches(found, instruction)) return park('completed with other money than was held');
  if (found.status === 'captured' || found.status === 'refunded') return alreadyApplied;
  if (found.status !== 'open') return park(`completed, but its hold is ${found.status}`);
  if (!isCost(railFee)) return park('rail fee out of range');
  const { amount, fee } = found;
  const { walletKey, wallet } = books.wallet(instruction);
  const heldAccount = accounts.held(walletKey);
  const float = accounts.float(rail, currency);
  const movements = [
    ['capture', heldAccount, float, amount],
    ['fee', heldAccount, accounts.feeIncome(currency), fee],
    ['railCost', accounts.railCost(currency), float, railFee],
  ] as const;
  books.post(instruction, movements, { rail });
  books.saveHold({ ...found, rail, status: 'captured' });
  return posted(
    { ...causeOf(instruction), kind: 'holdCaptured', amount, fee, rail, railCost: railFee },
    wallet.sequence,
  );
}

/** Returns the held money. */
export function release(books: BatchState, instruction: InstructionOf<'release'>): Outcome {
  const found = books.holdOf(instruction.reference);
  // A refused hold makes its payout fail: there is nothing to return.
  if (!found || found.status === 'refused') return noEffect;
  if (!matches(found, instruction)) return park('failed with other money than was held');
  if (found.status === 'released') return alreadyApplied;
  if (found.status !== 'open') return park(`failed, but its hold is ${found.status}`);
  const held = found.amount + found.fee;
  const { walletKey, wallet } = books.wallet(instruction);
  books.post(instruction, [['release', accounts.held(walletKey), accounts.available(walletKey), held]]);
  books.saveHold({ ...found, status: 'released' });
  return posted({ ...causeOf(instruction), kind: 'holdReleased', held }, wallet.sequence);
}

/** Returns the captured money; the policy decides whether with the fee. */
export function refund(
  books: BatchState,
  instruction: InstructionOf<'refund'>,
  policy: PostingPolicy,
): Outcome {
  const found = books.holdOf(instruction.reference);
  if (!found) return park('reversed without a hold');
  if (!matches(found, instruction)) return park('reversed with other money than was captured');
  if (found.status === 'refunded') return alreadyApplied;
  if (found.status !== 'captured') return park(`reversed, but its hold is ${found.status}`);
  const { amount, rail } = found;
  const fee = policy.refundFee ? found.fee : 0n;
  const { walletKey, wallet } = books.wallet(instruction);
  if (isOverfull(wallet, amount + fee)) return park('the wallet would hold too much');
  const available = accounts.available(walletKey);
  const feeIncome = accounts.feeIncome(found.currency);
  const float = accounts.float(rail, found.currency);
  const movements = [
    ['refund', float, available, amount],
    ['refundFee', feeIncome, available, fee],
  ] as const;
  books.post(instruction, movements, { rail });
  books.saveHold({ ...found, status: 'refunded' });
  return posted({ ...causeOf(instruction), kind: 'payoutRefunded', amount, fee, rail }, wallet.sequence);
}

interface Stake {
  readonly merchantId: string;
  readonly currency: string;
  readonly amount: bigint;
  readonly fee: bigint;
}

function matches(found: Stake, instructed: Stake): boolean {
  return (
    found.amount === instructed.amount &&
    found.fee === instructed.fee &&
    found.merchantId === instructed.merchantId &&
    found.currency === instructed.currency
  );
}
