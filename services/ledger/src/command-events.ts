import { walletKeyOf } from '@pesewa/contracts';
import type { OutgoingEvent } from '@pesewa/messaging';
import type { Order } from './domain/orders.ts';

/** An order that may be applied, with the names of both operators. */
export type ApprovedOrder = Extract<Order, { readonly status: 'approved' }>;

/** Whether two operators have agreed on the order. */
export function isApproved(order: Order): order is ApprovedOrder {
  return order.status === 'approved';
}

/** The event of an approved order. Its id is the order's own, so that the order is applied once (ADR 17). */
export function commandEventOf(order: ApprovedOrder): OutgoingEvent {
  const { commandId, target, currency, amount, requestedBy, decidedBy, decidedAt } = order;
  const payload = {
    eventId: commandId,
    occurredAt: BigInt(decidedAt.getTime()),
    requestedBy,
    approvedBy: decidedBy,
    amount,
    currency,
  };
  const address = {
    topic: 'ledgerCommands',
    key: walletKeyOf(target, currency),
    version: 0n,
    causationId: null,
  } as const;
  switch (order.kind) {
    case 'fund':
      return { ...address, type: 'pesewa.ledger.FundWallet', payload: { ...payload, merchantId: target } };
    case 'fundFloat':
      return { ...address, type: 'pesewa.ledger.FundFloat', payload: { ...payload, rail: target } };
    case 'withdraw':
      return {
        ...address,
        type: 'pesewa.ledger.WithdrawWallet',
        payload: { ...payload, merchantId: target },
      };
    case 'withdrawFloat':
      return { ...address, type: 'pesewa.ledger.WithdrawFloat', payload: { ...payload, rail: target } };
    case 'adjust': {
      const { direction } = order;
      const correction = { ...payload, merchantId: target, direction };
      return { ...address, type: 'pesewa.ledger.AdjustWallet', payload: correction };
    }
    case 'suspense': {
      const { direction } = order;
      const booking = { ...payload, rail: target, direction };
      return { ...address, type: 'pesewa.ledger.BookSuspense', payload: booking };
    }
    default:
      throw new TypeError(`no such order: ${JSON.stringify(order satisfies never)}`);
  }
}
