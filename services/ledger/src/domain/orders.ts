import { accept, type Result, refuse } from '@pesewa/kernel';

/** What an operator may order of the ledger (design 5), in minor units; the direction says where the money goes. */
export type Wish = {
  /** The merchant, or the rail. */
  readonly target: string;
  readonly currency: string;
  readonly amount: bigint;
} & (
  | {
      readonly kind: 'fund' | 'fundFloat' | 'withdraw' | 'withdrawFloat';
      readonly reason?: string;
    }
  | { readonly kind: 'adjust'; readonly direction: 'credit' | 'debit'; readonly reason: string }
  | { readonly kind: 'suspense'; readonly direction: 'surplus' | 'shortage'; readonly reason: string }
);

/** The kind of an order. */
export type OrderKind = Wish['kind'];

/** An order as one operator proposed it, and what another decided. */
export type Order = Wish & {
  readonly commandId: string;
  readonly requestedBy: string;
  readonly at: Date;
} & (
    | { readonly status: 'proposed' }
    | { readonly status: 'approved'; readonly decidedBy: string; readonly decidedAt: Date }
    | {
        readonly status: 'rejected';
        readonly decidedBy: string;
        readonly decidedAt: Date;
        readonly decisionReason: string;
      }
  );

/** What an operator decides about a proposal. */
export type Verdict = { readonly kind: 'approve' } | { readonly kind: 'reject'; readonly reason: string };

/** A verdict with who gave it, and when. */
export interface Decision {
  readonly verdict: Verdict;
  readonly by: string;
  readonly at: Date;
}

/** Why a decision changes nothing: it is the maker's own approval, comes too late, or contradicts an earlier one. */
export type DecisionRefusal = 'order.same_operator' | 'order.expired' | 'order.decided';

/** How long a proposal can be approved; what stood longer was meant for other circumstances. */
const PROPOSAL_LIFETIME_MS = 7 * 24 * 3_600_000;

/** When a proposal can no longer be approved, in milliseconds since the epoch. */
export function expiryMsOf(order: Order): number {
  return order.at.getTime() + PROPOSAL_LIFETIME_MS;
}

/**
 * Decides about an order: four eyes for an approval, any two for a rejection (design 5).
 *
 * The same decision again gives the very same order; a decided one is never decided otherwise.
 */
export function decideOrder(order: Order, decision: Decision): Result<Order, DecisionRefusal> {
  const { verdict, by, at } = decision;
  if (verdict.kind === 'approve') {
    if (by === order.requestedBy) return refuse('order.same_operator');
    if (order.status === 'approved') return accept(order);
    if (order.status === 'rejected') return refuse('order.decided');
    if (at.getTime() >= expiryMsOf(order)) return refuse('order.expired');
    return accept({ ...order, status: 'approved', decidedBy: by, decidedAt: at });
  }
  if (order.status === 'rejected') return accept(order);
  if (order.status === 'approved') return refuse('order.decided');
  const rejected = {
    status: 'rejected',
    decidedBy: by,
    decidedAt: at,
    decisionReason: verdict.reason,
  } as const;
  return accept({ ...order, ...rejected });
}

/** Whether two proposals under one id are one: the same wish of the same operator. */
export function isSameOrder(one: Order, other: Order): boolean {
  return (
    one.kind === other.kind &&
    one.target === other.target &&
    one.currency === other.currency &&
    one.amount === other.amount &&
    one.reason === other.reason &&
    directionOf(one) === directionOf(other) &&
    one.requestedBy === other.requestedBy
  );
}

/** The direction of an adjustment or a suspense booking. */
export function directionOf(wish: Wish): string | undefined {
  return 'direction' in wish ? wish.direction : undefined;
}
