import { walletKeyOf } from '@pesewa/contracts';
import type { OutgoingEvent } from '@pesewa/messaging';
import { commandTypeOf } from './domain/instructions.ts';
import { correctedBy, isWalletOrder, type Order } from './domain/orders.ts';

/** An order that may be applied, with the names of both operators. */
export type ApprovedOrder = Extract<Order, { readonly status: 'approved' }>;

/** Whether two operators have agreed on the order. */
export function isApproved(order: Order): order is ApprovedOrder {
  return order.status === 'approved';
}

/** The event of an approved order. Its id is the order's own, so that the order is applied once (ADR 17). */
export function commandEventOf(order: ApprovedOrder): OutgoingEvent {
  const { commandId, kind, target, currency, amount, requestedBy, decidedBy, decidedAt } = order;
  const payload = {
    eventId: commandId,
    occurredAt: BigInt(decidedAt.getTime()),
    requestedBy,
    approvedBy: decidedBy,
    amount,
    currency,
    ...(isWalletOrder(kind) ? { merchantId: target } : { rail: target }),
    ...('direction' in order && { direction: order.direction }),
    ...correctedBy(order),
  };
  const key = walletKeyOf(target, currency);
  const type = commandTypeOf(kind);
  return { topic: 'ledgerCommands', key, version: 0n, causationId: null, type, payload } as OutgoingEvent;
}
