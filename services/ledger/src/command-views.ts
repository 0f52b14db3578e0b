import type { OrderKindName, OrderView } from '@pesewa/contracts';
import { formatAmount, proposalExpiryMs } from '@pesewa/kernel';
import { type FollowedOrder, statusOf } from './commands.ts';
import { breakIdOf, directionOf, isWalletOrder, type Order, type OrderKind } from './domain/orders.ts';

/** How kinds of orders are written in paths and answers. */
const orderKindNames = {
  fund: 'fund',
  fundFloat: 'fund-float',
  withdraw: 'withdraw',
  withdrawFloat: 'withdraw-float',
  adjust: 'adjust',
  suspense: 'suspense',
} as const satisfies Readonly<Record<OrderKind, OrderKindName>>;

/** An order as operators see it: amounts in decimal text, times in UTC. */
export function viewOrder(followed: FollowedOrder): OrderView {
  const { order } = followed;
  const direction = directionOf(order);
  const breakId = breakIdOf(order);
  return {
    commandId: order.commandId,
    kind: orderKindNames[order.kind],
    ...(isWalletOrder(order.kind) ? { merchantId: order.target } : { rail: order.target }),
    currency: order.currency,
    amount: formatAmount(order.amount, order.currency),
    ...(direction !== undefined && { direction }),
    ...(order.reason !== undefined && { reason: order.reason }),
    ...(breakId !== null && { breakId }),
    status: statusOf(followed),
    requestedBy: order.requestedBy,
    requestedAt: order.at.toISOString(),
    ...viewDecision(order),
    ...viewOutcome(followed),
  };
}

function viewDecision(order: Order) {
  switch (order.status) {
    case 'proposed':
      return { expiresAt: new Date(proposalExpiryMs(order)).toISOString() };
    case 'approved':
      return { approvedBy: order.decidedBy, approvedAt: order.decidedAt.toISOString() };
    case 'rejected':
      return {
        rejectedBy: order.decidedBy,
        rejectedAt: order.decidedAt.toISOString(),
        rejectedFor: order.decisionReason,
      };
    default:
      throw new TypeError(`no such status: ${JSON.stringify(order satisfies never)}`);
  }
}

function viewOutcome({ outcome }: FollowedOrder) {
  if (!outcome) return {};
  return outcome.status === 'applied'
    ? { appliedAt: outcome.at.toISOString() }
    : { refusedFor: outcome.reason };
}
