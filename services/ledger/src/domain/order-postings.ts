import { accounts } from './accounts.ts';
import type { BatchState, Wallet } from './books.ts';
import { appliedKindOf, type FloatOrder, postingId, type WalletOrder } from './instructions.ts';
import {
  alreadyApplied,
  insufficientFunds,
  isAmount,
  isOverfull,
  type Outcome,
  park,
  posted,
  type Unnumbered,
} from './outcomes.ts';

/** Applies an order about a wallet, or refuses it if the wallet has too little money or can't hold more. */
export function orderOfWallet(books: BatchState, order: WalletOrder): Outcome {
  if (books.known(order)) return alreadyApplied;
  const { kind, merchantId, currency, amount } = order;
  if (!isAmount(amount)) return park('amount out of range');
  const { walletKey, wallet } = books.wallet(order);
  const isGain = kind === 'fund' || (kind === 'adjust' && order.direction === 'credit');
  const change = isGain ? amount : -amount;
  const reason = whyNot(wallet, change);
  if (reason !== undefined) {
    // Stored, so that a replay does not find another balance and decide differently.
    const { causationId } = order;
    const id = postingId(order);
    books.refuse({ id, merchantId, currency, amount, reason, causationId, sequence: wallet.sequence });
    const refused = { causationId, currency, amount, commandId: order.reference, owner: merchantId, reason };
    return posted({ ...refused, kind: 'commandRefused', order: kind }, wallet.sequence);
  }
  const own = accounts.available(walletKey);
  const other = kind === 'adjust' ? accounts.suspense(currency) : accounts.treasury(currency);
  const [debit, credit] = isGain ? [other, own] : [own, other];
  books.post(order, [[kind, debit, credit, amount]]);
  return posted(domainEventOfOrder(order), wallet.sequence);
}

function whyNot(wallet: Pick<Wallet, 'available' | 'held'>, change: bigint): string | undefined {
  if (wallet.available + change < 0n) return insufficientFunds;
  return change > 0n && isOverfull(wallet, change) ? 'The wallet would hold too much' : undefined;
}

/** Applies an order about a float. A float may be overdrawn, because only the rail knows what we have there. */
export function orderOfFloat(books: BatchState, order: FloatOrder): Outcome {
  if (books.known(order)) return alreadyApplied;
  const { kind, rail, currency, amount } = order;
  if (!isAmount(amount)) return park('amount out of range');
  const isGain = kind === 'fundFloat' || (kind === 'suspense' && order.direction === 'surplus');
  const own = accounts.float(rail, currency);
  const other = kind === 'suspense' ? accounts.suspense(currency) : accounts.treasury(currency);
  const [debit, credit] = isGain ? [own, other] : [other, own];
  books.post(order, [[kind, debit, credit, amount]]);
  return posted(domainEventOfOrder(order), 0n);
}

/** What is published about an applied order: its own fields, by their types. */
export function domainEventOfOrder({
  kind,
  reference: commandId,
  ...order
}: WalletOrder | FloatOrder): Unnumbered {
  return { ...order, commandId, kind: appliedKindOf(kind) } as Unnumbered;
}
