import { createHash } from 'node:crypto';
import { type OrderView, orderOperations, type ShownBreakView } from '@pesewa/contracts';
import type { Caller } from './call.ts';
import type { OrderRequest } from './foresee-order.ts';
import { mayBeBooked } from './orders.ts';

/** The orders for a break, the newest first. */
export async function ordersFor(
  { call }: Pick<Caller, 'call'>,
  { id }: Pick<ShownBreakView, 'id'>,
): Promise<readonly OrderView[]> {
  const orders: OrderView[] = [];
  let cursor: string | undefined;
  do {
    const query = { breakId: id, ...(cursor !== undefined && { cursor }) };
    const page = await call('ledger', orderOperations.list, { query });
    orders.push(...page.items);
    cursor = page.next ?? undefined;
  } while (cursor !== undefined);
  return orders;
}

/** How much of the hash is in the id of a correction: ids have at most 64 characters. */
const HASH_LENGTH = 48;

/**
 * The id of the next order for a break, by the orders that it had before: whoever has seen the same ones proposes under
 * the same id, so that the ledger takes only one of their orders.
 */
export function correctionId({ id }: Pick<ShownBreakView, 'id'>, before: readonly OrderView[]): string {
  const hash = createHash('sha256').update(`${id}\n${before.length}`).digest('hex');
  return `bk-${hash.slice(0, HASH_LENGTH)}`;
}

/** The order that may still be booked for a break, if any. */
export function pendingOf(
  { corrections }: Pick<ShownBreakView, 'corrections'>,
  orders: readonly OrderView[],
  nowMs: number,
): OrderView | undefined {
  return orders.find((order) => mayBeBooked(order, nowMs) && !corrections.includes(order.commandId));
}

/** Why what a proposed order corrects may be corrected twice, for its approver; undefined if nothing speaks for it. */
export function whyTwice(
  found: Pick<ShownBreakView, 'status' | 'corrections'>,
  orders: readonly OrderView[],
  { commandId }: Pick<OrderView, 'commandId'>,
  nowMs: number,
): string | undefined {
  const others = orders.filter((order) => order.commandId !== commandId);
  const other = pendingOf(found, others, nowMs);
  const isOver = found.status === 'resolved' && !found.corrections.includes(commandId);
  const why = isOver
    ? 'the break is resolved already'
    : other && `the order ${other.commandId} for the same break is ${other.status}`;
  return why ? `${why}: what it corrects may be corrected twice` : undefined;
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
