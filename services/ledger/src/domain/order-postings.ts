import { MINOR_UNITS_MAX, unreachable } from '@pesewa/kernel';
import { accounts } from './accounts.ts';
import type { Books } from './books.ts';
import type { FloatOrder, WalletOrder } from './instructions.ts';
import {
  insufficientFunds,
  isAmount,
  known,
  type Outcome,
  park,
  posted,
  type Unnumbered,
} from './outcomes.ts';

/** The id of an order's only entry; a replay is recognised by it, whether it was applied or refused. */
export function orderEntryId({ reference, kind }: WalletOrder | FloatOrder): string {
  return `${reference}/${kind}`;
}

/** Applies an order about a wallet, or refuses it if the wallet has too little money or can't hold more. */
export function orderOfWallet(books: Books, order: WalletOrder): Outcome {
  const id = orderEntryId(order);
  if (books.knows(id)) return known;
  const { kind, merchantId, currency, amount } = order;
  if (!isAmount(amount)) return park('amount out of range');
  const { walletKey, wallet } = books.wallet(order);
  const isGain = kind === 'fund' || (kind === 'adjust' && order.direction === 'credit');
  const change = isGain ? amount : -amount;
  const reason = whyNot(wallet.available + change);
  if (reason !== undefined) {
    // Stored, so that a replay does not find another balance and decide differently.
    const { causationId } = order;
    books.refuseOrder({ id, merchantId, currency, amount, reason, causationId, sequence: wallet.sequence });
    return posted(
      { ...moved(order), kind: 'commandRefused', owner: merchantId, reason, order: kind },
      wallet.sequence,
    );
  }
  const own = accounts.available(walletKey);
  const other = kind === 'adjust' ? accounts.suspense(currency) : accounts.treasury(currency);
  const [debit, credit] = isGain ? [other, own] : [own, other];
  books.move(order, kind, debit, credit, amount, { wallet, available: change, held: 0n });
  return posted(domainEventOfWallet(order), wallet.sequence);
}

function whyNot(availableAfter: bigint): string | undefined {
  if (availableAfter < 0n) return insufficientFunds;
  return availableAfter > MINOR_UNITS_MAX ? 'The wallet would hold too much' : undefined;
}

/** Applies an order about a float. A float may be overdrawn, because only the rail knows what we have there. */
export function orderOfFloat(books: Books, order: FloatOrder): Outcome {
  if (books.knows(orderEntryId(order))) return known;
  const { kind, rail, currency, amount } = order;
  if (!isAmount(amount)) return park('amount out of range');
  const isGain = kind === 'fundFloat' || (kind === 'suspense' && order.direction === 'surplus');
  const own = accounts.float(rail, currency);
  const other = kind === 'suspense' ? accounts.suspense(currency) : accounts.treasury(currency);
  const [debit, credit] = isGain ? [own, other] : [other, own];
  books.move(order, kind, debit, credit, amount);
  return posted(domainEventOfFloat(order), 0n);
}

/** What is published about an applied order of a wallet. */
export function domainEventOfWallet(order: WalletOrder): Unnumbered {
  const { merchantId } = order;
  switch (order.kind) {
    case 'fund':
      return { ...moved(order), kind: 'walletFunded', merchantId };
    case 'withdraw':
      return { ...moved(order), kind: 'walletWithdrawn', merchantId };
    case 'adjust':
      return { ...moved(order), kind: 'walletAdjusted', merchantId, direction: order.direction };
    default:
      return unreachable(order);
  }
}

/** What is published about an order of a float. */
export function domainEventOfFloat(order: FloatOrder): Unnumbered {
  const { rail } = order;
  switch (order.kind) {
    case 'fundFloat':
      return { ...moved(order), kind: 'floatFunded', rail };
    case 'withdrawFloat':
      return { ...moved(order), kind: 'floatWithdrawn', rail };
    case 'suspense':
      return { ...moved(order), kind: 'suspenseBooked', rail, direction: order.direction };
    default:
      return unreachable(order);
  }
}

function moved({ causationId, currency, amount, reference }: WalletOrder | FloatOrder) {
  return { causationId, currency, amount, commandId: reference };
}
