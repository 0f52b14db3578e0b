import { type OrderView, orderOperations, type ShownBreakView } from '@pesewa/contracts';
import type { Caller } from './call.ts';
import type { OrderRequest } from './foresee-order.ts';
import { mayBeBooked } from './orders.ts';

/** The orders for a break, the newest first. */
export async function ordersFor(
  { call }: Pick<Caller, 'call'>,
  { id }: Pick<ShownBreakView, 'id'>,
): Promise<readonly OrderView[]> {
  return (await call('ledger', orderOperations.list, { query: { breakId: id } })).items;
}

/** The order that may still be booked for a break, if any. */
export function pendingOf(
  { corrections }: Pick<ShownBreakView, 'corrections'>,
  orders: readonly OrderView[],
  nowMs: number,
): OrderView | undefined {
  return orders.find((order) => mayBeBooked(order, nowMs) && !corrections.includes(order.commandId));
}

/** Why no order may correct a break now, apart from an order that waits; undefined if one may. */
export function whyUncorrectable(found: Pick<ShownBreakView, 'status' | 'waitsFor'>): string | undefined {
  const { status, waitsFor } = found;
  if (status === 'resolved') return 'is resolved: reopen it first';
  if (waitsFor === 'end') return 'waits for the end of its payment, which may book the same';
  return waitsFor === 'decision' ? 'waits for the amount that its customer paid: propose it' : undefined;
}

/** The order that corrects a wallet or a float against suspense by an amount, given in minor units and as text without a sign. */
export function correctionOf(
  account: OrderRequest['account'],
  currency: string,
  { minor, text }: { readonly minor: bigint; readonly text: string },
): OrderRequest {
  const isGain = minor > 0n;
  const money = { account, currency, amount: text, change: minor };
  return 'merchantId' in account
    ? { kind: 'adjust', ...money, direction: isGain ? 'credit' : 'debit' }
    : { kind: 'suspense', ...money, direction: isGain ? 'surplus' : 'shortage' };
}

/** Why a correction has the wrong sign: it would make the drift of its own break larger. */
export function whyWrongSign(
  { kind: breakKind, amount }: Pick<ShownBreakView, 'kind' | 'amount'>,
  { kind, change }: OrderRequest,
): string | undefined {
  if (kind !== 'suspense' || breakKind !== 'wallet.drift' || amount === null) return undefined;
  const isLess = amount.startsWith('-');
  if (isLess === change < 0n) return undefined;
  return `the rail has ${isLess ? 'less' : 'more'} than our float, so this makes the drift larger: write it with a ${isLess ? '-' : '+'}`;
}
